"""Hints of the library, in the words of Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fiedler._errors import in_python

CRATES = Path(__file__).parents[2] / "crates"
LIBRARIES = ["graph", "io", "spectral", "augment", "learn", "evaluate", "experiment"]


def literals() -> list[str]:
    """All texts of the libraries that name a flag or a command."""
    found = set()
    for library in LIBRARIES:
        for file in (CRATES / f"fiedler-{library}" / "src").rglob("*.rs"):
            for line in file.read_text().split("#[cfg(test)]")[0].splitlines():
                if not line.strip().startswith("//"):
                    found |= {text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if re.search(r"--[a-z]|`fiedler ", text)}
    return sorted(found)


@pytest.mark.skipif(not CRATES.exists(), reason="the sources of the libraries are not here")
def test_no_flag_and_no_command_is_left() -> None:
    texts = literals()
    assert len(texts) > 20
    for text in texts:
        # Commands that a page prints are meant for a terminal.
        if text.startswith("fiedler embed --settings") or text in ("--ledger", "--protocol") or "reproduce node --datasets" in text:
            continue
        words = in_python(text)
        assert "--" not in words and "`fiedler " not in words, words

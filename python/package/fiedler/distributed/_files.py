"""Files that are whole or not there, and files that come from elsewhere."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from .._errors import FiedlerError

# Whoever finds one of these takes what is beside it for whole.
_LAST = ("run.json", "valid.json", "failed.json")


def keep_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes what came of a job elsewhere; what says that a run is whole last, so that nothing is taken for whole that is not."""
    for name in sorted(files, key=lambda name: (name.endswith(_LAST), name)):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise FiedlerError(f"a run has a file outside of its folder: {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, files[name])


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file that is whole or not there, whoever else writes it at the same time."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

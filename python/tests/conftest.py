"""What several tests need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fiedler

DATA = os.environ.get("FIEDLER_DATA", "")


def has(name: str) -> bool:
    """Whether a published dataset is on this machine."""
    return any(known == name and path is not None for known, _, path in fiedler._fiedler.known_datasets())


def needs(name: str) -> pytest.MarkDecorator:
    """Skips a test, by name, where a published dataset is not on this machine."""
    return pytest.mark.skipif(not has(name), reason=f"{name} is not on this machine; set FIEDLER_DATA")


def program(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program that the package brings along."""
    command = [sys.executable, "-m", "fiedler", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture
def karate() -> fiedler.Dataset:
    return fiedler.read("karate")


@pytest.fixture
def two_cliques() -> np.ndarray:
    """Two cliques of six nodes with an edge between them, as a matrix."""
    matrix = np.zeros((12, 12))
    matrix[:6, :6] = matrix[6:, 6:] = 1
    matrix[5, 6] = matrix[6, 5] = 1
    np.fill_diagonal(matrix, 0)
    return matrix

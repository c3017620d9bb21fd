"""The program that the package brings along, and what importing costs."""

from __future__ import annotations

import json
import subprocess
import sys

from conftest import program

import fiedler


def test_the_program_runs(tmp_path) -> None:
    done = program("--version", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.split() == ["fiedler", fiedler.__version__]
    done = program("inspect", "karate", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["nodes"] == 34


def test_its_exit_codes_and_words(tmp_path) -> None:
    assert program("inspect", "nothing.csv", cwd=tmp_path).returncode == 4
    done = program("inspcet", cwd=tmp_path)
    assert done.returncode == 2 and "inspect" in done.stderr
    done = program("inspect", "corra", "--json", cwd=tmp_path)
    assert json.loads(done.stderr.splitlines()[-1])["error"]["exit_code"] == done.returncode == 4


def test_importing_brings_neither_scikit_learn_nor_torch() -> None:
    code = "import sys, fiedler; print([name for name in ('sklearn', 'torch', 'pandas', 'networkx', 'scipy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_names_are_there() -> None:
    assert all(hasattr(fiedler, name) for name in fiedler.__all__)
    assert set(dir(fiedler)) == set(fiedler.__all__)

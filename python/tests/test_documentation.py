"""Commands and notebooks of the documentation do what is printed there. Its Python blocks are doctests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import program

import fiedler

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """The commands of the blocks `console`, each with the lines it prints."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def as_pattern(lines: list[str]) -> str:
    """What is printed; a line that ends in … may go on, and a … alone stands for any lines."""
    parts = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") + "\n" for line in lines]
    return "".join(parts)


@pytest.mark.skipif(not PAGES, reason="the documentation is not here")
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(page, tmp_path) -> None:
    for command, lines in commands(page):
        words = shlex.split(command)
        assert words[0] == "fiedler", command
        done = program(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(as_pattern(lines), done.stdout, flags=re.DOTALL), f"{command} prints\n{done.stdout}"


@pytest.mark.skipif(not PAGES, reason="the documentation is not here")
def test_pages_of_methods_have_the_figures_of_the_results(monkeypatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    import generate_pages

    names = {method.name for method in fiedler.methods()}
    tables = generate_pages.measured()
    assert len(tables) == len(generate_pages.TABLES) and all(cells for _, cells in tables)
    assert set(generate_pages.ROWS.values()) <= names
    results = (ROOT / "docs" / "RESULTS.md").read_text()
    for name in ("grace", "span", "ad-gcl"):
        page = generate_pages.expected_figures(name)
        rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| ") and "±" in row]
        assert rows and all(f"|**{row[2]}**|" in results and row[3] in results and row[4] in results for row in rows)
    assert "None of the tables" in generate_pages.expected_figures("no method")


@pytest.mark.skipif(not NOTEBOOKS, reason="the notebooks are not here")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    notebook = nbformat.read(path, as_version=4)
    if any("torch" in cell.source for cell in notebook.cells if cell.cell_type == "code"):
        pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()

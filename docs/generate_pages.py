"""Writes the pages that are generated: one for each method, the program's help, recipes, schemes, the glossary."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import fiedler
from fiedler import _fiedler

ROOT = Path(__file__).parents[1]


def write_all(folder: Path) -> None:
    """Writes all pages into a folder; what is there and unchanged stays as it is."""
    pages = {
        "methods.md": methods_index(),
        "schemes.md": schemes_page(),
        "attacks.md": attacks_page(),
        "recipes.md": recipes_page(),
        "program.md": program_page(),
        "glossary.md": glossary_page(),
        "data.md": data_page(),
    }
    pages |= {f"method-{method.name}.md": method_page(method) for method in fiedler.methods()}
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(heads), line(["---"] * len(heads)), *(line(row) for row in rows)])


def methods_index() -> str:
    rows = [[f"[{method.name}](method-{method.name}.md)", method.about, ", ".join(method.levels)] for method in fiedler.methods()]
    names = "\n".join(f"method-{method.name}" for method in fiedler.methods())
    return (
        f"# Methods\n\nWhat makes an embedding, by the name that `Embedder` and `fiedler embed --method` take.\n\n"
        f"{table(['name', 'what it does', 'embeds'], rows)}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def method_page(method: fiedler.Method) -> str:
    """Citation, how to run it, what recipes came to, all settings."""
    recipes = [(name, title, *_fiedler.recipe_about(name)) for name, title in fiedler.recipes().items()]
    own = [[f"`{name}`", title, ", ".join(datasets), protocol or "", result or ""] for name, title, of, datasets, _, protocol, result in recipes if of == method.name]
    settings = [
        [f"`{setting.key}`", f"`{setting.value}`" if setting.value else "", " ".join(f"`{choice}`" for choice in setting.choices), setting.doc]
        for setting in fiedler.settings(method.name)
    ]
    name = method.name
    level = "mutag" if method.levels == ["graphs"] else "cora"
    text = f"# {name}\n\n{method.about}.\n\n**Published in:** {method.citation}\n\n**Embeds:** {', '.join(method.levels)}\n\n"
    text += f'```sh\nfiedler embed {level} --method {name}\n```\n\n```python\nfiedler.Embedder("{name}").fit_transform("{level}")\n```\n\n'
    text += expected_figures(name)
    if own:
        text += f"## Recipes\n\nWhat they came to is on validation sets; measured test scores are in [Results](../RESULTS.md).\n\n{table(['recipe', 'for', 'datasets', 'protocol', 'came to'], own)}\n\n"
    text += (
        "## Settings\n\nWith their defaults, as `fiedler embed --set KEY=VALUE` and `Embedder(settings={KEY: VALUE})` take them.\n\n"
        f"{table(['key', 'default', 'choices', 'meaning'], settings)}\n"
    )
    return text


# Tables of the results that compare methods, by the beginnings of their headings.
TABLES = ("Methods on nodes", "Methods on sets of graphs", "Embeddings without training, and")
# Rows of these tables that are not called as the method is.
ROWS = {"gcl-span": "span", "joaov2": "joao-v2", "untrained gcn": "untrained", "r-gcn": "untrained", "r-gin": "untrained", "s-gcn": "supervised", "s-gin": "supervised"}


def expected_figures(method: str) -> str:
    """What a method came to in the tables of the results, by dataset, beside what its publication prints."""
    found = []
    for heading, cells in measured():
        name, protocol = heading.split(", accuracy in %, protocol ")
        for title, dataset, ours, published in cells:
            if ROWS.get(title.lower(), title.lower()) == method:
                found.append([dataset, f"`{protocol}`", title, ours, published or "", name])
    if not found:
        return "## Expected figures\n\nNone of the tables in [Results](../RESULTS.md) has a row of its own for this method.\n\n"
    shown = table(["dataset", "protocol", "row", "measured", "published", "table"], found)
    return (
        f"## Expected figures\n\nAccuracy in %, as in [Results](../RESULTS.md), which has the commands and says what differs: mean ± sample deviation, of how many runs in parentheses.\n\n{shown}\n\n"
    )


def measured() -> list[tuple[str, list[tuple[str, str, str, str | None]]]]:
    """The tables of the results of this version that compare methods: heading, and row, dataset, our figure and the published one of each cell."""
    text = (ROOT / "docs" / "RESULTS.md").read_text().split("\n# Tables of version")[0]
    tables = []
    for section in text.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        if not heading.startswith(TABLES):
            continue
        cells: list[tuple[str, str, str, str | None]] = []
        datasets: list[str] = []
        for line in body.splitlines():
            columns = [column.strip() for column in line.strip("|").split("|")] if line.startswith("|") else []
            if not columns or set(columns[0]) <= {"-"} and columns[0]:
                continue
            if not columns[0]:
                datasets = columns[1:]
            elif columns[0].startswith("**"):
                title = columns[0].strip("*")
                cells += [(title, dataset, ours, None) for dataset, ours in zip(datasets, columns[1:], strict=True) if ours]
            elif columns[0] == "&nbsp;&nbsp;paper":
                published = dict(zip(datasets, columns[1:], strict=True))
                cells = [(*cell[:3], published.get(cell[1]) or None) if cell[0] == title and cell[3] is None else cell for cell in cells]
        tables.append((heading, cells))
    return tables


def schemes_page() -> str:
    rows = [[f"`{name}`", about] for name, about in fiedler.schemes().items()]
    return (
        "# Augmentation schemes\n\nWhat views are drawn from, by the name that `Augmentation` and `fiedler augment --scheme` take.\n\n"
        f"{table(['name', 'what it does'], rows)}\n"
    )


def attacks_page() -> str:
    rows = [[f"`{name}`", about] for name, about in fiedler.attacks().items()]
    return (
        "# Attacks\n\nWhat poisons a graph, by the name that `fiedler.attack` and `fiedler attack --method` take.\n\n"
        f"{table(['name', 'what it does'], rows)}\n\n## Settings and examples\n\n```text\n{help_of('attack').rstrip()}\n```\n"
    )


def recipes_page() -> str:
    rows = [[f"`{name}`", title, _fiedler.recipe_about(name)[0]] for name, title in fiedler.recipes().items()]
    return f"# Recipes\n\nSettings under a name, for `Embedder(recipe=...)` and `fiedler embed --recipe`.\n\n{table(['name', 'for', 'method'], rows)}\n"


def data_page() -> str:
    known = [[f"`{name}`", title] for name, title, _ in _fiedler.known_datasets()]
    made = [
        [f"`{generator.name}`", generator.about, ", ".join(f"`{name}={default}`" for name, default, _ in generator.parameters)]
        for generator in fiedler.generators()
    ]
    changed = [[f"`{name}`", about, f"`{usage}`"] for name, about, usage in _fiedler.transforms()]
    formats = [[f"`{name}`", about] for name, about in fiedler.formats().items()]
    return (
        "# Data\n\n## Published datasets\n\n"
        f"{table(['name', 'dataset'], known)}\n\n## Generators\n\nWritten as `sbm:nodes=500,classes=4`.\n\n"
        f"{table(['name', 'makes', 'parameters with their defaults'], made)}\n\n## Transforms\n\nIn front of data, to make other data of it.\n\n"
        f"{table(['name', 'makes', 'usage'], changed)}\n\n## Formats of files\n\n{table(['format', 'what it is'], formats)}\n"
    )


def program_page() -> str:
    """The help of every command."""
    text = "# The program\n\nThe help of each command, as `fiedler COMMAND --help` prints it.\n"
    for command in ["", *commands()]:
        text += f"\n## fiedler {command}\n\n```text\n{help_of(command).rstrip()}\n```\n"
    return text


def commands() -> list[str]:
    """The commands that the program's help lists."""
    listed = help_of("").split("Commands:\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  ([a-z-]+)", listed, flags=re.MULTILINE) if name != "help"]


def help_of(command: str) -> str:
    arguments = [sys.executable, "-m", "fiedler", *([command] if command else []), "--help"]
    return subprocess.run(arguments, capture_output=True, text=True, check=True, env={"COLUMNS": "120", "NO_COLOR": "1"}).stdout


def glossary_page() -> str:
    """The glossary that opens the documentation of the Rust crates."""
    source = (ROOT / "crates" / "fiedler" / "src" / "lib.rs").read_text()
    lines = [line.removeprefix("//!").removeprefix(" ") for line in source.splitlines() if line.startswith("//!")]
    start = lines.index("# Glossary")
    rows = [re.sub(r"\[`([^`]+)`\]", r"`\1`", line) for line in lines[start + 1 :] if line.startswith("|")]
    return "# Glossary\n\nOur words, those of the SPAN paper, and those of PyTorch Geometric, PyGCL and scikit-learn.\n\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    write_all(Path(__file__).parent / "generated")

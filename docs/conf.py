"""How Sphinx builds the documentation: `sphinx-build -W docs target/docs`. Nothing is fetched from a network.

Pages of methods, of the program's help and the glossary are generated from what the libraries say of themselves, into `docs/generated`.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import fiedler  # noqa: E402
import generate_pages  # noqa: E402

generate_pages.write_all(HERE / "generated")


def stand_in(name: str, **contents: object) -> None:
    """A module with a few names in it."""
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(contents)


# torch is large, and only names of it are needed to describe the package.
if importlib.util.find_spec("torch_geometric") is None:
    data = {name: type(name, (), {"__module__": "torch_geometric.data"}) for name in ("Data", "HeteroData")}
    tensor = {name: type(name, (), {"__module__": "torch"}) for name in ("Tensor", "Generator")}
    stand_in("torch", **tensor)
    stand_in("torch_geometric")
    stand_in("torch_geometric.data", **data)
    stand_in("torch_geometric.data.datapipes", functional_transform=lambda name: lambda kind: kind)
    stand_in("torch_geometric.transforms", BaseTransform=object)

project = "fiedler"
author = "the fiedler contributors"
release = fiedler.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
html_theme = "alabaster"
html_theme_options = {"description": "Self-supervised learning on graphs, guided by the graph's spectrum", "page_width": "70em"}
html_title = f"fiedler {release}"
# Files of the repository that the pages name, but that are not part of the site.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]

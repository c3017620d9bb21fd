"""Self-supervised learning on graphs, guided by the graph's spectrum.

>>> import fiedler
>>> z = fiedler.Embedder("spectral", dimensions=8).fit_transform("karate")
>>> z.shape
(34, 8)

A graph is whatever holds one: see `read`. `Embedder` learns an embedding, `evaluate` judges it, `finetune` trains its encoder further by labels,
`SpectralAugmentation` draws views for other programs, `attack` poisons a graph, and `report` makes a page to look at. `fiedler.pyg` has the same for PyTorch Geometric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._attack import PoisonedDataset, attack
from ._augmentation import Augmentation, SpectralAugmentation, View
from ._dataset import Dataset
from ._errors import DataError, DataWarning, FiedlerError, NotFoundError, SettingError, TrainingError
from ._evaluation import Score, evaluate
from ._fiedler import __version__, set_threads
from ._finetuning import FinetunedEncoder, finetune
from ._lists import Generator, Method, Setting, attacks, datasets, formats, generators, methods, recipes, schemes, settings, transforms
from ._page import Page, report
from ._progress import Progress
from ._reading import GraphLike, read
from ._spectrum import spectrum

if TYPE_CHECKING:
    from ._embedder import Embedder

__all__ = [
    "Augmentation",
    "DataError",
    "DataWarning",
    "Dataset",
    "Embedder",
    "FiedlerError",
    "FinetunedEncoder",
    "Generator",
    "GraphLike",
    "Method",
    "NotFoundError",
    "Page",
    "PoisonedDataset",
    "Progress",
    "Score",
    "Setting",
    "SettingError",
    "SpectralAugmentation",
    "TrainingError",
    "View",
    "__version__",
    "attack",
    "attacks",
    "datasets",
    "evaluate",
    "finetune",
    "formats",
    "generators",
    "methods",
    "read",
    "recipes",
    "report",
    "schemes",
    "set_threads",
    "settings",
    "spectrum",
    "transforms",
]

for _public in (DataError, DataWarning, FiedlerError, NotFoundError, SettingError, TrainingError, Dataset, FinetunedEncoder, PoisonedDataset, Augmentation, SpectralAugmentation):
    # As users know them.
    _public.__module__ = "fiedler"
del _public


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and only this needs it.
    if name == "Embedder":
        from ._embedder import Embedder

        return Embedder
    raise AttributeError(f"module 'fiedler' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Attacks: graphs that are poisoned so that whoever learns from them learns worst."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _fiedler
from ._augmentation import _seed
from ._dataset import Dataset
from ._errors import SettingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset


class PoisonedDataset(Dataset):
    """A dataset whose graph an attack has changed.

    Attributes
    ----------
    attack : dict
        What the program's attack.json holds: settings, budget, flips, what the attack knew, accuracy of a surrogate before and after.
    """

    def __init__(self, raw: _fiedler.RawDataset, attack: dict[str, Any]) -> None:
        super().__init__(raw)
        self.attack = attack


def attack(
    graph: GraphLike,
    /,
    method: str = "mettack",
    *,
    budget: float = 0.05,
    split: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    random_state: int = 0,
    progress: Progress = False,
) -> PoisonedDataset:
    """Poisons a graph: features and labels stay as they are, edges are flipped.

    Parameters
    ----------
    graph
        One graph: anything that `fiedler.read` takes.
    method
        ``"random"``, ``"dice"``, ``"gf"``, ``"gf-relaxed"``, ``"mettack"``, ``"pr-bcd"`` or ``"gr-bcd"``.
    budget
        Flips, as a share of the edges: the program's ``--ratio``.
    split
        What the victim will be trained on: ``"public"`` (the split of the data), ``"random"``, or a JSON file of node ids. Attacks that
        read labels of training nodes, such as Mettack, need one; DICE reads the labels of all nodes.
    settings
        Further settings of the attack, such as ``{"objective": "meta-train"}``.
    random_state
        Seed of the attack and of a random split.

    Examples
    --------
    >>> import fiedler
    >>> poisoned = fiedler.attack("karate", "dice", budget=0.1)
    >>> poisoned.attack["flips"]
    7
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise SettingError(f"budget is {budget!r}; expected a share of the edges, such as 0.05", setting="budget")
    assignments = [f"{key}={json.dumps(value)}" for key, value in (settings or {}).items()]
    dataset = as_dataset(graph)
    where = None if split is None else os.fspath(split)
    with watched(progress) as told:
        raw, record = _fiedler.attack(dataset._raw, method, float(budget), where, assignments, _seed(random_state), told)
    return PoisonedDataset(raw, json.loads(record))

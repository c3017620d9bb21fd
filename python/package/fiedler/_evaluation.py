"""How good embeddings are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _fiedler
from ._arrays import as_array, as_float32
from ._augmentation import _seed
from ._dataset import Dataset
from ._errors import DataError
from ._labels import read_labels
from ._progress import Progress, watched
from ._reading import as_dataset

_TABLES = {".csv", ".tsv", ".txt", ".npy", ".parquet"}


@dataclass(frozen=True)
class Score:
    """The score of embeddings: mean and deviation over splits, and all that is needed to know what they mean."""

    metric: str
    """What is measured."""
    mean: float
    """Mean over splits."""
    std: float
    """Sample standard deviation over splits; 0 where there is one."""
    splits: list[dict[str, Any]]
    """Every split, with what was chosen on its validation set."""
    protocol: str
    """Name of the protocol."""
    description: str
    """Protocol, scaling, probe and how its penalty was chosen, in words."""
    notes: list[str] = field(default_factory=list)
    """Anything else a reader should know."""

    def __str__(self) -> str:
        return f"{self.metric} {self.mean:.4f} ± {self.std:.4f} over {len(self.splits)} split{'s' * (len(self.splits) != 1)}"


def evaluate(
    embeddings: Any,
    labels: Any,
    *,
    protocol: str | None = None,
    splits: int | None = None,
    stratified: bool | None = None,
    metric: str | None = None,
    probe: Mapping[str, Any] | str | None = None,
    random_state: int = 0,
    progress: Progress = False,
) -> Score:
    """Judges embeddings by how well a simple probe predicts labels from them.

    Parameters
    ----------
    embeddings
        A row for each node or graph; or a file of them, or several files, one for each seed, whose rows are matched by their ids.
    labels
        One for each row; or a dataset that has labels, by its name, its path or as a `Dataset`; or a csv, npy or parquet file.
    protocol
        ``"public"`` (the splits that came with the data), ``"random"``, ``"kfold"``, ``"scaffold"`` or ``"reference"``. Left out, as in the
        program: public where there are splits, else kfold for graphs and random for nodes.
    splits
        Number of random splits or of folds.
    stratified
        Whether every class is divided in the same shares.
    metric, probe
        As in the program; by default what the field does with such labels.
    random_state
        Seed of the splits.

    Examples
    --------
    >>> import fiedler
    >>> z = fiedler.Embedder("hops", dimensions=16).fit_transform("karate")
    >>> fiedler.evaluate(z, "karate", protocol="kfold", splits=5).metric
    'accuracy'
    """
    asked = json.dumps(
        {
            "protocol": protocol,
            "splits": splits,
            "stratified": stratified,
            "metric": metric,
            "probe": dict(probe) if isinstance(probe, Mapping) else probe,
            "seed": _seed(random_state),
        }
    )
    files = _files(embeddings)
    with watched(progress) as told:
        if files is not None:
            found = json.loads(_fiedler.evaluate_tables(files, _target(labels, None), asked, told))
        else:
            values = as_array(embeddings.toarray() if hasattr(embeddings, "tocsr") else embeddings, "the embeddings")
            if values.ndim != 2:
                raise DataError(f"the embeddings have {values.ndim} dimensions; expected a row for each node or graph")
            matrix = as_float32(values, "the embeddings")
            found = json.loads(_fiedler.evaluate(matrix, _target(labels, len(matrix)), asked, told))
    names = ("metric", "mean", "std", "splits", "protocol", "description", "notes")
    return Score(**{name: found[name] for name in names})


def _files(embeddings: Any) -> list[str] | None:
    if isinstance(embeddings, (str, os.PathLike)):
        return [os.fspath(embeddings)]
    if isinstance(embeddings, (list, tuple)) and embeddings and isinstance(embeddings[0], (str, os.PathLike)):
        return [os.fspath(path) for path in embeddings]
    return None


def _target(labels: Any, rows: int | None) -> _fiedler.RawDataset | str:
    if isinstance(labels, (str, os.PathLike)):
        path = Path(labels)
        if path.suffix.lower() in _TABLES and not path.is_dir():
            return os.fspath(labels)
        return as_dataset(labels)._raw
    if isinstance(labels, Dataset):
        return labels._raw
    found = read_labels(labels)
    count = len(found["values"] if found["codes"] is None else found["codes"])
    if rows is not None and rows != count:
        raise DataError(f"there are {rows} embeddings and {count} labels; expected as many of both")
    nobody = np.empty(0, dtype=np.int64)
    raw, _ = _fiedler.dataset_from_pairs("labels", [count], nobody, nobody, None)
    return raw.replaced(node_labels=found)

"""Fine-tuning: an encoder trained further by labels."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _fiedler
from ._augmentation import _as_json, _seed
from ._errors import FiedlerError, SettingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset

if TYPE_CHECKING:
    from ._embedder import Embedder



class FinetunedEncoder:
    """An encoder with a head, trained by labels: the best on validation of all seeds and splits. Made by `fiedler.finetune`.

    Attributes
    ----------
    metric : str
        What is measured.
    mean, std : float
        Mean of the metric on the test set over seeds and splits, and its sample deviation.
    validation_mean, validation_std : float
        The same on the validation set.
    runs : list of dict
        Every seed and split: its score, how many epochs it was trained, and which of them was kept.
    settings_ : dict
        All settings, as they stand in finetune.json.
    record_ : dict
        What finetune.json holds.
    folder : pathlib.Path or None
        The folder of the runs, where one was asked for.
    """

    def __init__(self, record: dict[str, Any], encoder: _fiedler.RawEncoder, labels: dict[str, Any], folder: Path | None) -> None:
        self.record_ = record
        self.settings_: dict[str, Any] = record["plan"]["settings"]
        self.runs: list[dict[str, Any]] = record["runs"]
        score = record["score"]
        self.metric: str = score["metric"]
        self.mean: float = score["mean"]
        self.std: float = score["std"]
        self.validation_mean: float = score["validation_mean"]
        self.validation_std: float = score["validation_std"]
        self.description: str = score["description"]
        self.folder = folder
        self._encoder = encoder
        self._kind: str = labels["kind"]
        self._names: list[str] = labels["names"]

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, tasks or values that there is a column of scores for."""
        return list(self._names)

    def decision_function(self, graph: GraphLike, /, *, features: Any = None, progress: Progress = False) -> NDArray[np.float32]:
        """The scores of every node, or of every graph of a set: a column for each of `class_names`.

        Of classes and tasks these are logits; of values, what is predicted.
        """
        dataset = as_dataset(graph, features=features)
        with watched(progress) as told:
            return self._encoder.embed(dataset._raw, told)

    def predict(self, graph: GraphLike, /, *, features: Any = None, progress: Progress = False) -> NDArray[Any]:
        """What `Dataset.labels` would be: the likeliest class of every node or graph, by its number in `class_names`; of several tasks, 1 or 0
        in columns; of values, the values."""
        scores = self.decision_function(graph, features=features, progress=progress)
        if self._kind == "classes":
            classes: NDArray[np.int64] = scores.argmax(axis=1)
            return classes
        found = (scores > 0).astype(np.float32) if self._kind == "multi-label" else scores
        return found[:, 0] if found.shape[1] == 1 else found

    def __str__(self) -> str:
        count = len(self.runs)
        return f"{self.metric} {self.mean:.4f} ± {self.std:.4f} over {count} run{'s' * (count != 1)}"

    def __repr__(self) -> str:
        return f"FinetunedEncoder({self})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_encoder": self._encoder.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _encoder=_fiedler.RawEncoder.from_bytes(state["_encoder"]))


def finetune(
    start: Embedder | FinetunedEncoder | str | os.PathLike[str] | None,
    graph: GraphLike,
    labels: Any = None,
    *,
    like: Embedder | FinetunedEncoder | str | os.PathLike[str] | None = None,
    features: Any = None,
    mode: str | None = None,
    epochs: int | None = None,
    learning_rate: float | None = None,
    head_learning_rate: float | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    splits: int | None = None,
    stratified: bool | None = None,
    label_fraction: float = 1.0,
    seeds: int = 1,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    report: bool = True,
    random_state: int = 0,
    progress: Progress = False,
) -> FinetunedEncoder:
    """Puts a linear head on an encoder and trains both by labels, on every split of a protocol.

    Training stops when the loss on the validation set does not get smaller; the test set is looked at once, at the end. The same settings and seed
    give the same bytes as the program's ``fiedler finetune``.

    Parameters
    ----------
    start
        What to start from: an `Embedder` that is fitted, the folder of a run, the file of an encoder, or `None` for random weights, to
        compare.
    graph
        What to learn: anything that `fiedler.read` takes, with labels of nodes or graphs.
    labels
        One for each node or graph, where the graph brings none.
    like
        With a `start` of `None`: what has an encoder of the shape to take, with random weights.
    features
        A row for each node, where the graph brings none; columns must be those that the encoder was trained on.
    mode
        What is trained: ``"full"`` (encoder and head), ``"frozen"`` (the head alone), ``"head-first"`` (the head alone for ten epochs, then
        both).
    epochs, learning_rate, head_learning_rate
        Most epochs; the learning rate of the encoder, and of the head where it has one of its own.
    settings
        Any other settings by their keys, as ``{"method.class_weights": "balanced", "training.patience": 20}``; ``fiedler.settings("supervised")``
        lists them. They come last.
    protocol, splits, stratified
        Which items are train, validation and test; see `fiedler.evaluate`.
    label_fraction
        Share of the training set whose labels are used, every class alike.
    seeds
        Number of seeds; `random_state` is the first.
    folder
        A folder for runs and scores, as ``fiedler finetune --out`` leaves it. What is stopped there goes on by the same call. Left out, nothing is
        kept but what is returned.
    force
        Whether a fine-tuning in the folder gives way.
    report
        Whether a page is left in the folder.

    Examples
    --------
    >>> import fiedler
    >>> embedder = fiedler.Embedder("dgi", epochs=5).fit("karate")
    >>> tuned = fiedler.finetune(embedder, "karate", protocol="kfold", splits=5, epochs=10)
    >>> tuned.metric, len(tuned.runs)
    ('accuracy', 5)
    >>> tuned.predict("karate").shape
    (34,)
    """
    if start is not None and like is not None:
        raise SettingError("like is for an encoder that starts from random weights", hint="leave it out, or give None as start", setting="like")
    dataset = as_dataset(graph, features=features, labels=labels, random_state=_seed(random_state))
    encoder, path = _encoder(like if start is None else start)
    if isinstance(seeds, bool) or int(seeds) != seeds or not 1 <= seeds < 1 << 16:
        raise SettingError(f"seeds is {seeds!r}; expected a positive whole number", setting="seeds")
    keys = {
        "method.mode": mode,
        "method.head_learning_rate": head_learning_rate,
        "training.learning_rate": learning_rate,
        "training.epochs": epochs,
    }
    asked = {
        "keys": json.loads(_as_json({key: value for key, value in keys.items() if value is not None})),
        "settings": json.loads(_as_json(settings or {})),
        "protocol": protocol,
        "splits": splits,
        "stratified": stratified,
        "label_fraction": float(label_fraction),
        "seeds": int(seeds),
        "seed": _seed(random_state),
        "weights": start is not None,
        "force": force,
        "page": report and folder is not None,
        "keep": folder is not None,
    }
    words = json.dumps(asked)
    with watched(progress) as told:
        if folder is not None:
            record, best = _fiedler.finetune(dataset._raw, encoder, path, words, os.fspath(folder), told)
        else:
            import tempfile

            with tempfile.TemporaryDirectory(prefix="fiedler-") as place:
                record, best = _fiedler.finetune(dataset._raw, encoder, path, words, place, told)
    return FinetunedEncoder(json.loads(record), best, dataset._labels, None if folder is None else Path(folder))


def _encoder(start: Any) -> tuple[_fiedler.RawEncoder | None, str | None]:
    """An encoder in memory, or where it lies; of one in memory, where it came from, if anywhere."""
    if start is None:
        return None, None
    if isinstance(start, (str, os.PathLike)):
        return None, os.fspath(start)
    if isinstance(start, FinetunedEncoder):
        return start._encoder, None if start.folder is None else os.fspath(start.folder)
    if not hasattr(start, "fit") or not hasattr(start, "transform"):
        raise SettingError(
            f"start is {start!r}; expected an Embedder, the folder of a run, or None for random weights", setting="start"
        )
    encoder = getattr(start, "_encoder", None)
    if encoder is None:
        raise FiedlerError("the embedder has not learned anything yet", hint="call fit(graph) first")
    place = start.folder if start._run is not None else start._source
    return encoder, None if place is None else os.fspath(place)

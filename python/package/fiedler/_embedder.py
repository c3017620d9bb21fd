"""An embedding of the nodes of a graph, or of the graphs of a set, as an estimator of scikit-learn."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _fiedler
from ._augmentation import Augmentation, _as_json, _seed
from ._dataset import Dataset
from ._errors import DataError, SettingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset

if TYPE_CHECKING:
    from typing import Self


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns an embedding of every node of a graph, or of every graph of a set, without labels.

    The same settings and seed give the same bytes as the program's ``fiedler embed``.

    Parameters
    ----------
    method
        What makes the embedding; see `fiedler.methods`. Left out, what the recipe has: without one the recipe that was made for the
        dataset, else the general one.
    recipe
        Settings under a name; see `fiedler.recipes`.
    settings
        Settings by their keys, nested or with points in them, as ``{"training": {"patience": 20}}`` or ``{"training.patience": 20}``;
        `fiedler.settings` lists them. They come after everything else.
    dimensions
        Columns of the embedding; of methods with an encoder, the width of its layers.
    epochs
        Epochs of training.
    augmentation
        Where views are drawn from. One that is fitted to the same graph is not computed again.
    folder
        A folder for the run, as ``fiedler embed --out`` leaves it. A fit that is stopped leaves a checkpoint there, and another fit with the
        same settings goes on from it. Left out, nothing is written.
    random_state
        Seed of everything random.
    progress
        Whether a bar is shown; or a function that is called with what is done, how far it is, and of how much.

    Attributes
    ----------
    embedding_ : ndarray of float32
        A row for each node, or for each graph of a set.
    losses_ : ndarray of float32
        The mean loss of each epoch.
    settings_ : dict
        All settings, as they stand in run.json.
    record_ : dict
        What run.json holds.

    Examples
    --------
    >>> import fiedler
    >>> embedder = fiedler.Embedder("spectral", dimensions=8)
    >>> embedder.fit_transform("karate").shape
    (34, 8)
    """

    # The run, as long as it is in memory; one that was loaded lies in a folder.
    _run: _fiedler.RawRun | None
    _encoder: _fiedler.RawEncoder
    _source: Path

    def __init__(
        self,
        method: str | None = None,
        *,
        recipe: str | None = None,
        settings: Mapping[str, Any] | None = None,
        dimensions: int | None = None,
        epochs: int | None = None,
        augmentation: Augmentation | None = None,
        folder: str | os.PathLike[str] | None = None,
        random_state: Any = 0,
        progress: Progress = False,
    ) -> None:
        self.method = method
        self.recipe = recipe
        self.settings = settings
        self.dimensions = dimensions
        self.epochs = epochs
        self.augmentation = augmentation
        self.folder = folder
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: GraphLike, y: Any = None, *, features: Any = None) -> Self:
        """Learns an embedding of a graph: `X` is an adjacency matrix, or anything that `fiedler.read` takes.

        `y` is not looked at, unless the method learns from labels.
        """
        seed = self._seed()
        dataset = self._dataset(X, features, seed, fitting=True)
        if y is not None and (self.method == "supervised" or str(self.recipe).startswith("supervised")):
            dataset = as_dataset(dataset, labels=y)
        asked: dict[str, Any] = {"seed": seed}
        for name in ("method", "recipe"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise SettingError(f"{name} is {value!r}; expected a name", setting=name)
            asked[name] = value
        for name in ("dimensions", "epochs"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or int(value) != value or value < 1):
                raise SettingError(f"{name} is {value!r}; expected a positive whole number", setting=name)
            asked[name] = None if value is None else int(value)
        asked["settings"] = json.loads(_as_json(self.settings or {}))
        known = []
        if self.augmentation is not None:
            asked["scheme"] = self.augmentation.settings
            if self.augmentation._scheme is not None:
                known.append(self.augmentation._scheme)
        folder = None if self.folder is None else os.fspath(self.folder)
        with watched(self.progress) as told:
            run = _fiedler.fit_run(dataset._raw, json.dumps(asked), known, folder, False, told)
        self._run = run
        self._take(json.loads(run.record()), run.embeddings(), run.losses())
        self._encoder = run.encoder()
        return self

    def fit_transform(self, X: GraphLike, y: Any = None, *, features: Any = None) -> NDArray[np.float32]:
        """Learns an embedding and gives it."""
        return self.fit(X, y, features=features).embedding_

    def transform(self, X: GraphLike, *, features: Any = None) -> NDArray[np.float32]:
        """Embeds a graph, which may be another one, with the encoder that was trained; nothing is learned."""
        check_is_fitted(self)
        dataset = self._dataset(X, features, 0, fitting=False)
        with watched(self.progress) as told:
            return self._encoder.embed(dataset._raw, told)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, report: bool = True) -> None:
        """Leaves a run folder, as ``fiedler embed`` does; with a page to look at, unless `report` is false."""
        check_is_fitted(self)
        if self._run is None:
            _copy(self._source, Path(folder), force)
            return
        with watched(self.progress) as told:
            self._run.save(os.fspath(folder), force, report, told)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """The embedder of a run folder that `save` or the program left."""
        place = Path(folder)
        record, encoder = _fiedler.load_run(os.fspath(place))
        found = cls(**_parameters(json.loads(record)))
        embeddings = place / "embeddings.npy"
        if not embeddings.exists():
            raise DataError(f"{place} has no embeddings.npy", hint="run again with embeddings in the format npy", file=embeddings)
        losses = place / "losses.csv"
        curve = np.loadtxt(losses, delimiter=",", skiprows=1, ndmin=2)[:, 1] if losses.exists() else np.empty(0)
        found._take(json.loads(record), np.load(embeddings), curve.astype(np.float32))
        found._encoder = encoder
        found._run = None
        found._source = place.absolute()
        return found

    def _take(self, record: dict[str, Any], embedding: NDArray[np.float32], losses: NDArray[np.float32]) -> None:
        self.record_ = record
        self.settings_: dict[str, Any] = record["settings"]
        self.embedding_ = embedding
        self.losses_ = losses
        self._n_features_out = embedding.shape[1]

    def _seed(self) -> int:
        if self.random_state is None or not isinstance(self.random_state, (int, np.integer)):
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return _seed(self.random_state)

    def _dataset(self, X: GraphLike, features: Any, seed: int, *, fitting: bool) -> Dataset:
        if _is_matrix(X):
            # What scikit-learn promises of matrices: numbers, finite, two dimensions.
            if fitting:
                X = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_non_negative=True)
            else:
                # Another graph may have more nodes, or fewer: the number of columns does not count.
                X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_non_negative=True, estimator=self, input_name="X")
            if X.shape[0] != X.shape[1]:
                shape = " × ".join(map(str, X.shape))
                raise DataError(
                    f"X is {shape}; expected an adjacency matrix, which is square",
                    hint="give features with features=; to validate over nodes, embed the whole graph and use fiedler.evaluate",
                )
            if X.shape[0] < 2:
                raise DataError("the graph has 1 sample, that is one node; expected at least 2")
        return as_dataset(X, features=features, random_state=seed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Rows and columns are the same nodes.
        tags.input_tags.pairwise = True
        # Weights of edges.
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        run, encoder = state.pop("_run", None), state.pop("_encoder", None)
        if encoder is not None:
            state["_saved_encoder"] = encoder.to_bytes()
        if run is not None:
            state["_saved_run"] = (Dataset(run.dataset), run.schemes())
        return state

    def __setstate__(self, state: Any) -> None:
        encoder, run = state.pop("_saved_encoder", None), state.pop("_saved_run", None)
        super().__setstate__(state)
        if encoder is None:
            return
        self._encoder = _fiedler.RawEncoder.from_bytes(encoder)
        self._run = None
        if run is not None:
            dataset, saved = run
            schemes = [_fiedler.read_scheme(dataset._raw, None, scheme) for scheme in saved]
            record = json.dumps(self.record_)
            self._run = _fiedler.RawRun.from_parts(dataset._raw, record, self.embedding_, self.losses_, encoder, schemes)


def _is_matrix(X: Any) -> bool:
    """Whether scikit-learn would take it for a matrix of samples and features."""
    if isinstance(X, (str, os.PathLike, Dataset)) or X is None:
        return False
    if hasattr(X, "tocsr"):
        return True
    if hasattr(X, "iloc"):
        return bool(X.ndim == 2 and X.shape[1] > 3)
    if isinstance(X, np.ndarray):
        return X.dtype.kind not in "iu" or X.ndim != 2 or 2 not in X.shape
    return isinstance(X, (list, tuple)) and bool(X) and isinstance(X[0], (list, tuple, float, np.ndarray)) and not _is_set(X)


def _is_set(X: Any) -> bool:
    return all(isinstance(graph, np.ndarray) and graph.ndim == 2 for graph in X)


def _parameters(record: dict[str, Any]) -> dict[str, Any]:
    settings = record["settings"]
    return {"method": settings["method"]["name"], "recipe": None, "settings": settings, "random_state": settings["seed"]}


def _copy(source: Path, folder: Path, force: bool) -> None:
    if folder.exists() and any(folder.iterdir()) and not force:
        raise FileExistsError(17, "it is there already", os.fspath(folder))
    shutil.copytree(source, folder, dirs_exist_ok=True)

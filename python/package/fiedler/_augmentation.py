"""Augmentations: views drawn from a scheme."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _fiedler
from ._dataset import Dataset
from ._errors import FiedlerError, SettingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset

if TYPE_CHECKING:
    from typing import Self

    from scipy.sparse import csr_array


class View(NamedTuple):
    """A view of a graph, on the same nodes."""

    edge_index: NDArray[np.int64]
    """Sources and targets of its edges, in both directions."""
    edge_ids: NDArray[np.int64]
    """For each column of `edge_index` the column of the graph's own `edge_index` that it was; -1 where the edge was added."""
    edge_weight: NDArray[np.float32] | None
    """Weights of edges, where the graph or the view has any; an added edge weighs 1."""
    kept_nodes: NDArray[np.bool_] | None
    """Which nodes are left, where the scheme drops nodes; those that are dropped have no edges."""
    self_weight: NDArray[np.float32] | None
    """What every node gives to itself, where the view is a propagation matrix already, as a diffusion is."""
    num_nodes: int
    """Number of nodes, with and without edges."""

    def adjacency(self) -> csr_array:
        """The adjacency matrix, `float32`; of a diffusion, with its diagonal."""
        from scipy.sparse import coo_array, csr_array, dia_array

        weights = np.ones(self.edge_index.shape[1], dtype=np.float32) if self.edge_weight is None else self.edge_weight
        shape = (self.num_nodes, self.num_nodes)
        matrix = csr_array(coo_array((weights, (self.edge_index[0], self.edge_index[1])), shape=shape))
        if self.self_weight is not None:
            matrix = csr_array(matrix + dia_array((self.self_weight[None, :], [0]), shape=shape))
        return matrix


class Augmentation:
    """Any scheme of augmentation: the probabilities that views are drawn from.

    Parameters
    ----------
    settings
        The name of a scheme (see `fiedler.schemes`), or its settings with their ``name``, as they stand in a run.json.
    random_state
        Seed of the scheme and of the views.

    Examples
    --------
    >>> import fiedler
    >>> augmentation = fiedler.Augmentation({"name": "uniform-removal", "ratio": 0.5}).fit("karate")
    >>> first, second = augmentation.views(epoch=3)
    >>> first.edge_index.shape[0], first.edge_index.shape[1] < 156
    (2, True)
    """

    # The number of the first graph in the set that the graphs are a shard of.
    _first = 0

    def __init__(self, settings: Mapping[str, Any] | str = "opposite", *, random_state: int = 0) -> None:
        tree = {"name": settings} if isinstance(settings, str) else dict(settings)
        self.random_state = _seed(random_state)
        self.settings: dict[str, Any] = json.loads(_fiedler.scheme_settings(_as_json(tree), self.random_state))
        self._scheme: _fiedler.RawScheme | None = None

    def fit(self, graph: GraphLike, /, *, first: int = 0, progress: Progress = False) -> Self:
        """Computes the scheme for a graph or for every graph of a set.

        Of a shard of a larger set, `first` is the number that its first graph has there: the views of its graphs are then those of the whole.
        """
        self._first = _number(first, "first")
        dataset = as_dataset(graph, random_state=self.random_state)
        with watched(progress) as told:
            self._scheme = _fiedler.compute_scheme(dataset._raw, json.dumps(self.settings), told)
        return self

    def sample(
        self, view: int = 0, *, epoch: int = 0, graphs: Sequence[int] | None = None, seed: int | None = None
    ) -> View:
        """Draws a view: the same for the same seed, epoch and view, whatever was drawn before.

        `graphs` are those of a set that are wanted, as one block-diagonal graph; `seed` is `random_state` where it is left out.
        """
        return self._draw([view], epoch=epoch, graphs=graphs, seed=seed)[0]

    def views(self, *, epoch: int = 0, graphs: Sequence[int] | None = None, seed: int | None = None) -> tuple[View, View]:
        """Draws the two views of an epoch, at the same time."""
        first, second = self._draw([0, 1], epoch=epoch, graphs=graphs, seed=seed)
        return first, second

    def _draw(
        self, views: list[int], *, epoch: int = 0, graphs: Sequence[int] | None = None, seed: int | None = None, places: bool = True
    ) -> list[View]:
        """Draws views; without `places`, their `edge_ids` are empty."""
        scheme = self._fitted()
        if min(views) < 0 or epoch < 0:
            raise SettingError(f"view is {min(views)} and epoch {epoch}; expected numbers that are not negative", setting="view")
        own = self.random_state if seed is None else _seed(seed)
        chosen = None if graphs is None else [int(graph) for graph in graphs]
        drawn = scheme.sample(own, epoch, views, chosen, places, self._first)
        dataset = scheme.dataset
        nodes = dataset.num_nodes
        if chosen is not None:
            sizes = np.diff(dataset.node_offsets())
            nodes = int(sizes[chosen].sum())
        nowhere = np.empty(0, dtype=np.int64)
        return [
            View(edges, nowhere if ids is None else ids, weights, kept, own_weights, nodes)
            for edges, ids, weights, kept, own_weights in drawn
        ]

    def probabilities(self, view: int = 0) -> csr_array:
        """For every pair of nodes the probability that a view flips it: Δ in the paper. Symmetric; what is not stored is 0."""
        from scipy.sparse import coo_array, csr_array

        low, high, flips = self._fitted().probabilities(view)
        nodes = self._fitted().dataset.num_nodes
        ends = (np.concatenate([low, high]), np.concatenate([high, low]))
        return csr_array(coo_array((np.concatenate([flips, flips]), ends), shape=(nodes, nodes)))

    @property
    def report_(self) -> dict[str, Any]:
        """How the computation went: expected changes, norms of the spectrum, steps."""
        found: dict[str, Any] = json.loads(self._fitted().report())
        return found

    @property
    def dataset_(self) -> Dataset:
        """The graphs that the scheme was computed for."""
        return Dataset(self._fitted().dataset)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scheme to a file: the scheme.safetensors that `fiedler augment` writes."""
        self._fitted().save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: GraphLike, *, first: int = 0) -> Self:
        """Reads a scheme that `save` or the program wrote, for the graph it was computed for; `first` as in `fit`."""
        dataset = as_dataset(graph)
        found = cls._of(_fiedler.read_scheme(dataset._raw, os.fspath(path), None))
        found._first = _number(first, "first")
        return found

    @classmethod
    def _of(cls, scheme: _fiedler.RawScheme) -> Self:
        found = cls.__new__(cls)
        found.settings = json.loads(scheme.settings())
        found.random_state = int(found.settings.get("seed", 0))
        found._scheme = scheme
        return found

    def _fitted(self) -> _fiedler.RawScheme:
        if self._scheme is None:
            raise FiedlerError("the augmentation has no graph yet", hint="call fit(graph) first")
        return self._scheme

    def __repr__(self) -> str:
        ratio = f", ratio={self.settings['ratio']}" if "ratio" in self.settings else ""
        fitted = "" if self._scheme is None else f", fitted to {Dataset(self._scheme.dataset)!r}"
        return f"{type(self).__name__}({self.settings['name']!r}{ratio}{fitted})"

    def __getstate__(self) -> dict[str, Any]:
        state = {key: value for key, value in self.__dict__.items() if key != "_scheme"}
        if self._scheme is not None:
            state["_saved"] = (self._scheme.to_bytes(), Dataset(self._scheme.dataset))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved", None)
        self.__dict__.update(state)
        self._scheme = None if saved is None else _fiedler.read_scheme(saved[1]._raw, None, saved[0])


class SpectralAugmentation(Augmentation):
    """Views that change the graph's spectrum most within a budget: the augmentation of SPAN.

    Parameters
    ----------
    scheme
        ``"opposite"`` (one view pushes the norm of the spectrum up, the other down), ``"single"`` or ``"double"``.
    ratio
        Flips in expectation, as a share of the edges: the budget, σ_e in the paper.
    steps
        Most gradient steps; by default what the library takes.
    eigenvalues
        How many of the lowest and of the highest eigenvalues count, K in the paper; all of them where it is left out.
    operator
        Whose spectrum: ``"laplacian"`` or ``"propagation"``.
    support
        Which pairs may flip: ``"auto"``, ``"all"``, ``"edges"`` or ``"candidates"``.
    memory
        Bytes that all pairs, or a dense spectrum, may take.
    random_state
        Seed of the scheme and of the views.

    Examples
    --------
    >>> import fiedler
    >>> augmentation = fiedler.SpectralAugmentation(ratio=0.2).fit("karate")
    >>> up, down = augmentation.report_["views"]
    >>> up["norm"]["after"] > up["norm"]["before"] > down["norm"]["after"]
    True
    """

    def __init__(
        self,
        scheme: str = "opposite",
        *,
        ratio: float = 0.3,
        steps: int | None = None,
        eigenvalues: int | None = None,
        operator: str = "laplacian",
        support: str = "auto",
        memory: int = 1 << 30,
        random_state: int = 0,
    ) -> None:
        if scheme not in ("opposite", "single", "double"):
            raise SettingError(
                f"scheme is {scheme!r}; expected opposite, single or double",
                hint="other schemes are made by fiedler.Augmentation",
                setting="scheme",
            )
        settings: dict[str, Any] = {
            "name": scheme,
            "ratio": ratio,
            "operator": operator,
            "support": support,
            "memory": memory,
        }
        if steps is not None:
            settings["steps"] = steps
        if eigenvalues is not None:
            settings["k"] = eigenvalues
        super().__init__(settings, random_state=random_state)


def _seed(seed: Any) -> int:
    """A seed that the library takes."""
    try:
        number = int(seed)
    except (TypeError, ValueError):
        raise SettingError(f"random_state is {seed!r}; expected a whole number", setting="random_state") from None
    if number != seed or not 0 <= number < 1 << 64:
        raise SettingError(f"random_state is {seed!r}; expected a whole number that is not negative", setting="random_state")
    return number


def _number(value: Any, setting: str) -> int:
    """A number of graphs or the like."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << 31:
        raise SettingError(f"{setting} is {value!r}; expected a whole number that is not negative", setting=setting)
    return int(value)


def _as_json(settings: Mapping[str, Any]) -> str:
    """Settings as JSON; numbers of numpy are numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        raise SettingError(f"a setting is {value!r}; expected numbers, words, lists and dictionaries")

    try:
        return json.dumps(dict(settings), default=plain, allow_nan=False)
    except ValueError:
        raise SettingError("a setting is not a finite number") from None

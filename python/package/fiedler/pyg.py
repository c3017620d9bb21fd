"""fiedler for PyTorch Geometric: spectral views as a transform, and graphs to and fro.

>>> import fiedler.pyg                                                     # doctest: +SKIP
>>> augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)   # doctest: +SKIP
>>> first, second = augmentation.pair(data)                                # doctest: +SKIP

torch and torch_geometric are imported here and nowhere else in the package.
"""

from __future__ import annotations

import copy
import hashlib
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

from ._arrays import edge_weights
from ._augmentation import Augmentation, View
from ._augmentation import SpectralAugmentation as _SpectralAugmentation
from ._dataset import Dataset
from ._errors import DataError, FiedlerError
from ._labels import read_labels
from ._progress import Progress
from ._reading import feature_parts, from_pairs

if TYPE_CHECKING:
    from typing import Self

__all__ = ["SpectralAugmentation", "from_data", "pygcl_augmentor", "to_data"]

_MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}


def from_data(data: Data | list[Data]) -> Dataset:
    """The dataset of a `Data`, or of a list of them as a set of graphs.

    ``x`` becomes features, ``y`` labels (of graphs, where each has one value for a whole graph), ``edge_weight`` weights, ``edge_attr`` features of
    edges, and masks the split ``public``. Edges that stand in one direction only are taken as undirected, with a warning.
    """
    graphs = [data] if isinstance(data, (Data, HeteroData)) else list(data)
    dataset, ends = _edges(graphs, quiet=False)
    return _with_parts(dataset, graphs, ends)


def _edges(graphs: list[Data], *, quiet: bool) -> tuple[Dataset, NDArray[np.int64]]:
    """The graphs with nothing but their edges; and the two ends of all of them, as they were given."""
    if not graphs:
        raise DataError("the list is empty; expected at least one graph")
    for graph in graphs:
        if isinstance(graph, HeteroData):
            raise DataError("the graph has several kinds of nodes or edges", hint="make it one kind: data.to_homogeneous()")
        if getattr(graph, "edge_index", None) is None:
            hint = "convert adj_t first: data.edge_index = torch.stack(data.adj_t.t().coo()[:2])" if "adj_t" in graph else None
            raise DataError("the data have no edge_index", hint=hint)
    sizes = [int(graph.num_nodes or 0) for graph in graphs]
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
    for graph, size in zip(graphs, sizes, strict=True):
        ids = graph.edge_index
        if ids.dtype.is_floating_point or ids.dim() != 2 or ids.shape[0] != 2:
            raise DataError(f"edge_index is {ids.dtype} of {tuple(ids.shape)}; expected whole numbers of 2 × E")
        if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= size):
            wrong = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
            raise DataError(f"a node id of edge_index is {wrong}; expected ids from 0 to {size - 1}", hint="set data.num_nodes")
    parts = [graph.edge_index.detach().cpu().numpy().astype(np.int64) + start for graph, start in zip(graphs, starts, strict=True)]
    ends = np.concatenate(parts, axis=1)
    weights = _of_all(graphs, "edge_weight")
    dataset = from_pairs(
        ends[0],
        ends[1],
        sizes=sizes,
        weights=None if weights is None else edge_weights(weights.reshape(-1)),
        directed=True,
        quiet=quiet,
        name="data" if len(graphs) == 1 else "graphs",
    )
    return dataset, ends


def _with_parts(dataset: Dataset, graphs: list[Data], ends: NDArray[np.int64]) -> Dataset:
    given: dict[str, Any] = {}
    x = _of_all(graphs, "x")
    if x is not None:
        given.update(feature_parts(x, dataset.nodes))
    attributes = _of_all(graphs, "edge_attr")
    if attributes is not None:
        attributes = np.ascontiguousarray(attributes.reshape(len(attributes), -1), dtype=np.float32)
        places = _columns(ends, dataset.nodes, dataset.edge_pairs().T)
        given["edges"] = np.ascontiguousarray(attributes[places])
    y = _of_all(graphs, "y")
    if y is not None:
        of_graphs = len(graphs) > 1 and len(y) == len(graphs)
        if of_graphs or len(y) == dataset.nodes:
            given["graph_labels" if of_graphs else "node_labels"] = read_labels(y)
    if len(graphs) == 1:
        splits = _splits(graphs[0])
        if splits:
            given["splits"] = splits
    return Dataset(dataset._raw.replaced(**given)) if given else dataset


def _of_all(graphs: list[Data], name: str) -> Any:
    """An attribute that all graphs have, row after row; none where not all have it."""
    found: list[Any] = [graph[name] if name in graph else None for graph in graphs]
    if not all(isinstance(value, Tensor) for value in found):
        return None
    arrays = []
    for value in found:
        if value.is_sparse or value.layout == torch.sparse_csr:
            value = value.to_dense()
        arrays.append(value.detach().cpu().numpy())
    arrays = [array.reshape(1) if array.ndim == 0 else array for array in arrays]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _splits(data: Data) -> list[Any]:
    masks = {part: data[name].detach().cpu().numpy() for name, part in _MASKS.items() if name in data and data[name] is not None}
    if "train" not in masks:
        return []
    columns = masks["train"].shape[1] if masks["train"].ndim == 2 else None
    nobody = np.empty(0, dtype=np.int64)
    found = []
    for column in range(1 if columns is None else columns):
        ids = {
            part: np.flatnonzero(mask if mask.ndim == 1 else mask[:, column]).astype(np.int64)
            for part, mask in masks.items()
        }
        name = "public" if columns is None else f"split-{column}"
        found.append((name, ids["train"], ids.get("validation", nobody), ids.get("test", nobody), nobody))
    return found


def to_data(dataset: Dataset) -> Data | list[Data]:
    """The `Data` of a dataset of one graph, or a list of them of a set."""
    if len(dataset) > 1:
        return [_one(graph) for graph in dataset]
    return _one(dataset)


def _one(dataset: Dataset) -> Data:
    data = Data(edge_index=torch.from_numpy(dataset.edge_index()), num_nodes=dataset.nodes)
    features: Any = dataset.features
    if features is not None:
        data.x = torch.from_numpy(features.toarray() if hasattr(features, "toarray") else features)
    if dataset.labels is not None:
        data.y = torch.from_numpy(dataset.labels)
    weights = dataset._raw.csr()[2]
    if weights is not None:
        data.edge_weight = torch.from_numpy(weights)
    edge_features: Any = dataset.edge_features
    if edge_features is not None:
        rows = edge_features.toarray() if hasattr(edge_features, "toarray") else edge_features
        pairs = dataset.edge_pairs().T
        data.edge_attr = torch.from_numpy(rows[_columns(pairs, dataset.nodes, dataset.edge_index())])
    for name, parts in dataset.splits.items():
        prefix = "" if len(dataset.splits) == 1 else f"{name}_"
        for mask, part in _MASKS.items():
            marked = torch.zeros(dataset.nodes, dtype=torch.bool)
            marked[torch.from_numpy(parts[part])] = True
            data[prefix + mask] = marked
    return data


def _columns(given: NDArray[np.int64], nodes: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each wanted edge its column among those given, in the same direction if there is one, else in the other."""
    def keys(ends: NDArray[np.int64]) -> NDArray[np.int64]:
        places: NDArray[np.int64] = ends[0] * nodes + ends[1]
        return places

    both = np.concatenate([given, given[::-1]], axis=1)
    found, first = np.unique(keys(both), return_index=True)
    places: NDArray[np.int64] = first[np.searchsorted(found, keys(wanted))] % given.shape[1]
    return places


@functional_transform("fiedler_spectral_augmentation")
class SpectralAugmentation(BaseTransform):  # type: ignore[misc]
    """Views that change the graph's spectrum most within a budget, as a transform.

    Parameters
    ----------
    scheme
        A scheme; see `fiedler.schemes`.
    view
        Which of its two views the transform gives, 0 or 1. Two transforms of one pair share an `augmentation`.
    ratio
        Flips in expectation, as a share of the edges.
    augmentation
        An augmentation of `fiedler`, in place of `scheme`, `ratio` and `settings`.
    generator
        Where seeds of views are drawn from; by default torch's own, which differs between the workers of a `DataLoader`.
    **settings
        Further settings of the scheme, as `fiedler.SpectralAugmentation` takes them.

    The nodes stay, and so do ``x``, ``y`` and masks. Attributes of edges go with their edges; those of an edge that was added are 0, its
    ``edge_weight`` is 1. Where the scheme drops nodes, ``kept_nodes`` marks those that are left.
    """

    # The tensor that was met last, its version, and which graph it is of: most calls are about the same one.
    _last: tuple[weakref.ref[Tensor], int, int] | None
    # Which graph each content of an `edge_index` is of.
    _hashes: dict[bytes, int]

    def __init__(
        self,
        scheme: str = "opposite",
        *,
        view: int = 0,
        ratio: float = 0.3,
        augmentation: Augmentation | None = None,
        generator: torch.Generator | None = None,
        **settings: Any,
    ) -> None:
        if augmentation is None and scheme in ("opposite", "single", "double"):
            augmentation = _SpectralAugmentation(scheme, ratio=ratio, **settings)
        elif augmentation is None:
            random_state = settings.pop("random_state", 0)
            augmentation = Augmentation({"name": scheme, "ratio": ratio, **settings}, random_state=random_state)
        self.augmentation = augmentation
        self.view = view
        self.generator = generator
        self._graphs: dict[str, int] = {}
        self._count = 0
        self._forget()
        if augmentation._scheme is not None:
            self._remember()

    def fit(self, data: Data | list[Data], *, progress: Progress = False) -> Self:
        """Computes the scheme for a graph, or for every graph of a list."""
        self.augmentation.fit(from_data(data), progress=progress)
        self._remember()
        return self

    def forward(self, data: Data) -> Data:
        """One view of a graph that the scheme was computed for."""
        attributes = _edge_attributes(data)
        (view,) = self._draw(data, [self.view], self._seed(), attributes)
        return self._applied(data, view, attributes)

    def pair(self, data: Data) -> tuple[Data, Data]:
        """Both views of a graph, drawn at the same time; `data` itself stays as it is."""
        attributes = _edge_attributes(data)
        first, second = self._draw(data, [0, 1], self._seed(), attributes)
        return self._applied(copy.copy(data), first, attributes), self._applied(copy.copy(data), second, attributes)

    def _seed(self) -> int:
        return int(torch.randint(1 << 62, (), generator=self.generator))

    def _draw(self, data: Data, views: list[int], seed: int, attributes: list[str]) -> list[View]:
        graph = self._find(data)
        return self.augmentation._draw(views, graphs=None if self._count == 1 else [graph], seed=seed, places=bool(attributes))

    def _applied(self, data: Data, view: View, attributes: list[str]) -> Data:
        before: Tensor = data.edge_index
        edge_index = torch.from_numpy(view.edge_index)
        if attributes:
            kept, places = self._places(before, view, int(data.num_nodes))
            for key in attributes:
                value = data[key]
                rows = value.new_zeros((edge_index.shape[1], *value.shape[1:]))
                if key == "edge_weight":
                    rows.fill_(1)
                rows[kept] = value[places]
                data[key] = rows
        if view.self_weight is not None:
            loops = torch.arange(len(view.self_weight)).repeat(2, 1)
            edge_index = torch.cat([edge_index, loops], dim=1)
            weights = np.ones(view.edge_index.shape[1], dtype=np.float32) if view.edge_weight is None else view.edge_weight
            data.edge_weight = torch.from_numpy(np.concatenate([weights, view.self_weight])).to(before.device)
        if "num_nodes" not in data and "x" not in data:
            # Without features the number of nodes would follow from the edges that are left.
            data.num_nodes = view.num_nodes
        data.edge_index = edge_index.to(before.device)
        if view.kept_nodes is not None:
            data.kept_nodes = torch.from_numpy(view.kept_nodes).to(before.device)
        return data

    def _places(self, before: Tensor, view: View, nodes: int) -> tuple[Tensor, Tensor]:
        """Which edges of a view were there before, and where they stand in the user's `edge_index`."""
        kept = np.flatnonzero(view.edge_ids >= 0)
        given = before.detach().cpu().numpy()
        places = _columns(given, nodes, view.edge_index[:, kept])
        return torch.from_numpy(kept).to(before.device), torch.from_numpy(places).to(before.device)

    def _find(self, data: Data) -> int:
        """Which of the scheme's graphs this is, by its edges."""
        if self.augmentation._scheme is None:
            raise FiedlerError("the transform has no graph yet", hint="call fit(data) first")
        if isinstance(data, HeteroData):
            raise DataError("the graph has several kinds of nodes or edges", hint="make it one kind: data.to_homogeneous()")
        if data.edge_index is None:
            raise DataError("the data have no edge_index")
        edge_index: Tensor = data.edge_index
        last, version = self._last, int(edge_index._version)
        if last is not None and last[1] == version and last[0]() is edge_index:
            return last[2]
        key = _hash(edge_index, int(data.num_nodes or 0))
        graph = self._hashes.get(key)
        if graph is None:
            bare = Data(edge_index=edge_index, num_nodes=data.num_nodes)
            if "edge_weight" in data and data.edge_weight is not None:
                bare.edge_weight = data.edge_weight
            graph = self._graphs.get(_edges([bare], quiet=True)[0].fingerprint)
            if graph is None:
                raise DataError(
                    "the scheme was not computed for this graph: no graph that fit was called with has its edges",
                    hint="fit it to all graphs that views are drawn of, before other transforms change their edges",
                )
            self._hashes[key] = graph
        self._last = (weakref.ref(edge_index), version, graph)
        return graph

    def _remember(self) -> None:
        dataset = self.augmentation.dataset_
        if len(dataset) == 1:
            self._graphs = {dataset.fingerprint: 0}
        else:
            # Equal graphs have equal probabilities: any of them does.
            self._graphs = {graph.fingerprint: number for number, graph in enumerate(dataset)}
        self._count = len(dataset)
        self._forget()

    def _forget(self) -> None:
        self._hashes = {}
        self._last = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        # References to the tensors of one process mean nothing to another.
        state["_last"] = None
        return state

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.augmentation!r}, view={self.view})"


def _edge_attributes(data: Data) -> list[str]:
    """Names of the tensors that have a row for each edge, but for `edge_index` itself."""
    others = [key for key in data.keys() if key not in ("edge_index", "x", "y", "num_nodes", *_MASKS)]
    return [key for key in others if isinstance(data[key], Tensor) and data.is_edge_attr(key)]


def _hash(edge_index: Tensor, nodes: int) -> bytes:
    content = edge_index.detach().cpu().contiguous().numpy()
    return hashlib.blake2b(content.view(np.uint8).data, digest_size=16, salt=nodes.to_bytes(16, "little")).digest()


def pygcl_augmentor(augmentation: SpectralAugmentation, view: int = 0) -> Any:
    """An augmentor of PyGCL that draws one view of a fitted transform: PyGCL has to be installed."""
    from GCL.augmentors.augmentor import Augmentor, Graph

    class SpectralAugmentor(Augmentor):  # type: ignore[misc]
        def augment(self, g: Any) -> Any:
            x, edge_index, weights = g.unfold()
            data = Data(x=x, edge_index=edge_index, num_nodes=x.shape[0])
            if weights is not None:
                data.edge_weight = weights
            attributes = _edge_attributes(data)
            (found,) = augmentation._draw(data, [view], augmentation._seed(), attributes)
            drawn = augmentation._applied(data, found, attributes)
            return Graph(x=x, edge_index=drawn.edge_index, edge_weights=drawn.edge_weight if "edge_weight" in drawn else None)

    return SpectralAugmentor()

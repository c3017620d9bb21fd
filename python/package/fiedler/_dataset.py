"""Datasets: graphs and what is known of them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _fiedler
from ._errors import DataWarning
from ._progress import Progress, watched

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Dataset:
    """One graph or many, with features, labels and splits. Made by `fiedler.read`; it does not change.

    A set of graphs is held as one block-diagonal graph: the nodes of all graphs have ids one after the other.

    Examples
    --------
    >>> import fiedler
    >>> karate = fiedler.read("karate")
    >>> karate
    Dataset('karate', nodes=34, edges=78)
    >>> karate.adjacency().shape
    (34, 34)
    """

    def __init__(self, raw: _fiedler.RawDataset) -> None:
        self._raw = raw

    @property
    def name(self) -> str:
        """Short name, from the file or the catalogue."""
        return self._raw.name

    @property
    def nodes(self) -> int:
        """Number of nodes of all graphs."""
        return self._raw.num_nodes

    @property
    def edges(self) -> int:
        """Number of undirected edges of all graphs."""
        return self._raw.num_edges

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the edges and their weights: equal for equal graphs."""
        return self._raw.fingerprint

    @property
    def notes(self) -> list[str]:
        """What reading noticed."""
        return self._raw.notes

    @cached_property
    def features(self) -> csr_array | NDArray[np.float32] | None:
        """A row for each node: a `csr_array` where most values are zero, else an array; `None` without features."""
        return _matrix(self._raw.features())

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns of features, where they have any."""
        return self._raw.feature_names

    @cached_property
    def edge_features(self) -> csr_array | NDArray[np.float32] | None:
        """A row for each undirected edge, in the order of `edge_pairs`."""
        return _matrix(self._raw.edge_features())

    @cached_property
    def labels(self) -> NDArray[Any] | None:
        """Labels of graphs where there are any, else of nodes.

        Classes are numbers from 0, in the order of `class_names`, and -1 where one is not known. Answers of several yes-or-no questions
        and real values are `float32`, NaN where one is not known.
        """
        found = self._labels
        if found is None:
            return None
        if "codes" in found:
            codes: NDArray[np.int64] = found["codes"]
            return codes
        values: NDArray[np.float32] = found["values"]
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    def class_names(self) -> list[str] | None:
        """Names of the classes, or of the columns of labels."""
        return None if self._labels is None else list(self._labels["names"])

    @cached_property
    def _labels(self) -> Any:
        of_graphs = self._raw.labels(True)
        return self._raw.labels(False) if of_graphs is None else of_graphs

    @cached_property
    def splits(self) -> Mapping[str, Mapping[str, NDArray[np.int64]]]:
        """Divisions that came with the data, by name: `train`, `validation`, `test`, of nodes or, in a set, of graphs."""
        parts = ("train", "validation", "test", "stopping")
        return {
            name: {part: ids for part, ids in zip(parts, arrays, strict=True) if part != "stopping" or len(ids)}
            for name, arrays in self._raw.splits()
        }

    @cached_property
    def node_names(self) -> NDArray[Any] | None:
        """The user's own names of nodes, where they are not 0, 1, 2 …."""
        names = self._raw.names()
        return None if names is None else np.asarray(names)

    @cached_property
    def node_offsets(self) -> NDArray[np.int64]:
        """Where the nodes of each graph start, and the end of the last: PyTorch Geometric's `ptr`."""
        return self._raw.node_offsets()

    def __len__(self) -> int:
        """Number of graphs."""
        return self._raw.num_graphs

    def __getitem__(self, graph: int | slice) -> Dataset:
        """One graph of a set by itself, or a slice of the set."""
        count = len(self)
        if isinstance(graph, slice):
            chosen = range(count)[graph]
            if not chosen:
                raise IndexError(f"no graph is in {graph}; {self.name} has {count}")
            return Dataset(self._raw.select(list(chosen)))
        at = graph + count if graph < 0 else graph
        if not 0 <= at < count:
            raise IndexError(f"there is no graph {graph}; {self.name} has {count}")
        return Dataset(self._raw.graph(at))

    def __iter__(self) -> Iterator[Dataset]:
        return (self[graph] for graph in range(len(self)))

    def __repr__(self) -> str:
        graphs = f", graphs={len(self)}" if len(self) != 1 else ""
        return f"Dataset({self.name!r}, nodes={self.nodes}, edges={self.edges}{graphs})"

    def adjacency(self) -> csr_array:
        """The adjacency matrix, `float32`; entries are 1 where edges have no weights."""
        from scipy.sparse import csr_array

        indptr, indices, weights = self._raw.csr()
        data = np.ones(len(indices), dtype=np.float32) if weights is None else weights
        return csr_array((data, indices, indptr), shape=(self.nodes, self.nodes))

    def edge_index(self) -> NDArray[np.int64]:
        """Sources and targets of all edges, each edge in both directions: PyTorch Geometric's `edge_index`."""
        return self._raw.edge_index()

    def edge_pairs(self) -> NDArray[np.int64]:
        """Every undirected edge once, lower id first, ascending: an array of edges × 2."""
        both = self.edge_index()
        return np.ascontiguousarray(both[:, both[0] < both[1]].T)

    def to_networkx(self) -> Any:
        """The graph of networkx, its nodes under the user's own names."""
        import networkx

        graph = networkx.Graph(name=self.name)
        names = None if self.node_names is None else self.node_names.tolist()
        graph.add_nodes_from(range(self.nodes) if names is None else names)
        adjacency = self.adjacency()
        pairs = self.edge_pairs()
        weighted = self._raw.csr()[2] is not None
        for low, high in pairs.tolist():
            ends = (low, high) if names is None else (names[low], names[high])
            if weighted:
                graph.add_edge(*ends, weight=float(adjacency[low, high]))
            else:
                graph.add_edge(*ends)
        labels = self._raw.labels(False)
        if labels is not None and "codes" in labels:
            for node, label in zip(list(graph), labels["codes"].tolist(), strict=True):
                graph.nodes[node]["label"] = label
        return graph

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the dataset in the format that the name of the path asks for, as `fiedler convert` does.

        What the format has no place for is left out with a `DataWarning`.
        """
        for note in self._raw.write(os.fspath(path), force):
            warnings.warn(note, DataWarning, stacklevel=2)

    def summary(self, *, spectrum: bool = False, progress: Progress = False) -> dict[str, Any]:
        """Figures of the dataset, as `fiedler inspect --json` prints them.

        >>> import fiedler
        >>> fiedler.read("karate").summary()["components"]
        1
        """
        with watched(progress) as told:
            found: dict[str, Any] = json.loads(self._raw.summary(spectrum, told))
        return found

    def _repr_html_(self) -> str:
        from html import escape

        labels = "no labels" if self.class_names is None else f"{len(self.class_names)} classes or columns of labels"
        features = self.features
        shape = "no features" if features is None else f"{features.shape[1]} features"
        return (
            f"<b>{escape(self.name)}</b>: {len(self)} graph{'s' * (len(self) != 1)}, {self.nodes} nodes, {self.edges} edges, "
            f"{shape}, {labels}"
        )

    def __reduce__(self) -> Any:
        return _restore, (self._state(),)

    def _state(self) -> dict[str, Any]:
        indptr, indices, weights = self._raw.csr()
        return {
            "name": self.name,
            "csr": (indptr, indices, weights),
            "sizes": np.diff(self.node_offsets).tolist(),
            "features": self._raw.features(),
            "feature_names": self.feature_names,
            "edge_features": self._raw.edge_features(),
            "node_labels": self._raw.labels(False),
            "graph_labels": self._raw.labels(True),
            "splits": [(name, *arrays) for name, arrays in self._raw.splits()],
            "names": self._raw.names(),
        }


def _matrix(found: Any) -> Any:
    if isinstance(found, tuple):
        from scipy.sparse import csr_array

        data, indices, indptr, columns = found
        return csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
    return found


def _restore(state: dict[str, Any]) -> Dataset:
    """The dataset that was pickled."""
    indptr, indices, weights = state["csr"]
    if len(state["sizes"]) == 1:
        raw, _ = _fiedler.dataset_from_csr(state["name"], indptr, indices, weights)
    else:
        sources = np.repeat(np.arange(len(indptr) - 1, dtype=indices.dtype), np.diff(indptr))
        raw, _ = _fiedler.dataset_from_pairs(state["name"], state["sizes"], sources, indices, weights)
    parts: dict[str, Any] = {}
    features, edges, names = state["features"], state["edge_features"], state["names"]
    if isinstance(features, tuple):
        data, columns_of, places, columns = features
        parts["sparse"] = (columns, places, columns_of, data)
    elif features is not None:
        parts["dense"] = features
    if edges is not None:
        dense = _matrix(edges)
        parts["edges"] = np.ascontiguousarray(dense.toarray() if isinstance(edges, tuple) else dense, dtype=np.float32)
    if names is not None:
        parts["names"] = list(names) if not hasattr(names, "tolist") else names.tolist()
    for part in ("feature_names", "node_labels", "graph_labels"):
        if state[part] is not None:
            parts[part] = {"codes": None, "values": None, **state[part]} if part.endswith("labels") else state[part]
    if state["splits"]:
        parts["splits"] = state["splits"]
    return Dataset(raw.replaced(**parts))

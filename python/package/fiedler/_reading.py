"""From whatever holds a graph to a dataset."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _fiedler
from ._arrays import as_array, as_float32, as_ids, check_finite, edge_weights, warn, warn_of_merging
from ._dataset import Dataset
from ._errors import DataError, DataWarning, SettingError
from ._labels import read_labels
from ._progress import Progress, watched

_MOST_NODES = (1 << 31) - 1

GraphLike = Any
"""A `Dataset`, a scipy sparse matrix, an array (`edge_index` or a square matrix), a graph of networkx or igraph, a frame of edges of pandas,
a `Data` of PyTorch Geometric, a list of these, a path, a name such as ``"cora"``, or a generator such as ``"sbm:nodes=500"``."""


def read(
    source: GraphLike,
    /,
    *,
    features: Any = None,
    labels: Any = None,
    format: str | None = None,
    fetch: bool = True,
    num_nodes: int | None = None,
    columns: Sequence[str] = (),
    attributes: bool = False,
    unweighted: bool = False,
    duplicates: str | None = None,
    fill: str | None = None,
    target: str | None = None,
    random_state: int = 0,
    progress: Progress = False,
) -> Dataset:
    """Reads, finds, makes or takes over a graph or a set of graphs.

    Parameters
    ----------
    source
        A path, a name of `fiedler.datasets`, a generator such as ``"sbm:nodes=500,classes=4"``; or what holds a graph already: a scipy
        sparse matrix, an ``edge_index`` array or tensor of 2 × E, a square matrix, a graph of networkx or igraph, a pandas frame whose
        first two columns are the ends of edges, a `Data` of PyTorch Geometric; or a list of these.
    features
        A row for each node: an array, a tensor, a frame or a sparse matrix; of a path, also a csv, npy or parquet file.
    labels
        One for each node, or for each graph of a set: whole numbers and words are classes, fractions are values; of a path, also a file.
    format
        Format of the path, where looking at it does not tell; see `fiedler.formats`.
    fetch
        Whether a dataset of the catalogue that is not on this machine is downloaded.
    num_nodes
        Number of nodes of an ``edge_index``, where the last ones have no edges.
    columns, attributes, unweighted, duplicates, fill, target
        As the flags ``--targets``, ``--attributes``, ``--unweighted``, ``--duplicates``, ``--fill`` and ``--target`` of the program.
    random_state
        Seed of a generator.
    progress
        Whether a bar is shown; or a function that is called with what is done, how far it is, and of how much.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import fiedler, numpy
    >>> fiedler.read("karate")
    Dataset('karate', nodes=34, edges=78)
    >>> fiedler.read(numpy.array([[0, 1, 1, 2], [1, 0, 2, 1]]))
    Dataset('graph', nodes=3, edges=2)
    """
    if isinstance(source, (str, os.PathLike)):
        options = {
            "format": format,
            "columns": list(columns),
            "attributes": attributes,
            "unweighted": unweighted,
            "fill": fill,
            "target": target,
        }
        if duplicates is not None:
            options["duplicates"] = duplicates
        for name, given in (("features", features), ("labels", labels)):
            if isinstance(given, (str, os.PathLike)):
                options[name] = os.fspath(given)
        with watched(progress) as told:
            raw = _fiedler.open_dataset(os.fspath(source), json.dumps(options), random_state, fetch, told)
        for note in raw.notes:
            warnings.warn(note, DataWarning, stacklevel=2)
        dataset = Dataset(raw)
        features, labels = (None if isinstance(given, (str, os.PathLike)) else given for given in (features, labels))
        return with_parts(dataset, features, labels)
    options_given = [name for name, given in (("format", format), ("fill", fill), ("target", target)) if given is not None]
    if options_given:
        raise SettingError(f"{options_given[0]} says how a file is read, and this is none", setting=options_given[0])
    dataset = as_dataset(source, num_nodes=num_nodes, features=features, labels=labels)
    return dataset


def as_dataset(
    source: GraphLike, *, num_nodes: int | None = None, features: Any = None, labels: Any = None, random_state: int = 0
) -> Dataset:
    """The dataset of anything that `read` takes."""
    if isinstance(source, Dataset):
        return with_parts(source, features, labels)
    if isinstance(source, (str, os.PathLike)):
        return read(source, features=features, labels=labels, random_state=random_state)
    if source is None:
        raise DataError("there is no graph: None was given", hint="give a graph, a path or a name")
    if num_nodes is None and features is not None and hasattr(features, "shape") and len(features.shape) == 2:
        num_nodes = features.shape[0]
    kind = type(source).__module__.partition(".")[0]
    if kind == "torch_geometric":
        from .pyg import from_data

        return with_parts(from_data(source), features, labels)
    if hasattr(source, "tocsr"):
        dataset = from_sparse(source)
    elif kind == "networkx" or (hasattr(source, "adj") and hasattr(source, "is_directed")):
        dataset = from_networkx(source)
    elif kind == "igraph":
        dataset = from_igraph(source)
    elif hasattr(source, "columns") and hasattr(source, "iloc"):
        dataset = from_frame(source)
    elif isinstance(source, (list, tuple)) and not _is_pairs(source):
        dataset = from_list(source)
    else:
        dataset = from_array(source, num_nodes)
    return with_parts(dataset, features, labels)


def with_parts(dataset: Dataset, features: Any, labels: Any) -> Dataset:
    """The dataset with other features or labels."""
    parts: dict[str, Any] = {}
    if features is not None:
        parts.update(feature_parts(features, dataset.nodes))
    if labels is not None:
        of_graphs = len(dataset) > 1 and len(labels) == len(dataset)
        expected = len(dataset) if of_graphs else dataset.nodes
        if len(labels) != expected:
            what = f"{dataset.nodes} nodes" + (f" or {len(dataset)} graphs" if len(dataset) > 1 else "")
            raise DataError(f"there are {len(labels)} labels; expected one for each of {what}")
        parts["graph_labels" if of_graphs else "node_labels"] = read_labels(labels)
    return Dataset(dataset._raw.replaced(**parts)) if parts else dataset


def feature_parts(features: Any, rows: int) -> dict[str, Any]:
    """Features as the library takes them."""
    parts: dict[str, Any] = {}
    if hasattr(features, "tocsr"):
        matrix = features.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        data = as_float32(matrix.data, "features")
        parts["sparse"] = (matrix.shape[1], as_ids(matrix.indptr), as_ids(matrix.indices), data)
        shape = matrix.shape
    else:
        if hasattr(features, "columns") and hasattr(features, "to_numpy"):
            parts["feature_names"] = [str(name) for name in features.columns]
        array = as_array(features, "features")
        if array.ndim == 1:
            array = array.reshape(-1, 1)
        if array.ndim != 2:
            raise DataError(f"features have {array.ndim} dimensions; expected a matrix with a row for each node")
        parts["dense"] = as_float32(array, "features")
        shape = array.shape
    if shape[0] != rows:
        raise DataError(f"features have {shape[0]} rows; expected {rows}, one for each node")
    return parts


def from_sparse(matrix: Any, *, what: str = "the matrix") -> Dataset:
    """The graph of a scipy sparse matrix. What is valid already is taken over; its indices are copied once."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " × ".join(map(str, matrix.shape))
        raise DataError(
            f"{what} is {shape}; expected an adjacency matrix, which is square",
            hint="give features with features=; to validate over nodes, embed the whole graph and use fiedler.evaluate",
        )
    rows = matrix.tocsr()
    places = rows.indptr
    if len(places) != rows.shape[0] + 1 or places[0] != 0 or places[-1] != len(rows.indices) or (places[1:] < places[:-1]).any():
        raise DataError(f"the rows of {what} do not fit its entries; expected a valid CSR matrix", hint="see matrix.check_format()")
    if rows.nnz and not np.all(rows.data):
        rows = rows.copy()
        rows.eliminate_zeros()
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()
    weights = edge_weights(rows.data)
    raw, report = _fiedler.dataset_from_csr("graph", as_ids(rows.indptr), as_ids(rows.indices), weights)
    if report is not None:
        told = json.loads(report)
        one_way = told["edges"] - told["mirrored"]
        if one_way:
            warn(f"{what} is not symmetric: {one_way} of its {told['edges']} edges stand in one direction only and are taken as undirected")
        warn_of_merging(told)
    return Dataset(raw)


def from_array(source: Any, num_nodes: int | None) -> Dataset:
    """The graph of an `edge_index`, of pairs, or of a square matrix."""
    if getattr(source, "is_sparse", False) or getattr(source, "layout", None).__str__() == "torch.sparse_csr":
        return _from_sparse_tensor(source)
    array = as_array(source, "the graph")
    if array.ndim != 2:
        raise DataError(
            f"the array has {array.ndim} dimensions; expected an edge_index of 2 × E, or a square matrix",
            hint="of several graphs, give a list",
        )
    whole = array.dtype.kind in "iu"
    if whole and array.shape[0] == 2:
        return from_pairs(array[0], array[1], num_nodes)
    if array.shape[0] == array.shape[1]:
        from scipy.sparse import csr_array

        check_finite(array, "the matrix")
        return from_sparse(csr_array(array))
    if whole and array.shape[1] == 2:
        return from_pairs(array[:, 0], array[:, 1], num_nodes)
    shape = " × ".join(map(str, array.shape))
    if not whole and 2 in array.shape:
        raise DataError(
            f"the array of {shape} holds {array.dtype}; expected whole numbers, for ids of nodes",
            hint="convert it with .astype(numpy.int64)",
        )
    raise DataError(
        f"the array is {shape}; expected an edge_index of 2 × E, or a square matrix",
        hint="give features with features=; to validate over nodes, embed the whole graph and use fiedler.evaluate",
    )


def from_pairs(
    sources: Any,
    targets: Any,
    num_nodes: int | None = None,
    *,
    sizes: list[int] | None = None,
    weights: NDArray[np.float32] | None = None,
    directed: bool = False,
    quiet: bool = False,
    name: str = "graph",
) -> Dataset:
    """The graph of the two ends of edges. Where `directed`, edges that stand in one direction only are worth a warning, unless `quiet`."""
    sources, targets = as_ids(np.asarray(sources)), as_ids(np.asarray(targets))
    highest = max((int(ids.max()) for ids in (sources, targets) if ids.size), default=-1)
    if highest >= _MOST_NODES:
        raise DataError(f"a node id is {highest}; expected a whole number below {_MOST_NODES}", hint="number the nodes from 0")
    if sizes is None:
        count = highest + 1 if num_nodes is None else int(num_nodes)
        if highest >= count:
            raise DataError(f"a node id is {highest}; expected ids below {count}, the number of nodes")
        sizes = [count]
    raw, report = _fiedler.dataset_from_pairs(name, sizes, sources, targets, weights)
    if quiet:
        return Dataset(raw)
    told = json.loads(report)
    one_way = told["edges"] - told["mirrored"]
    if directed and one_way:
        warn(f"the graph is directed: {one_way} of its {told['edges']} edges stand in one direction only and are taken as undirected")
    warn_of_merging(told)
    return Dataset(raw)


def from_networkx(graph: Any) -> Dataset:
    """The graph of networkx; its nodes keep their names."""
    names = list(graph)
    place = {name: at for at, name in enumerate(names)}
    edges = list(graph.edges(data="weight"))
    sources = np.fromiter((place[edge[0]] for edge in edges), dtype=np.int64, count=len(edges))
    targets = np.fromiter((place[edge[1]] for edge in edges), dtype=np.int64, count=len(edges))
    given = [edge[2] for edge in edges]
    weights = None
    if any(weight is not None for weight in given):
        weights = edge_weights(np.array([1.0 if weight is None else weight for weight in given], dtype=np.float64))
    dataset = from_pairs(sources, targets, len(names), weights=weights, directed=bool(graph.is_directed()))
    return with_names(dataset, names)


def from_igraph(graph: Any) -> Dataset:
    """The graph of igraph; its vertices keep the names in their attribute `name`."""
    pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = edge_weights(np.array(graph.es["weight"], dtype=np.float64)) if "weight" in graph.es.attributes() else None
    dataset = from_pairs(pairs[:, 0], pairs[:, 1], graph.vcount(), weights=weights, directed=bool(graph.is_directed()))
    return with_names(dataset, graph.vs["name"]) if "name" in graph.vs.attributes() else dataset


def from_frame(frame: Any) -> Dataset:
    """The graph of a pandas frame: a square one is a matrix; of others the first two columns are the ends of edges, a third their weights."""
    rows, columns = frame.shape
    if rows == columns and columns > 3:
        return from_array(frame.to_numpy(), None)
    if columns < 2 or columns > 3:
        raise DataError(
            f"the frame has {columns} columns; expected two, the ends of edges, or three with their weights",
            hint="choose them: frame[['source', 'target']]",
        )
    lower = {str(name).lower(): name for name in frame.columns}
    ends = [lower[name] for name in ("source", "target") if name in lower]
    ends = ends if len(ends) == 2 else list(frame.columns[:2])
    first, second = frame[ends[0]].to_numpy(), frame[ends[1]].to_numpy()
    if frame[ends].isna().any().any():
        raise DataError("an end of an edge is missing in the frame", hint="drop such rows: frame.dropna()")
    names, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    rest = [name for name in frame.columns if name not in ends]
    weights = edge_weights(frame[rest[0]].to_numpy(dtype=np.float64)) if rest else None
    dataset = from_pairs(codes[: len(first)], codes[len(first) :], len(names), weights=weights)
    return with_names(dataset, names.tolist())


def from_list(graphs: Sequence[Any]) -> Dataset:
    """Several graphs as one set."""
    if not graphs:
        raise DataError("the list is empty; expected at least one graph")
    if all(type(graph).__module__.partition(".")[0] == "torch_geometric" for graph in graphs):
        from .pyg import from_data

        return from_data(list(graphs))
    datasets = [as_dataset(graph) for graph in graphs]
    return Dataset(_fiedler.gather_datasets("graphs", [dataset._raw for dataset in datasets]))


def with_names(dataset: Dataset, names: Sequence[Any]) -> Dataset:
    """The dataset whose nodes bear these names."""
    whole = all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names)
    return Dataset(dataset._raw.replaced(names=[int(name) for name in names] if whole else [str(name) for name in names]))


def _from_sparse_tensor(tensor: Any) -> Dataset:
    from scipy.sparse import coo_array

    pairs = tensor.detach().cpu().to_sparse_coo().coalesce()
    indices, values = pairs.indices().numpy(), pairs.values().numpy()
    return from_sparse(coo_array((values, (indices[0], indices[1])), shape=tuple(tensor.shape)))


def _is_pairs(source: Sequence[Any]) -> bool:
    """Whether a list is one of pairs of ids, or of two rows of them."""
    plain = (int, np.integer, float, np.floating)
    return bool(source) and all(isinstance(row, (list, tuple)) and all(isinstance(id, plain) for id in row) for row in source)

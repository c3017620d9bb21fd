"""What PyTorch programs at their best have in common: sparse features, and symmetric propagation with its own backward."""
import os
import pickle
from pathlib import Path


def load(name):
    """Features as scipy CSR and undirected pairs of a dataset of FIEDLER_DATA, in the Planetoid format or as npz."""
    import numpy as np
    import scipy.sparse as sparse

    folder = Path(os.environ["FIEDLER_DATA"]) / name
    if not (folder / f"ind.{name}.graph").exists():
        (file,) = (file for file in folder.glob("*.npz") if "adj_data" in np.load(file, allow_pickle=True).files)
        found = np.load(file, allow_pickle=True)
        part = lambda of: sparse.csr_matrix(
            (found[f"{of}_data"], found[f"{of}_indices"], found[f"{of}_indptr"]), found[f"{of}_shape"]
        )
        ends = part("adj").tocoo()
        pairs = {(min(a, b), max(a, b)) for a, b in zip(ends.row.tolist(), ends.col.tolist()) if a != b}
        return part("attr").astype("float32"), np.array(sorted(pairs))
    parts = {}
    for part in ("allx", "tx", "graph"):
        with open(folder / f"ind.{name}.{part}", "rb") as file:
            parts[part] = pickle.load(file, encoding="latin1")
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=int)
    features = sparse.vstack([parts["allx"], parts["tx"]]).tolil()
    features[test] = features[np.sort(test)]
    pairs = {(min(a, b), max(a, b)) for a, others in parts["graph"].items() for b in others if a != b}
    return features.tocsr().astype("float32"), np.array(sorted(pairs))


def formula(shape):
    """Weights where nothing is random."""
    import torch

    places = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return ((places * 0.7 + 0.3).sin() / shape[0] ** 0.5).float().reshape(shape)


def noise(shape):
    """Weights where nothing is random that look as if they were: rows of an embedding differ."""
    import torch

    places = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return ((((places * 12.9898).sin() * 43758.5453) % 1.0 * 2 - 1) / shape[0] ** 0.5).float().reshape(shape)


def operations(features, pairs):
    """`project(weight)`, the product with the features; `propagation(kept)`, the matrix of the edges that are kept; and
    `propagate(matrix, dense)`."""
    import numpy as np
    import torch

    rows = features.shape[0]

    def csr(matrix):
        matrix = matrix.tocsr()
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr).int(), torch.from_numpy(matrix.indices).int(),
            torch.from_numpy(matrix.data), matrix.shape,
        )

    by_row, by_column = csr(features), csr(features.T)

    class Project(torch.autograd.Function):
        @staticmethod
        def forward(context, weight):
            return by_row @ weight

        @staticmethod
        def backward(context, gradient):
            return by_column @ gradient

    class Propagate(torch.autograd.Function):
        """The matrix is symmetric: its backward is itself."""

        @staticmethod
        def forward(context, matrix, dense):
            context.matrix = matrix
            return matrix @ dense

        @staticmethod
        def backward(context, gradient):
            return None, context.matrix @ gradient

    # Every edge from both ends and every loop, sorted by row, with the number of its edge.
    loops = np.arange(rows)
    ends = np.concatenate([pairs, pairs[:, ::-1], np.stack([loops, loops], 1)])
    numbers = np.concatenate([np.arange(len(pairs))] * 2 + [np.full(rows, len(pairs))])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    row_of, column_of = (torch.from_numpy(ends[order, end].copy()) for end in (0, 1))
    edge_of = torch.from_numpy(numbers[order])

    def propagation(kept_edges):
        kept = torch.cat([kept_edges, torch.ones(1, dtype=torch.bool)])[edge_of]
        row, column = row_of[kept], column_of[kept]
        counts = torch.bincount(row, minlength=rows)
        scale = counts.float().rsqrt()
        offsets = torch.zeros(rows + 1, dtype=torch.int32)
        offsets[1:] = counts.cumsum(0)
        return torch.sparse_csr_tensor(offsets, column.int(), scale[row] * scale[column], (rows, rows))

    return Project.apply, propagation, Propagate.apply

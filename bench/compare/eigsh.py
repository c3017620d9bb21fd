"""Times scipy's eigsh on the normalised Laplacian of an edge list: eigsh.py EDGES K TOLERANCE.

Beside `cargo run --release -p fiedler-spectral --example eigenpairs -- EDGES K TOLERANCE`. Prints wall and processor
seconds and the largest residual, for both ends in one call (which='BE') and in two calls. The tolerance of ARPACK is
relative to the eigenvalue, so it is not the residual; the residual printed is the one to compare.
"""
import sys
import time

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import eigsh


def laplacian(path):
    pairs = np.loadtxt(path, dtype=np.int64)
    nodes = pairs.max() + 1
    upper = sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(nodes, nodes)).tocsr()
    adjacency = upper + upper.T
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    roots = np.divide(1, np.sqrt(degrees), where=degrees > 0, out=np.zeros(nodes))
    scale = sparse.diags(roots)
    return (sparse.identity(nodes) - scale @ adjacency @ scale).tocsr()


def timed(name, matrix, solve):
    wall, processor = time.perf_counter(), time.process_time()
    found = solve()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    worst = max(np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() for values, vectors in found)
    print(f"{name}: {wall:.3f} s ({processor:.3f} s of processor), residual {worst:.1e}", flush=True)


def main():
    path, pairs, tolerance = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    matrix = laplacian(path)
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    options = dict(tol=tolerance, v0=start, maxiter=100_000)
    timed("two calls", matrix, lambda: [eigsh(matrix, pairs, which=end, **options) for end in ("SA", "LA")])
    timed("one call (BE)", matrix, lambda: [eigsh(matrix, 2 * pairs, which="BE", **options)])


if __name__ == "__main__":
    main()

"""Multi-hop features beside the same steps in scikit-learn and scipy: hops.py [DATA ...] [--threads N[,N]] [--rounds N]

The steps: rows of X to length one; centered PCA to 512 by a randomized range finder (as many power iterations on both sides; there
the steps of scikit-learn's randomized_svd, with centering inside the products); for k = 0, 1, 2, 4, 8 the product with P^k, P = D^-1/2 (A + I)
D^-1/2 with self-loops in D; PCA to 102 columns by the covariance (svd_solver="covariance_eigh", as ours decomposes it); rows to length one;
side by side. 32-bit floats on both sides. Where X has no more than twice as many columns as are followed, ours decomposes the covariance
exactly, and so does scikit-learn here.

In turns, the best of the rounds counts for each side and number of threads. Our time is that of fitting and embedding as run.json has it,
theirs starts with X and P in memory; reading is in neither. A faster answer may be a worse one: beside the times stands how alike the two
embeddings are, as the correlation of inner products of random pairs of rows. DATA are cora and amazon-photo by default and must be on this
machine (FIEDLER_DATA); paths of npz files will do. Needs scikit-learn 1.5 or newer.
"""
import argparse
import json
import pathlib
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, svd
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from program import build, fiedler

HOPS = [0, 1, 2, 4, 8]
DIMENSIONS = 512
ITERATIONS = 4
OVERSAMPLES = 10


def read(path):
    """Features and the propagation matrix, from arrays under the gnn-benchmark names."""
    with np.load(path, allow_pickle=False) as arrays:
        def matrix(name):
            if f"{name}_data" not in arrays:
                return sp.csr_matrix(arrays[f"{name}_matrix"])
            parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
            return sp.csr_matrix(parts, shape=tuple(arrays[f"{name}_shape"]))
        adjacency, features = matrix("adj"), matrix("attr").astype(np.float32)
    adjacency = (adjacency + sp.identity(adjacency.shape[0])).tocsr()
    root = sp.diags(1 / np.sqrt(np.asarray(adjacency.sum(1)).ravel()))
    return features, (root @ adjacency @ root).tocsr().astype(np.float32)


def peer(features, propagation):
    features = normalize(features)
    followed = min(DIMENSIONS + OVERSAMPLES, *features.shape)
    wanted = min(DIMENSIONS, *features.shape)
    if features.shape[1] <= 2 * followed:
        z = PCA(wanted, svd_solver="covariance_eigh").fit_transform(features.toarray())
    else:
        z = randomized(features, wanted)
    blocks, done = [], 0
    for hop in HOPS:
        for _ in range(hop - done):
            z = propagation @ z
        done = hop
        block = PCA(min(DIMENSIONS // len(HOPS), z.shape[1]), svd_solver="covariance_eigh").fit_transform(z)
        blocks.append(normalize(block))
    return np.hstack(blocks)


def randomized(features, wanted):
    """Scores of centered sparse features: the steps of scikit-learn's randomized_svd with its normalizer "QR", which takes no operator that
    centers inside its products."""
    mean = np.asarray(features.mean(0), dtype=np.float32).ravel()
    transposed = features.T.tocsr()

    def basis(x):
        return qr(x, mode="economic", overwrite_a=True, check_finite=False)[0]

    def times(x):
        return features @ x - mean @ x

    def back(x):
        return transposed @ x - np.outer(mean, x.sum(0))

    start = np.random.default_rng(0).standard_normal((features.shape[1], wanted + OVERSAMPLES), dtype=np.float32)
    q = basis(times(start))
    for _ in range(ITERATIONS):
        q = basis(times(basis(back(q))))
    u, s, _ = svd(back(q).T, full_matrices=False, check_finite=False)
    return (q @ (u * s))[:, :wanted]


def ours(data, folder, threads):
    run = folder / "run"
    fiedler("embed", data, "--method", "hops", "--recipe", "none", "--dimensions", DIMENSIONS, "--set",
            f"method.pca_iterations={ITERATIONS}", "--no-report", "--force", "--out", run, threads=threads)
    record = json.loads((run / "run.json").read_text())
    return record["result"]["training_seconds"], np.load(run / "embeddings.npy")


def agreement(one, other):
    random = np.random.default_rng(0)
    a, b = random.integers(0, len(one), (2, 20_000))
    return np.corrcoef((one[a] * one[b]).sum(1), (other[a] * other[b]).sum(1))[0, 1]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", nargs="*", default=["cora", "amazon-photo"])
    arguments.add_argument("--threads", default="1,2")
    arguments.add_argument("--rounds", type=int, default=3)
    asked = arguments.parse_args()
    build()
    for data in asked.data:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            fiedler("convert", data, folder / "data.npz")
            features, propagation = read(folder / "data.npz")
            print(f"{data}: {features.shape[0]:,} nodes, {features.shape[1]:,} columns, {features.nnz:,} values", flush=True)
            for threads in map(int, asked.threads.split(",")):
                mine, theirs = [], []
                for _ in range(asked.rounds):
                    seconds, embeddings = ours(data, folder, threads)
                    mine.append(seconds)
                    with threadpool_limits(threads):
                        started = time.perf_counter()
                        others = peer(features, propagation)
                        theirs.append(time.perf_counter() - started)
                print(f"  {threads} threads: fiedler {min(mine):.2f} s, scikit-learn and scipy {min(theirs):.2f} s:"
                      f" {min(theirs) / min(mine):.1f} times as fast; correlation of inner products"
                      f" {agreement(embeddings, others):.4f}", flush=True)


main()

"""Mettack beside DeepRobust's on the same graph, split and surrogate: mettack.py [DATA] [--split FILE] [--flips N] [--ours N] [--threads N]

Both are Meta-Self through 100 steps of a linear GCN of 16 hidden units (rate 0.1, momentum 0.9), start weights drawn anew for each flip, no
degree constraint, raw features, the largest component of DATA. DATA is a path in the layout of gnn-benchmark; without it and without a split
file, the Cora graph and the split of Pro-GNN in the folder FIEDLER_DATA.

Their time is that of `Metattack.attack` for N flips, in single precision as it is; the training of their surrogate for guessed labels is not in it.
Ours is what attack.json has for as many flips as asked for, in double precision; guessing labels is in it. Each side runs in a process of its own,
whose peak memory is told.

Needs torch and DeepRobust 0.2.11 (`pip install --no-deps deeprobust`); modules that its other attacks import and that are not there are passed over.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from program import ROOT, build, fiedler


def read(path):
    """Adjacency, features and labels of the largest component."""
    import numpy as np
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    with np.load(path, allow_pickle=True) as arrays:
        def matrix(name):
            parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
            return sp.csr_matrix(parts, shape=tuple(arrays[f"{name}_shape"]))
        adjacency, labels = matrix("adj"), arrays["labels"]
        # Without features every node is its own, as in Pro-GNN.
        features = matrix("attr") if "attr_data" in arrays else sp.identity(adjacency.shape[0], format="csr")
    adjacency = ((adjacency + adjacency.T) > 0).astype(np.float32).tolil()
    adjacency.setdiag(0)
    adjacency = adjacency.tocsr()
    adjacency.eliminate_zeros()
    part = connected_components(adjacency)[1]
    kept = np.flatnonzero(part == np.bincount(part).argmax())
    return adjacency[kept][:, kept], features[kept].astype(np.float32), labels[kept]


def import_deeprobust():
    """Metattack and GCN of DeepRobust, whatever of the rest cannot be imported."""
    import importlib.abc
    import importlib.machinery
    import importlib.util
    from unittest import mock

    class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        names = {"numba", "gensim", "tensorboardX", "torch_sparse", "torch_scatter", "texttable", "networkx", "matplotlib", "cv2"}

        def find_spec(self, name, path=None, target=None):
            return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in self.names else None

        def create_module(self, spec):
            module = mock.MagicMock(name=spec.name)
            module.__spec__, module.__path__ = spec, []
            return module

        def exec_module(self, module):
            pass

    sys.meta_path.append(Absent())
    from deeprobust.graph.defense.gcn import GCN
    from deeprobust.graph.global_attack.mettack import Metattack
    return GCN, Metattack


def theirs(path, split, flips, threads):
    """Seconds of so many flips, and the flips."""
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    GCN, Metattack = import_deeprobust()
    adjacency, features, labels = read(path)
    parts = json.loads(pathlib.Path(split).read_text())
    train = np.array(parts["idx_train"])
    other = np.array(parts["idx_val"] + parts["idx_test"])
    surrogate = GCN(nfeat=features.shape[1], nclass=int(labels.max()) + 1, nhid=16, dropout=0.5, with_relu=False, with_bias=True,
                    weight_decay=0, lr=0.01, device="cpu")
    surrogate.fit(features, adjacency, labels, train, train_iters=200)
    model = Metattack(surrogate, nnodes=adjacency.shape[0], feature_shape=features.shape, lambda_=0, with_bias=False, device="cpu")
    started = time.perf_counter()
    with open(os.devnull, "w") as nowhere:
        printed, sys.stdout = sys.stdout, nowhere
        # As its documentation does it: sparse features, which it multiplies first.
        model.attack(features, adjacency, labels, train, other, n_perturbations=flips, ll_constraint=False)
        sys.stdout = printed
    seconds = time.perf_counter() - started
    change = model.modified_adj.numpy() - adjacency.toarray()
    pairs = [(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(change)))]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "flips": len(pairs), "peak_bytes": peak, "at_training": sum(i in train or j in train for i, j in pairs)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?")
    parser.add_argument("--split")
    parser.add_argument("--flips", type=int, default=3, help="flips of DeepRobust")
    parser.add_argument("--ours", type=int, default=100, help="flips of ours")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--built", action="store_true", help="the program is built already")
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("FIEDLER_DATA", "."))
    path = arguments.data or str(folder / "attacks/nettack/cora.npz")
    split = arguments.split or str(folder / "attacks/pro-gnn/splits/cora_prognn_splits.json")
    if arguments.theirs:
        return theirs(path, split, arguments.flips, arguments.threads)
    if not arguments.built:
        build()
    edges = read(path)[0].nnz // 2
    with tempfile.TemporaryDirectory() as out:
        ratio = (arguments.ours + 0.5) / edges
        own = fiedler("attack", path, "--largest-component", "--split", split, "--ratio", ratio, "--set", "loss=cross-entropy", "--out",
                      pathlib.Path(out) / "attack", "--json", threads=arguments.threads)
    command = [sys.executable, "-W", "ignore", __file__, path, "--split", split, "--flips", str(arguments.flips), "--threads", str(arguments.threads), "--theirs"]
    peer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    mine, other = own["seconds"] / own["flips"], peer["seconds"] / peer["flips"]
    memory = {"fiedler": own["peak_bytes"], "DeepRobust": peer["peak_bytes"]}
    print(f"{own['data']['nodes']} nodes, {edges} edges, {own['split']['train']} training nodes, {arguments.threads} threads")
    for name, seconds, flips in [("fiedler", mine, own["flips"]), ("DeepRobust", other, peer["flips"])]:
        print(f"{name:11} {seconds:8.3f} s a flip ({flips} flips), {memory[name] / 2**20:7.0f} MiB")
    print(f"ratio: {other / mine:.1f} in time, {memory['DeepRobust'] / memory['fiedler']:.1f} in memory")


if __name__ == "__main__":
    main()

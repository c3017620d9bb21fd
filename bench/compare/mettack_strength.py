"""How far a GCN falls on poisoned graphs of one split: mettack_strength.py CLEAN.npz SPLIT.json GRAPH.npz ... [--seeds N] [--threads N]

CLEAN has features and labels in the layout of gnn-benchmark; its largest component counts. GRAPHs are adjacency matrices saved by scipy.sparse.save_npz:
published ones, or adjacency.npz of `fiedler attack`. The victim is the same for all and has the same seeds: a GCN of 16 hidden units, ReLU, dropout 0.5,
weight decay 5e-4 on the first layer, Adam 0.01, 200 epochs, raw features. Told is the accuracy on test nodes of the state with the best validation accuracy, and of
the last state; mean and sample deviation over seeds. Needs torch.
"""
import argparse
import json
import pathlib

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F

from mettack import read


def propagation(adjacency):
    loops = (adjacency + sp.identity(adjacency.shape[0])).tocoo()
    degrees = np.asarray(loops.sum(1)).ravel() ** -0.5
    values = torch.tensor(loops.data * degrees[loops.row] * degrees[loops.col], dtype=torch.float32)
    indices = torch.tensor(np.vstack([loops.row, loops.col]), dtype=torch.int64)
    return torch.sparse_coo_tensor(indices, values, loops.shape).coalesce().to_sparse_csr()


def victim(operator, features, labels, split, seed, epochs=200, hidden=16):
    torch.manual_seed(seed)
    def glorot(rows, columns):
        weight = torch.empty(rows, columns)
        return torch.nn.init.xavier_uniform_(weight).requires_grad_()
    first, second = glorot(features.shape[1], hidden), glorot(hidden, int(labels.max()) + 1)
    biases = [torch.zeros(hidden, requires_grad=True), torch.zeros(second.shape[1], requires_grad=True)]
    optimizer = torch.optim.Adam([{"params": [first, biases[0]], "weight_decay": 5e-4}, {"params": [second, biases[1]], "weight_decay": 5e-4}], lr=0.01)
    train, validation, test = split

    def forward(training):
        x = operator @ (torch.sparse.mm(features, first)) + biases[0]
        x = F.dropout(F.relu(x), 0.5, training)
        return operator @ (x @ second) + biases[1]

    best, chosen = -1.0, 0.0
    for _ in range(epochs):
        optimizer.zero_grad()
        F.cross_entropy(forward(True)[train], labels[train]).backward()
        optimizer.step()
        with torch.no_grad():
            right = forward(False).argmax(1) == labels
        accuracy, last = right[validation].float().mean().item(), right[test].float().mean().item()
        if accuracy > best:
            best, chosen = accuracy, last
    return 100 * chosen, 100 * last


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clean")
    parser.add_argument("split")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    adjacency, features, labels = read(arguments.clean)
    parts = json.loads(pathlib.Path(arguments.split).read_text())
    split = [torch.tensor(parts[key]) for key in ("idx_train", "idx_val", "idx_test")]
    labels = torch.tensor(labels, dtype=torch.int64)
    features = features.tocsr()
    features = torch.sparse_csr_tensor(torch.tensor(features.indptr, dtype=torch.int64), torch.tensor(features.indices, dtype=torch.int64),
                                       torch.tensor(features.data), features.shape)
    for name, graph in [("clean", adjacency), *((path, sp.load_npz(path)) for path in arguments.graphs)]:
        graph = sp.csr_matrix(graph)
        flips = abs(graph - adjacency).sum() / 2
        operator = propagation(graph)
        found = np.array([victim(operator, features, labels, split, seed) for seed in range(arguments.seeds)])
        mean, deviation = found.mean(0), found.std(0, ddof=1)
        print(f"{name}: {flips:.0f} flips; best validation {mean[0]:.2f} ± {deviation[0]:.2f}, last {mean[1]:.2f} ± {deviation[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()

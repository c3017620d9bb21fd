"""One epoch of CCA-SSG and of BGRL: the program beside PyTorch Geometric. node_epoch.py [DATASET [EPOCHS [ROUNDS]]]

PyTorch Geometric as the methods' own programs have it: GCNConv, dense features of which columns are set to zero, dropout_edge. The program
is run as a user runs it, once with few and once with EPOCHS epochs more, without evaluation: an epoch is the difference of the times of training
by their number, so drawing views, checkpoints and progress are in it. Both have the same encoders (CCA-SSG: two graph convolutions of 512 with
ReLU between them; BGRL: 512 and 256, each with batch normalization and PReLU, and a predictor of 512), rates and optimizer. That
losses are equal is the subject of tests. In turns, ROUNDS times, the best of each counts. Needs FIEDLER_DATA, torch and torch_geometric; THREADS
(default 2) sets the threads of both.
"""

import copy
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

from program import build, fiedler
from sparse_torch import load

warnings.filterwarnings("ignore")
THREADS = int(os.environ.get("THREADS", "2"))
FEW = 5
# Hidden edges of both views, hidden columns of both.
RATES = {"cca-ssg": ((0.4, 0.4), (0.2, 0.2)), "bgrl": ((0.5, 0.4), (0.4, 0.4))}
METHODS = list(RATES)


def cca_ssg(views, columns):
    import torch
    from torch import nn
    from torch_geometric.nn import GCNConv

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolutions = nn.ModuleList([GCNConv(columns, 512), GCNConv(512, 512)])

        def forward(self, x, edges):
            return self.convolutions[1](self.convolutions[0](x, edges).relu(), edges)

    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)

    def standardized(rows):
        return (rows - rows.mean(0)) / rows.std(0)

    def step():
        optimizer.zero_grad()
        one, other = (standardized(encoder(*view)) for view in views())
        nodes = len(one)
        covariances = [rows.t() @ rows / nodes for rows in (one, other)]
        identity = torch.eye(one.shape[1])
        invariance = -torch.diagonal(one.t() @ other / nodes).sum()
        decorrelation = sum((identity - covariance).pow(2).sum() for covariance in covariances)
        loss = invariance + 1e-3 * decorrelation
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def bgrl(views, columns):
    import torch
    from torch import nn
    from torch_geometric.nn import GCNConv

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [(columns, 512), (512, 256)]
            self.convolutions = nn.ModuleList([GCNConv(*size) for size in sizes])
            self.norms = nn.ModuleList([nn.BatchNorm1d(size[1], momentum=0.01) for size in sizes])
            self.slopes = nn.ModuleList([nn.PReLU() for _ in sizes])

        def forward(self, x, edges):
            for convolution, norm, slope in zip(self.convolutions, self.norms, self.slopes):
                x = slope(norm(convolution(x, edges)))
            return x

    online, predictor = Encoder(), nn.Sequential(nn.Linear(256, 512), nn.PReLU(), nn.Linear(512, 256))
    target = copy.deepcopy(online)
    for parameter in target.parameters():
        parameter.requires_grad = False
    trained = [*online.parameters(), *predictor.parameters()]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, weight_decay=1e-5)
    similarity = nn.functional.cosine_similarity

    def step():
        optimizer.zero_grad()
        one, other = views()
        predicted = predictor(online(*one)), predictor(online(*other))
        with torch.no_grad():
            wanted = target(*other), target(*one)
        loss = 2 - sum(similarity(mine, theirs.detach()).mean() for mine, theirs in zip(predicted, wanted))
        loss.backward()
        optimizer.step()
        for mine, theirs in zip(online.parameters(), target.parameters()):
            theirs.data.mul_(0.99).add_(mine.data, alpha=0.01)
        return loss.item()

    return step


def child(method, name, epochs):
    import torch
    from torch_geometric.utils import dropout_edge

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    features, pairs = load(name)
    x = torch.from_numpy(features.toarray())
    pairs = torch.from_numpy(pairs).t()
    edges = torch.cat([pairs, pairs.flip(0)], 1)

    def views():
        for hidden_edges, hidden_columns in zip(*RATES[method]):
            view = x.clone()
            view[:, torch.rand(x.shape[1]) < hidden_columns] = 0
            yield view, dropout_edge(edges, hidden_edges, force_undirected=True)[0]

    step = {"cca-ssg": cca_ssg, "bgrl": bgrl}[method](views, x.shape[1])
    seconds = []
    for _ in range(epochs):
        started = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - started)
    print(json.dumps(median(seconds[FEW:])))


def pyg(method, name, epochs):
    command = [sys.executable, __file__, "--child", method, name, str(FEW + epochs)]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"PyTorch Geometric failed:\n{found.stderr}")
    return json.loads(found.stdout.splitlines()[-1])


def ours(method, name, epochs):
    def seconds(epochs, folder):
        fiedler("embed", name, "--method", method, "--recipe", "none", "--epochs", epochs,
                "--no-evaluate", "--no-report", "--out", folder, threads=THREADS)
        return json.loads((folder / "run.json").read_text())["result"]["training_seconds"]

    with tempfile.TemporaryDirectory() as folder:
        few, many = (seconds(count, Path(folder) / str(count)) for count in (FEW, FEW + epochs))
    return (many - few) / epochs


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "cora"
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    build()
    print(f"{name}, {THREADS} threads, best of {rounds} rounds in turn, ms an epoch:")
    for method in METHODS:
        found = [(pyg(method, name, epochs), ours(method, name, epochs)) for _ in range(rounds)]
        theirs, mine = (1e3 * min(column) for column in zip(*found))
        print(f"  {method:8} PyTorch Geometric {theirs:8.1f}, fiedler {mine:8.1f}: {theirs / mine:.2f} times as fast", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()

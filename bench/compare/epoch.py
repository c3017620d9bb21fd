"""One epoch of the paper's contrastive learning: fiedler beside PyTorch. epoch.py [DATASET [EPOCHS [ROUNDS]]]

An epoch is two views (edges removed with probability 0.2, columns of features left out with 0.4), their corrupted twins, two
graph convolutions of 512 with PReLU, InfoNCE between nodes and the other view's graph vector, backward, Adam. Programs:

- pyg: PyTorch Geometric as people write it: GCNConv, dense features, dropout_edge.
- torch: PyTorch at its best: sparse features, symmetric CSR propagation with its own backward, the first product shared by a
  view and its twin, views drawn from a prepared CSR.
- fiedler: the example `epoch` of fiedler-learn.

First the losses of all are compared over a few steps in which nothing is random. Then each program runs by itself, in turn,
ROUNDS times; printed are the median epoch's wall and processor time and the peak of memory. Needs FIEDLER_DATA, torch and
torch_geometric. THREADS (default 2) sets the threads of all.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median

from program import build
from sparse_torch import formula, load, operations

warnings.filterwarnings("ignore")
THREADS = int(os.environ.get("THREADS", "2"))
HIDDEN = 512
ROOT = Path(__file__).resolve().parents[2]


def shared_parts():
    """The parts that both PyTorch programs have in common."""
    import torch
    from torch import nn

    class Readout(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)

        def forward(self, nodes):
            return self.second(self.first(nodes.mean(0)).relu())

    return torch, nn, Readout


def fix_readout(readout):
    for layer in (readout.first, readout.second):
        layer.weight.data = formula((HIDDEN, HIDDEN)).t().contiguous()
        layer.bias.data = formula((HIDDEN,))


def twin_order(nodes, epoch, view):
    """Which row of the features each node of the corrupted twin gets, where nothing is random."""
    import torch

    return (torch.arange(nodes) * 101 + epoch + 7 * view + 1) % nodes


def pyg(name, check):
    torch, nn, Readout = shared_parts()
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import dropout_edge

    def info_nce(nodes, corrupted, graph):
        positives = nn.functional.cosine_similarity(nodes, graph[None])
        negatives = nn.functional.cosine_similarity(corrupted, graph[None])
        return negatives.logsumexp(0) - positives.mean()

    class Encoder(nn.Module):
        def __init__(self, columns):
            super().__init__()
            self.convolutions = nn.ModuleList([GCNConv(columns, HIDDEN), GCNConv(HIDDEN, HIDDEN)])
            self.slopes = nn.ModuleList([nn.PReLU(), nn.PReLU()])

        def forward(self, x, edges):
            for convolution, slope in zip(self.convolutions, self.slopes):
                x = slope(convolution(x, edges))
            return x

    features, pairs = load(name)
    x = torch.from_numpy(features.toarray())
    pairs = torch.from_numpy(pairs).t()
    edges = torch.cat([pairs, pairs.flip(0)], 1)
    encoder, readout = Encoder(x.shape[1]), Readout()
    if check:
        fix_readout(readout)
        for convolution in encoder.convolutions:
            convolution.lin.weight.data = formula(tuple(convolution.lin.weight.t().shape)).t().contiguous()
            convolution.bias.data = formula((HIDDEN,))
    optimiser = torch.optim.Adam([*encoder.parameters(), *readout.parameters()], lr=1e-3)

    def step(epoch):
        optimiser.zero_grad()
        nodes, corrupted = [], []
        for view in range(2):
            view_edges, view_x = edges, x
            order = twin_order(x.shape[0], epoch, view) if check else torch.randperm(x.shape[0])
            if not check:
                view_edges, _ = dropout_edge(edges, 0.2, force_undirected=True)
                view_x = x.clone()
                view_x[:, torch.rand(x.shape[1]) < 0.4] = 0
            nodes.append(encoder(view_x, view_edges))
            corrupted.append(encoder(view_x[order], view_edges))
        graphs = [readout(view) for view in nodes]
        loss = info_nce(nodes[0], corrupted[0], graphs[1]) + info_nce(nodes[1], corrupted[1], graphs[0])
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def torch_best(name, check):
    torch, nn, Readout = shared_parts()
    features, pairs = load(name)
    rows, columns = features.shape
    project, propagation, propagate = operations(features, pairs)

    def cosines(nodes, graph):
        return (nodes @ graph) / (nodes.norm(dim=1) * graph.norm()).clamp_min(1e-8)

    def info_nce(nodes, corrupted, graph):
        return cosines(corrupted, graph).logsumexp(0) - cosines(nodes, graph).mean()

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList([torch.empty(columns, HIDDEN), torch.empty(HIDDEN, HIDDEN)])
            self.biases = nn.ParameterList([torch.zeros(HIDDEN), torch.zeros(HIDDEN)])
            self.slopes = nn.ModuleList([nn.PReLU(), nn.PReLU()])
            for weight in self.weights:
                nn.init.xavier_uniform_(weight)

        def product(self, kept):
            weight = self.weights[0] if kept is None else self.weights[0] * kept[:, None]
            return project(weight)

        def forward(self, product, matrix):
            hidden = self.slopes[0](propagate(matrix, product) + self.biases[0])
            return self.slopes[1](propagate(matrix, hidden @ self.weights[1]) + self.biases[1])

    encoder, readout = Encoder(), Readout()
    if check:
        fix_readout(readout)
        for weight, bias in zip(encoder.weights, encoder.biases):
            weight.data, bias.data = formula(tuple(weight.shape)), formula((HIDDEN,))
    optimiser = torch.optim.Adam([*encoder.parameters(), *readout.parameters()], lr=1e-3, fused=True)

    def step(epoch):
        optimiser.zero_grad()
        nodes, corrupted = [], []
        for view in range(2):
            order = twin_order(rows, epoch, view) if check else torch.randperm(rows)
            matrix = propagation(torch.ones(len(pairs), dtype=torch.bool) if check else torch.rand(len(pairs)) > 0.2)
            product = encoder.product(None if check else (torch.rand(columns) > 0.4).float())
            nodes.append(encoder(product, matrix))
            corrupted.append(encoder(product[order], matrix))
        graphs = [readout(view) for view in nodes]
        loss = info_nce(nodes[0], corrupted[0], graphs[1]) + info_nce(nodes[1], corrupted[1], graphs[0])
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def child(program, name, epochs, check):
    import torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    step = {"pyg": pyg, "torch": torch_best}[program](name, check)
    result = {"losses": [], "wall": [], "processor": []}
    for epoch in range(epochs):
        wall, processor = time.perf_counter(), time.process_time()
        result["losses"].append(step(epoch))
        result["wall"].append(time.perf_counter() - wall)
        result["processor"].append(time.process_time() - processor)
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(result))


def run(program, name, epochs, check=False):
    if program == "fiedler":
        command = [str(ROOT / "target/release/examples/epoch"), name, str(epochs), str(THREADS)]
        command += ["check"] * check
    else:
        command = [sys.executable, __file__, "--child", program, name, str(epochs), str(int(check))]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"{program} failed:\n{found.stderr}")
    return json.loads(found.stdout.splitlines()[-1])


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "cora"
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    build()
    programs = ["pyg", "torch", "fiedler"]

    print(f"{name}, {THREADS} threads; losses of the first steps where nothing is random:")
    for program in programs:
        losses = run(program, name, 5, check=True)["losses"]
        print(f"  {program:8}", " ".join(f"{loss:.5f}" for loss in losses), flush=True)

    print(f"median epoch of {epochs}, ms: wall (processor), and peak of memory, MiB; {rounds} rounds in turn:")
    found = {program: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            result = run(program, name, epochs)
            # The first epochs warm up; processor time is counted in ticks, so it is averaged.
            wall, processor = result["wall"][2:], result["processor"][2:]
            wall, processor = 1e3 * median(wall), 1e3 * sum(processor) / len(processor)
            found[program].append((wall, processor, result["peak"]))
            print(f"  {program:8} {wall:8.1f} ({processor:8.1f}) {result['peak']:6}", flush=True)
    best = {program: [min(column) for column in zip(*rows)] for program, rows in found.items()}
    for program in ("pyg", "torch"):
        wall, processor, peak = (theirs / ours for theirs, ours in zip(best[program], best["fiedler"]))
        print(f"best of {program} over best of fiedler: wall {wall:.2f}, processor {processor:.2f}, memory {peak:.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), bool(int(sys.argv[5])))
    else:
        main()

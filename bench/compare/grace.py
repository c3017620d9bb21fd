"""One step of GRACE: fiedler beside PyTorch. grace.py [DATASET [EPOCHS [ROUNDS]]]

A step is two views (20 and 40 % of the edges removed, 30 and 40 % of the columns of features left out), two graph convolutions of 256 and
128 with ReLU, a projector of two layers of 128, InfoNCE between every node and all others of both views, backward, Adam. Programs:

- pyg: PyTorch Geometric as the method's own program has it: GCNConv, dense features, and four n × n matrices of similarities.
- dense: PyTorch at its best with n × n matrices: sparse features, symmetric CSR propagation with its own backward, similarities across views
  computed once for both directions, exponentials in place, a backward of its own.
- tiled: the same, but with rows of the matrices computed a block at a time and again for the backward.
- fiedler: the example `grace` of fiedler-learn.

First the losses of all are compared over a few steps in which nothing is random. Then each program runs by itself, in turn, ROUNDS times;
printed are the median step's wall and processor time and the peak of memory. Needs FIEDLER_DATA, torch and torch_geometric. THREADS
(default 2) sets the threads of all. PROGRAMS, separated by commas, chooses among them (pyg and dense need gigabytes on PubMed).
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
from sparse_torch import noise, load, operations

warnings.filterwarnings("ignore")
THREADS = int(os.environ.get("THREADS", "2"))
PROGRAMS = os.environ.get("PROGRAMS", "pyg,dense,tiled,fiedler").split(",")
WIDTH, TEMPERATURE = 128, 0.4
EDGES, COLUMNS = (0.2, 0.4), (0.3, 0.4)
ROOT = Path(__file__).resolve().parents[2]


def kept_where_nothing_is_random(edges, columns, view):
    import torch

    return (torch.arange(edges) * 11 + view) % 6 != 0, (torch.arange(columns) * 7 + view) % 5 != 0


def projector(check):
    import torch
    from torch import nn

    layers = [nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)]
    if check:
        for layer in layers:
            layer.weight.data = noise((WIDTH, WIDTH)).t().contiguous()
            layer.bias.data = noise((WIDTH,))
    return nn.Sequential(layers[0], nn.ELU(), layers[1])


def pyg(name, check):
    import torch
    from torch import nn
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import dropout_edge

    def similarity(one, other):
        return nn.functional.normalize(one) @ nn.functional.normalize(other).t()

    def semi_loss(one, other):
        within = torch.exp(similarity(one, one) / TEMPERATURE)
        across = torch.exp(similarity(one, other) / TEMPERATURE)
        return -torch.log(across.diag() / (within.sum(1) + across.sum(1) - within.diag()))

    features, pairs = load(name)
    x = torch.from_numpy(features.toarray())
    pairs = torch.from_numpy(pairs).t()
    edges = torch.cat([pairs, pairs.flip(0)], 1)
    convolutions = nn.ModuleList([GCNConv(x.shape[1], 2 * WIDTH), GCNConv(2 * WIDTH, WIDTH)])
    head = projector(check)
    if check:
        for convolution in convolutions:
            weight = convolution.lin.weight
            weight.data = noise(tuple(weight.t().shape)).t().contiguous()
            convolution.bias.data = noise(tuple(convolution.bias.shape))
    parameters = [*convolutions.parameters(), *head.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=5e-4, weight_decay=1e-5)

    def project(view):
        if check:
            kept, columns = kept_where_nothing_is_random(pairs.shape[1], x.shape[1], view)
            view_edges = torch.cat([pairs[:, kept], pairs[:, kept].flip(0)], 1)
        else:
            view_edges, _ = dropout_edge(edges, EDGES[view])
            columns = torch.rand(x.shape[1]) >= COLUMNS[view]
        nodes = x.clone()
        nodes[:, ~columns] = 0
        for convolution in convolutions:
            nodes = convolution(nodes, view_edges).relu()
        return head(nodes)

    def step():
        optimiser.zero_grad()
        one, other = project(0), project(1)
        loss = ((semi_loss(one, other) + semi_loss(other, one)) * 0.5).mean()
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def info_nce_dense():
    import torch

    class InfoNce(torch.autograd.Function):
        """Of rows of length one. All similarities lie at most 1 / temperature above zero, which is subtracted before exponentials."""

        @staticmethod
        def forward(context, one, other):
            def exponentials(a, b):
                return (a @ b.t()).sub_(1.0).div_(TEMPERATURE).exp_()

            across, within, within_other = exponentials(one, other), exponentials(one, one), exponentials(other, other)
            within.fill_diagonal_(0)
            within_other.fill_diagonal_(0)
            sums = [across.sum(1) + within.sum(1), across.sum(0) + within_other.sum(1)]
            context.save_for_backward(one, other, across, within, within_other, *sums)
            positives = ((one * other).sum() / len(one) - 1.0) / TEMPERATURE
            return (sums[0].log().mean() + sums[1].log().mean()) / 2 - positives

        @staticmethod
        def backward(context, gradient):
            one, other, across, within, within_other, first, second = context.saved_tensors
            first, second = 1 / first, 1 / second
            across.mul_(first[:, None] + second)
            within.mul_(first[:, None] + first)
            within_other.mul_(second[:, None] + second)
            factor = gradient / (2 * len(one) * TEMPERATURE)
            return (
                (torch.addmm(within @ one, across, other) - 2 * other) * factor,
                (torch.addmm(within_other @ other, across.t(), one) - 2 * one) * factor,
            )

    return InfoNce.apply


def info_nce_tiled(block=512):
    import torch

    class InfoNce(torch.autograd.Function):
        """The same with both views one below the other: each row against all others, some rows at a time."""

        @staticmethod
        def blocks(rows):
            for first in range(0, len(rows), block):
                part = rows[first : first + block]
                exponentials = (part @ rows.t()).sub_(1.0).div_(TEMPERATURE).exp_()
                exponentials[torch.arange(len(part)), torch.arange(first, first + len(part))] = 0
                yield slice(first, first + len(part)), exponentials

        @staticmethod
        def forward(context, one, other):
            rows = torch.cat([one, other])
            sums = torch.cat([exponentials.sum(1) for _, exponentials in InfoNce.blocks(rows)])
            context.save_for_backward(rows, sums)
            return sums.log().mean() - ((one * other).sum() / len(one) - 1.0) / TEMPERATURE

        @staticmethod
        def backward(context, gradient):
            rows, sums = context.saved_tensors
            inverse = 1 / sums
            result = torch.empty_like(rows)
            for place, exponentials in InfoNce.blocks(rows):
                result[place] = exponentials.mul_(inverse[place, None] + inverse) @ rows
            half = len(rows) // 2
            result -= 2 * torch.cat([rows[half:], rows[:half]])
            result *= gradient / (len(rows) * TEMPERATURE)
            return result[:half], result[half:]

    return InfoNce.apply


def torch_best(info_nce, name, check):
    import torch
    from torch import nn

    features, pairs = load(name)
    columns = features.shape[1]
    product, propagation, propagate = operations(features, pairs)
    shapes = [(columns, 2 * WIDTH), (2 * WIDTH, WIDTH)]
    weights = nn.ParameterList([nn.init.xavier_uniform_(torch.empty(*shape)) for shape in shapes])
    biases = nn.ParameterList([torch.zeros(shape[1]) for shape in shapes])
    head = projector(check)
    if check:
        for weight, bias in zip(weights, biases):
            weight.data, bias.data = noise(tuple(weight.shape)), noise(tuple(bias.shape))
    parameters = [*weights, *biases, *head.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=5e-4, weight_decay=1e-5, fused=True)

    def project(view):
        if check:
            kept, kept_columns = kept_where_nothing_is_random(len(pairs), columns, view)
        else:
            kept, kept_columns = torch.rand(len(pairs)) >= EDGES[view], torch.rand(columns) >= COLUMNS[view]
        matrix = propagation(kept)
        hidden = product(weights[0] * kept_columns.float()[:, None])
        hidden = (propagate(matrix, hidden) + biases[0]).relu_()
        nodes = (propagate(matrix, hidden @ weights[1]) + biases[1]).relu_()
        return nn.functional.normalize(head(nodes))

    def step():
        optimiser.zero_grad()
        loss = info_nce(project(0), project(1))
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def child(program, name, epochs, check):
    import torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    make = {
        "pyg": pyg,
        "dense": lambda *settings: torch_best(info_nce_dense(), *settings),
        "tiled": lambda *settings: torch_best(info_nce_tiled(), *settings),
    }
    step = make[program](name, check)
    result = {"losses": [], "wall": [], "processor": []}
    for _ in range(epochs):
        wall, processor = time.perf_counter(), time.process_time()
        result["losses"].append(step())
        result["wall"].append(time.perf_counter() - wall)
        result["processor"].append(time.process_time() - processor)
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(result))


def run(program, name, epochs, check=False):
    if program == "fiedler":
        command = [str(ROOT / "target/release/examples/grace"), name, str(epochs), str(THREADS)]
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

    print(f"{name}, {THREADS} threads; losses of the first steps where nothing is random:")
    for program in PROGRAMS:
        losses = run(program, name, 5, check=True)["losses"]
        print(f"  {program:8}", " ".join(f"{loss:.5f}" for loss in losses), flush=True)

    print(f"median step of {epochs}, ms: wall (processor), and peak of memory, MiB; {rounds} rounds in turn:")
    found = {program: [] for program in PROGRAMS}
    for _ in range(rounds):
        for program in PROGRAMS:
            result = run(program, name, epochs)
            # The first steps warm up; processor time is counted in ticks, so it is averaged.
            wall, processor = result["wall"][2:], result["processor"][2:]
            wall, processor = 1e3 * median(wall), 1e3 * sum(processor) / len(processor)
            found[program].append((wall, processor, result["peak"]))
            print(f"  {program:8} {wall:8.1f} ({processor:8.1f}) {result['peak']:6}", flush=True)
    best = {program: [min(column) for column in zip(*rows)] for program, rows in found.items()}
    for program in (program for program in PROGRAMS if program != "fiedler"):
        wall, processor, peak = (theirs / ours for theirs, ours in zip(best[program], best["fiedler"]))
        print(f"best of {program} over best of fiedler: wall {wall:.2f}, processor {processor:.2f}, memory {peak:.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), bool(int(sys.argv[5])))
    else:
        main()

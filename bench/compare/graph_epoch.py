"""One epoch of contrastive learning on many graphs: `fiedler embed` beside PyTorch Geometric. graph_epoch.py [TU-DATASET [EPOCHS [ROUNDS]]]

An epoch goes through all graphs in batches of 32: two views of each batch (edges removed with probability 0.2, columns of features
left out with 0.3), GIN of 5 layers of 32 with batch normalisation, sum pooling, an MLP of two layers, InfoNCE between nodes and
the other view's graph vectors with the other graphs of the batch as negatives, backward, Adam.

- pyg: PyTorch Geometric as people write it: DataLoader, GINConv, dropout_edge, global_add_pool.
- fiedler: the program itself, checkpoints and checks included; epochs are timed by the difference of a long run and a short one.

Each runs by itself, in turn, ROUNDS times; printed are an epoch's wall and processor time and the peak of memory. Needs FIEDLER_DATA,
torch and torch_geometric. THREADS (default 2) sets the threads of both.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path
from statistics import median

import program

warnings.filterwarnings("ignore")
THREADS = int(os.environ.get("THREADS", "2"))
HIDDEN, LAYERS, BATCH = 32, 5, 32


def load(name):
    """Graphs of a TU dataset, node labels as one column each."""
    import numpy as np
    import torch
    from torch_geometric.data import Data

    archive = zipfile.ZipFile(Path(os.environ["FIEDLER_DATA"]) / "tu" / name / f"{name}.zip")

    def read(part):
        member = next(member for member in archive.namelist() if member.endswith(f"{name}_{part}.txt"))
        with archive.open(member) as file:
            return np.loadtxt(file, delimiter=",", dtype=int)

    pairs, graph_of, labels = read("A") - 1, read("graph_indicator") - 1, read("node_labels")
    values, codes = np.unique(labels, return_inverse=True)
    features = torch.nn.functional.one_hot(torch.from_numpy(codes), len(values)).float()
    first = np.searchsorted(graph_of, np.arange(graph_of.max() + 2))
    pairs = pairs[np.argsort(graph_of[pairs[:, 0]], kind="stable")]
    starts = np.searchsorted(graph_of[pairs[:, 0]], np.arange(graph_of.max() + 2))
    graphs = []
    for graph in range(graph_of.max() + 1):
        edges = torch.from_numpy((pairs[starts[graph] : starts[graph + 1]] - first[graph]).T.copy())
        graphs.append(Data(x=features[first[graph] : first[graph + 1]], edge_index=edges))
    return graphs


def pyg(name, epochs):
    import torch
    from torch import nn
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GINConv, global_add_pool, global_mean_pool
    from torch_geometric.utils import dropout_edge

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    graphs = load(name)

    class Encoder(nn.Module):
        def __init__(self, columns):
            super().__init__()
            widths = [columns] + [HIDDEN] * LAYERS
            self.convolutions = nn.ModuleList(
                GINConv(nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Linear(b, b)))
                for a, b in zip(widths, widths[1:])
            )
            self.norms = nn.ModuleList(nn.BatchNorm1d(HIDDEN) for _ in range(LAYERS))
            self.head = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN))

        def forward(self, x, edges, batch):
            for convolution, norm in zip(self.convolutions, self.norms):
                x = norm(convolution(x, edges)).relu()
            return x, self.head(global_add_pool(x, batch))

    def info_nce(nodes, graphs, batch):
        nodes, graphs = nn.functional.normalize(nodes), nn.functional.normalize(graphs)
        similarities = nodes @ graphs.t()
        own = nn.functional.one_hot(batch, len(graphs)).bool()
        positives = global_mean_pool(similarities[own], batch)
        return (similarities.masked_fill(own, -torch.inf).logsumexp(0) - positives).mean()

    encoder = Encoder(graphs[0].x.shape[1])
    optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-3, weight_decay=1e-5)
    loader = DataLoader(graphs, batch_size=BATCH, shuffle=True)
    walls, processors = [], []
    for _ in range(epochs):
        wall, processor = time.perf_counter(), time.process_time()
        for data in loader:
            optimiser.zero_grad()
            views = []
            for _ in range(2):
                edges, _ = dropout_edge(data.edge_index, 0.2, force_undirected=True)
                x = data.x.clone()
                x[:, torch.rand(x.shape[1]) < 0.3] = 0
                views.append(encoder(x, edges, data.batch))
            (one, one_graphs), (other, other_graphs) = views
            loss = info_nce(one, other_graphs, data.batch) + info_nce(other, one_graphs, data.batch)
            loss.backward()
            optimiser.step()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([median(walls[1:]), median(processors[1:]), peak]))


def fiedler(name, epochs):
    def run(epochs):
        with tempfile.TemporaryDirectory() as folder:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = program.fiedler(
                "embed", name, "--recipe", "paper-graphs", "--scheme", "uniform-removal", "--ratio", 0.2, "--feature-mask", 0.3, "--epochs", epochs,
                "--out", Path(folder) / "run", "--json", threads=THREADS,
            )["result"]
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return found["training_seconds"], processor, found["peak_bytes"] / 2**20

    short, long = run(1), run(1 + epochs)
    return [(long[0] - short[0]) / epochs, (long[1] - short[1]) / epochs, long[2]]


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "NCI1"
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    program.build()
    print(f"{name}, {THREADS} threads, an epoch in seconds: wall (processor), and peak of memory, MiB; {rounds} rounds in turn:")
    found = {"pyg": [], "fiedler": []}
    for _ in range(rounds):
        command = [sys.executable, __file__, "--child", name, str(epochs)]
        child = subprocess.run(command, capture_output=True, text=True)
        if child.returncode:
            sys.exit(f"pyg failed:\n{child.stderr}")
        found["pyg"].append(json.loads(child.stdout))
        found["fiedler"].append(fiedler(name, epochs))
        for label, results in found.items():
            wall, processor, peak = results[-1]
            print(f"  {label:8} {wall:7.3f} ({processor:7.3f}) {peak:6.0f}", flush=True)
    best = {label: [min(column) for column in zip(*results)] for label, results in found.items()}
    wall, processor, peak = (theirs / ours for theirs, ours in zip(best["pyg"], best["fiedler"]))
    print(f"best of pyg over best of fiedler: wall {wall:.2f}, processor {processor:.2f}, memory {peak:.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        pyg(sys.argv[2], int(sys.argv[3]))
    else:
        main()

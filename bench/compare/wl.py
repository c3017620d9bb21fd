"""Weisfeiler-Lehman of a set of graphs: `fiedler embed --method hops` with the block wl alone, beside GraKeL. wl.py [NCI1|COLLAB ...]

Both refine colors four times, from node labels (NCI1) or degrees (COLLAB).

- grakel: WeisfeilerLehman over VertexHistogram, fit_transform of all graphs: the kernel matrix. Reading and converting graphs is not
  counted.
- fiedler: the whole program: reading, refinement, 256 components, embeddings and projections written.
- fiedler, fit: what the run itself says that fitting took.

Each runs by itself, in turn, ROUNDS (default 3) times; printed are the least wall time and how many times as fast the program is. Needs
FIEDLER_DATA and grakel. THREADS (default 2) sets the threads of the program; GraKeL has n_jobs for pairs of graphs only, which this
kernel does not compare one by one.
"""

import json
import os
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from pathlib import Path

import program

ROUNDS = int(os.environ.get("ROUNDS", "3"))
THREADS = int(os.environ.get("THREADS", "2"))
DATA = Path(os.environ["FIEDLER_DATA"]) / "tu"
DEPTH = 4


def text_of(archive, ending):
    with zipfile.ZipFile(archive) as files:
        name = next(name for name in files.namelist() if name.endswith(ending))
        return files.read(name).decode()


def nci1():
    """Edges and node labels of each graph, from the TU layout."""
    archive = DATA / "NCI1" / "NCI1.zip"
    numbers = lambda ending: [int(line) for line in text_of(archive, ending).split()]
    graph_of, labels = numbers("_graph_indicator.txt"), numbers("_node_labels.txt")
    edges, names = defaultdict(set), defaultdict(dict)
    for node, graph in enumerate(graph_of, 1):
        names[graph][node] = labels[node - 1]
    for line in text_of(archive, "_A.txt").splitlines():
        a, b = map(int, line.split(","))
        edges[graph_of[a - 1]].add((a, b))
    return [(edges[graph], names[graph]) for graph in sorted(names)]


def collab():
    """Edges and degrees of each graph, from the powerful-gnns layout: count, then for each graph a line of size and class and a line for
    each node of tag, number of neighbors and neighbors."""
    lines = iter(text_of(DATA / "COLLAB" / "COLLAB.powerful-gnns-format.zip", ".txt").splitlines())
    graphs = []
    for _ in range(int(next(lines))):
        edges, degrees = set(), {}
        for node in range(int(next(lines).split()[0])):
            _, _, *others = map(int, next(lines).split())
            edges.update((node, other) for other in others if other != node)
        edges |= {(b, a) for a, b in edges}
        for a, _ in edges:
            degrees[a] = degrees.get(a, 0) + 1
        graphs.append((edges, degrees))
    return graphs


SETS = {"NCI1": (nci1, DATA / "NCI1" / "NCI1.zip"),
        "COLLAB": (collab, DATA / "COLLAB" / "COLLAB.powerful-gnns-format.zip")}


def grakel(graphs):
    from grakel import Graph
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    converted = [Graph(edges, node_labels=labels) for edges, labels in graphs]
    started = time.perf_counter()
    WeisfeilerLehman(n_iter=DEPTH, base_graph_kernel=VertexHistogram, normalize=True).fit_transform(converted)
    return time.perf_counter() - started


def ours(path):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        blocks = ["--set", 'method.graphs.blocks=["wl"]', "--set", f"method.graphs.depth={DEPTH}"]
        started = time.perf_counter()
        program.fiedler("embed", path, "--method", "hops", *blocks, "--out", out, threads=THREADS)
        whole = time.perf_counter() - started
        return whole, json.loads((out / "run.json").read_text())["result"]["training_seconds"]


def main():
    program.build()
    for name in sys.argv[1:] or SETS:
        read, path = SETS[name]
        graphs = read()
        peer, whole, fit = [], [], []
        for _ in range(ROUNDS):
            peer.append(grakel(graphs))
            seconds, of_fit = ours(path)
            whole.append(seconds)
            fit.append(of_fit)
        peer, whole, fit = min(peer), min(whole), min(fit)
        print(f"{name}: grakel {peer:.2f} s; fiedler {whole:.2f} s, fit {fit:.2f} s: {peer / whole:.1f} times as fast", flush=True)


main()

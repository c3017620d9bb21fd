"""The opposite scheme of 10,000 molecules against a loop over numpy.linalg.eigh: molecules.py [--graphs 10000]

The molecules are those of MUTAG (FIEDLER_DATA), as often as it takes. The peer makes the same steps on a few of them, evenly
spread, and is scaled up; both sides first agree on the norms reached. Reading the data is in neither time.
"""
import argparse
import pathlib
import tempfile
import time
import zipfile

import numpy as np

from program import build, fiedler, views

RATIO, STEPS, RATE = 0.3, 50, 1.0


def read_graphs(path):
    """Dense adjacency matrices from the folder or the zip archive that MUTAG is published as."""
    def table(ending, **options):
        if path.is_dir():
            return np.loadtxt(next(path.glob(f"**/MUTAG_{ending}.txt")), dtype=np.int64, **options) - 1
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(f"MUTAG_{ending}.txt"))
            return np.loadtxt(archive.open(name), dtype=np.int64, **options) - 1

    pairs, graph_of = table("A", delimiter=","), table("graph_indicator")
    graphs = []
    for graph in range(graph_of.max() + 1):
        nodes = np.flatnonzero(graph_of == graph)
        own = pairs[graph_of[pairs[:, 0]] == graph] - nodes[0]
        adjacency = np.zeros((len(nodes), len(nodes)))
        adjacency[own[:, 0], own[:, 1]] = 1
        graphs.append(np.maximum(adjacency, adjacency.T))
    return graphs


def write_graphs(folder, graphs):
    edges, indicator, first = [], [], 1
    for number, adjacency in enumerate(graphs, 1):
        edges += [f"{a + first}, {b + first}" for a, b in np.argwhere(adjacency)]
        indicator += [str(number)] * len(adjacency)
        first += len(adjacency)
    (folder / "MANY_A.txt").write_text("\n".join(edges) + "\n")
    (folder / "MANY_graph_indicator.txt").write_text("\n".join(indicator) + "\n")
    (folder / "MANY_graph_labels.txt").write_text("1\n" * len(graphs))


def project(values, budget):
    clamped = values.clip(0, 1)
    if clamped.sum() <= budget:
        return clamped
    low, high = 0.0, values.max()
    for _ in range(50):
        middle = (low + high) / 2
        if (values - middle).clip(0, 1).sum() > budget:
            low = middle
        else:
            high = middle
    return (values - high).clip(0, 1)


def numpy_scheme(adjacency, sign):
    """The norm before and after."""
    nodes = len(adjacency)
    upper = np.triu_indices(nodes, 1)
    change = (1 - 2 * adjacency)[upper]
    flips = np.zeros(len(change))
    budget = RATIO * adjacency.sum() / 2
    first = None
    for step in range(STEPS + 1):
        weights = np.zeros((nodes, nodes))
        weights[upper] = change * flips
        weights = adjacency + weights + weights.T
        degrees = weights.sum(1)
        roots = 1 / np.sqrt(degrees)
        values, vectors = np.linalg.eigh(np.eye(nodes) - roots[:, None] * weights * roots)
        norm = np.linalg.norm(values)
        first = first or norm
        if step == STEPS:
            return first, norm
        # d norm / d L = U diag(values / norm) U', and L = I - D^-1/2 B D^-1/2.
        slope = -(vectors * (values / norm)) @ vectors.T
        through = slope * roots[:, None] * roots
        own = -(through * weights).sum(1) / degrees
        gradient = (2 * through + own[:, None] + own)[upper] * change / first
        flips = project(flips + sign * RATE / np.sqrt(step + 2) * gradient, budget)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--graphs", type=int, default=10_000)
    arguments.add_argument("--timed", type=int, default=100)
    asked = arguments.parse_args()
    build()
    where = pathlib.Path(fiedler("data", "where", "mutag").strip().splitlines()[0])
    if where.is_dir() and not any(where.glob("**/MUTAG_A.txt")):
        where = next(where.glob("**/*.zip"))
    molecules = read_graphs(where)
    graphs = [molecules[at % len(molecules)] for at in range(asked.graphs)]
    chosen = np.linspace(0, asked.graphs - 1, asked.timed).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        many, few = pathlib.Path(folder) / "MANY", pathlib.Path(folder) / "few" / "MANY"
        many.mkdir()
        few.mkdir(parents=True)
        write_graphs(many, graphs)
        write_graphs(few, [graphs[at] for at in chosen])
        settings = ["--ratio", RATIO, "--steps", STEPS, "--step-size", RATE, "--json"]
        peer = 0.0
        for direction, sign in (("max", 1), ("min", -1)):
            started = time.perf_counter()
            norms = np.array([numpy_scheme(graphs[at], sign) for at in chosen])
            peer += (time.perf_counter() - started) / asked.timed * asked.graphs
            before, after = np.sqrt((norms**2).sum(0))
            check = views(fiedler("augment", few, *settings))[direction]["relative_norm"]
            print(f"{direction}: numpy {after / before:.6f}, fiedler {check:.6f} of the norm", flush=True)
            assert abs(after / before - check) < 1e-4
        for _ in range(3):
            scheme = views(fiedler("augment", many, *settings))
            ours = scheme["max"]["seconds"] + scheme["min"]["seconds"]
            print(f"{asked.graphs} graphs, both directions: {ours:.2f} s, numpy {peer:.0f} s: {peer / ours:,.0f} times as fast",
                  flush=True)


main()

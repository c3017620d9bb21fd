"""Two views a step: fiedler.pyg beside two calls of PyTorch Geometric's dropout_edge. views.py [DATASET ...] [--steps N] [--rounds N]

Both are asked for what a training loop asks for, two `Data` with the user's features and their own edges. dropout_edge draws every edge alike, once by direction, as most programs
call it, and once with force_undirected=True, which keeps a graph undirected, as views of fiedler are. The scheme is computed before. In turns, --rounds times, the median of
each counts. Then what a pair of views is made of: draws in the library alone, with the places of edges too, and all of it. Needs FIEDLER_DATA, torch, torch_geometric and an optimized
build of the package; THREADS (default 2) sets the threads of both.
"""
import argparse
import copy
import os
import time
import warnings
from statistics import median

import torch
from torch_geometric.utils import dropout_edge

import fiedler
import fiedler.pyg

warnings.filterwarnings("ignore")
RATIO = 0.3


def dropped(data, undirected):
    """Two views by PyTorch Geometric."""
    views = []
    for _ in range(2):
        view = copy.copy(data)
        view.edge_index, _ = dropout_edge(data.edge_index, p=RATIO, force_undirected=undirected)
        views.append(view)
    return views


def seconds(step, steps):
    """Of one step, the median."""
    taken = []
    for _ in range(steps):
        started = time.perf_counter()
        step()
        taken.append(time.perf_counter() - started)
    return median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=["cora", "pubmed"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    threads = int(os.environ.get("THREADS", "2"))
    torch.set_num_threads(threads)
    fiedler.set_threads(threads)
    torch.manual_seed(0)
    print("| | fiedler, ms | dropout_edge, ms | ratio | undirected, ms | ratio |\n|---|---|---|---|---|---|")
    parts = []
    for name in asked.datasets:
        data = fiedler.pyg.to_data(fiedler.read(name))
        transform = fiedler.pyg.SpectralAugmentation(ratio=RATIO).fit(data)
        steps = {
            "ours": lambda: transform.pair(data),
            "by direction": lambda: dropped(data, False),
            "undirected": lambda: dropped(data, True),
        }
        for step in steps.values():
            seconds(step, 10)
        rounds = [{kind: seconds(step, asked.steps) for kind, step in steps.items()} for _ in range(asked.rounds)]
        of = {kind: 1e3 * median(found[kind] for found in rounds) for kind in steps}
        ratios = [of[kind] / of["ours"] for kind in ("by direction", "undirected")]
        print(f"| {name} | {of['ours']:.3f} | {of['by direction']:.3f} | {ratios[0]:.1f} | {of['undirected']:.3f} | {ratios[1]:.1f} |", flush=True)
        scheme = transform.augmentation._scheme
        drawn = {places: 1e3 * seconds(lambda: scheme.sample(1, 0, [0, 1], None, places, 0), asked.steps) for places in (False, True)}
        parts.append(f"{name}: draws {drawn[False]:.3f} ms, with places {drawn[True]:.3f} ms, the transform {of['ours']:.3f} ms")
    print("\n" + "\n".join(parts))


main()

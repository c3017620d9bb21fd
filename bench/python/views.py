"""Two views a step: `fiedler.pyg.SpectralAugmentation.pair` against two calls of `dropout_edge` of PyTorch Geometric.

    python bench/python/views.py cora pubmed

The scheme is computed once and not counted, as it is in training. Medians of single steps; both sides get the same `Data` and give two of them.
"""

from __future__ import annotations

import copy
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch_geometric.utils import dropout_edge

import fiedler
import fiedler.pyg

STEPS = 100


def median(step: Callable[[], object]) -> float:
    """Median of the milliseconds of single steps, after some that warm up."""
    for _ in range(10):
        step()
    taken = []
    for _ in range(STEPS):
        start = time.perf_counter()
        step()
        taken.append(1e3 * (time.perf_counter() - start))
    return statistics.median(taken)


def main() -> None:
    print(f"fiedler {fiedler.__version__}, torch {torch.__version__}, {torch.get_num_threads()} threads, median of {STEPS} steps, ms")
    for name in sys.argv[1:] or ["cora", "pubmed"]:
        data = fiedler.pyg.to_data(fiedler.read(name))
        started = time.perf_counter()
        augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
        seconds = time.perf_counter() - started

        def dropped(undirected: bool) -> tuple[object, object]:
            views = []
            for _ in range(2):
                view = copy.copy(data)
                view.edge_index = dropout_edge(data.edge_index, p=0.3, force_undirected=undirected)[0]
                views.append(view)
            return views[0], views[1]

        ours = median(lambda: augmentation.pair(data))
        undirected = median(lambda: dropped(True))
        directed = median(lambda: dropped(False))
        print(
            f"{name}: spectral pair {ours:.2f}; two dropout_edge(force_undirected=True) {undirected:.2f} ({undirected / ours:.1f} times); "
            f"two dropout_edge {directed:.2f}, which leave edges in one direction; scheme once {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()

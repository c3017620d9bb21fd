"""The opposite scheme against the same steps through torch.linalg.eigvalsh with autograd: span.py [DATA] [--steps 50]

Four supports: all pairs for both directions; auto, which knows that maximising from zero never adds an edge; edges and 10 candidates a
node; edges alone. DATA is cora by default and must be on this machine (FIEDLER_DATA). The peer's steps all cost the same, so a few of them are
timed and scaled up; ours run until the first-order gap is below 1 % of the gain, or for as many steps. Both sides first make those
few steps with the same rate from the same start, and the norms they reach are compared. The peer has the norm of the expected graph
only; the norm of drawn graphs is timed beside it. Reading the data is in neither time. Equal threads on both sides.
"""
import argparse
import pathlib
import tempfile
import time

import numpy as np
import torch

from program import build, fiedler, views

RATES = {"max": 100.0, "min": 0.1}
RATIO = 0.3
EXPECTED = "expected"
SAMPLED = "sampled"


def read_graph(path):
    pairs = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


def project(values, budget):
    clamped = values.clamp(0, 1)
    if clamped.sum() <= budget:
        return clamped
    low, high = 0.0, float(values.max())
    for _ in range(50):
        middle = (low + high) / 2
        if (values - middle).clamp(0, 1).sum() > budget:
            low = middle
        else:
            high = middle
    return (values - high).clamp(0, 1)


def torch_steps(adjacency, sign, rate, budget, steps):
    """Norm reached, relative to the original, and seconds a step."""
    nodes = len(adjacency)
    rows, columns = torch.triu_indices(nodes, nodes, 1)
    change = (1 - 2 * adjacency)[rows, columns]
    flips = torch.zeros(len(rows), requires_grad=True)

    def norm():
        upper = torch.zeros_like(adjacency)
        upper[rows, columns] = change * flips
        weights = adjacency + upper + upper.T + torch.eye(nodes)
        roots = weights.sum(1).rsqrt()
        return torch.linalg.eigvalsh(roots[:, None] * weights * roots).norm()

    with torch.no_grad():
        original = norm()
    started = time.perf_counter()
    for step in range(steps):
        relative = norm() / original
        (gradient,) = torch.autograd.grad(relative, flips)
        with torch.no_grad():
            moved = flips + sign * rate / (step + 2) ** 0.5 * gradient
            flips = project(moved, budget).requires_grad_()
    seconds = (time.perf_counter() - started) / steps
    with torch.no_grad():
        return float(norm() / original), seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", nargs="?", default="cora")
    arguments.add_argument("--steps", type=int, default=50)
    arguments.add_argument("--timed", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    asked = arguments.parse_args()
    torch.set_num_threads(asked.threads)
    build()
    with tempfile.TemporaryDirectory() as folder:
        edges = pathlib.Path(folder) / "edges.csv"
        fiedler("convert", asked.data, edges)
        sources, targets = read_graph(edges)
    summary = fiedler("inspect", asked.data, "--json")
    adjacency = torch.zeros(summary["nodes"], summary["nodes"])
    adjacency[sources, targets] = adjacency[targets, sources] = 1
    budget = RATIO * summary["edges"]

    def ours(*more):
        return views(fiedler("augment", asked.data, "--operator", "propagation", "--ratio", RATIO, "--json", *more,
                             threads=asked.threads))

    peer = 0.0
    for direction, sign in (("max", 1), ("min", -1)):
        reached, seconds = torch_steps(adjacency, sign, RATES[direction], budget, asked.timed)
        check = ours("--norm", EXPECTED, "--support", "all", "--steps", asked.timed, "--step-size", RATES[direction])[direction]
        print(f"{direction}: after {asked.timed} steps torch {reached:.7f}, fiedler {check['relative_norm']:.7f} of the norm;"
              f" torch {seconds:.2f} s a step", flush=True)
        assert abs(reached - check["relative_norm"]) < 1e-5
        peer += asked.steps * seconds
    for objective, support in ((EXPECTED, "all"), (EXPECTED, "auto"), (EXPECTED, "candidates"), (EXPECTED, "edges"),
                               (SAMPLED, "all"), (SAMPLED, "auto"), (SAMPLED, "edges")):
        times = []
        for _ in range(3):
            scheme = ours("--norm", objective, "--support", support, "--steps", asked.steps)
            times.append(scheme["max"]["seconds"] + scheme["min"]["seconds"])
        spread = " ".join(f"{1e3 * seconds:.1f}" for seconds in times)
        steps = " and ".join(str(scheme[direction]["steps"]) for direction in ("max", "min"))
        print(f"{objective}, {support}: {steps} steps, {spread} ms; torch, {asked.steps} steps each: {peer:.1f} s:"
              f" {peer / max(times):,.0f} to {peer / min(times):,.0f} times as fast", flush=True)


main()

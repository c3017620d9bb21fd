"""Spectral schemes against the same steps through torch.linalg.eigvalsh with autograd: span.py [DATA] [--steps 50] [--only opposite|distance]

Four supports: all pairs for both directions; auto, which knows that maximising from zero never adds an edge; edges and 10 candidates a
node; edges alone. DATA is cora by default and must be on this machine (FIEDLER_DATA). The peer's steps all cost the same, so a few of them are
timed and scaled up; ours run until the first-order gap is below 1 % of the gain, or for as many steps. Both sides first make those
few steps with the same rate from the same start, and the norms they reach are compared. The peer has the norm of the expected graph
only; the norm of drawn graphs is timed beside it. `single` and `double` (distance) move spectra away from the original's and from each
other's: the peer then decomposes one matrix a step, or two. Reading the data is in neither time. Equal threads on both sides.
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


class Spectra:
    """Eigenvalues of the propagation matrix by the flip probabilities of all pairs."""

    def __init__(self, adjacency):
        nodes = len(adjacency)
        self.adjacency = adjacency
        self.rows, self.columns = torch.triu_indices(nodes, nodes, 1)
        self.change = (1 - 2 * adjacency)[self.rows, self.columns]

    def start(self, size=0.0):
        return (size * torch.rand(len(self.rows))).requires_grad_()

    def of(self, flips):
        upper = torch.zeros_like(self.adjacency)
        upper[self.rows, self.columns] = self.change * flips
        weights = self.adjacency + upper + upper.T + torch.eye(len(upper))
        roots = weights.sum(1).rsqrt()
        return torch.linalg.eigvalsh(roots[:, None] * weights * roots)


def torch_distance_steps(adjacency, views, rate, budget, steps):
    """Seconds a step in which one view moves away from the original's spectrum, or two from each other's."""
    spectra = Spectra(adjacency)
    with torch.no_grad():
        original = spectra.of(spectra.start())
    moving = [spectra.start(1.0 / len(adjacency)) for _ in range(views)]
    started = time.perf_counter()
    for step in range(steps):
        found = [spectra.of(flips) for flips in moving]
        distance = (found[0] - (found[1] if views == 2 else original)).norm() / original.norm()
        gradients = torch.autograd.grad(distance, moving)
        with torch.no_grad():
            moved = [flips + rate / (step + 2) ** 0.5 * gradient for flips, gradient in zip(moving, gradients)]
            moving = [project(flips, budget).requires_grad_() for flips in moved]
    return (time.perf_counter() - started) / steps


def torch_steps(adjacency, sign, rate, budget, steps):
    """Norm reached, relative to the original, and seconds a step."""
    spectra = Spectra(adjacency)
    flips = spectra.start()

    def norm():
        return spectra.of(flips).norm()

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
    arguments.add_argument("--only", choices=["opposite", "distance"])
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

    if asked.only != "opposite":
        compare_distances(asked, adjacency, budget)
    if asked.only != "distance":
        compare_norms(asked, adjacency, budget)


def compare_distances(asked, adjacency, budget):
    for count, scheme in ((1, "single"), (2, "double")):
        times = []
        for _ in range(3):
            found = views(fiedler("augment", asked.data, "--scheme", scheme, "--operator", "propagation", "--ratio", RATIO,
                                  "--steps", asked.steps, "--json", threads=asked.threads))
            times.append(sum(view["seconds"] for view in found.values()))
        steps = max(view["steps"] for view in found.values())
        peer = steps * torch_distance_steps(adjacency, count, 1.0, budget, asked.timed)
        spread = " ".join(f"{seconds:.2f}" for seconds in times)
        print(f"{scheme}: {steps} steps, {spread} s; torch, as many steps: {peer:.1f} s:"
              f" {peer / max(times):,.0f} to {peer / min(times):,.0f} times as fast", flush=True)


def compare_norms(asked, adjacency, budget):
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

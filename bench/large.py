"""Large graphs: seconds and peak memory of the program: large.py [CASE ...] [--folder FOLDER] [--threads N] [--program PATH]

hops        1 M nodes, 10 M edges, 128 features: --method hops with features in memory, and read from their file (--stream-features)
structural  the same graph without features: 64 eigenvectors within bounded work
spectrum    inspect --spectrum of 200,000 nodes and 2 M edges, and of 2 M nodes and 20 M edges
minibatch   one epoch of cca-ssg in clusters, its scheme and all embeddings: 100,000 nodes and 1 M edges, and 2 M nodes and 20 M edges, 128 features
scheme      a scheme on 10 M nodes and 100 M edges; nanoseconds a pair and step

Graphs are Barabási-Albert graphs with ten edges a node, features are noise around one of ten centers. All are made once, in the folder
(20 GB of disk for all cases). Times and memory are of the whole process, as
the system tells them: with reading and writing, and processor time of all threads. What a case prints is a row of
docs/large-graphs.md.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import typing

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
EDGES_A_NODE = 10
COLUMNS = 128
GIB = 1 << 30


class Took(typing.NamedTuple):
    seconds: float
    processor: float
    peak: int


class Bench:
    def __init__(self, asked):
        self.program, self.threads = asked.program, asked.threads
        self.folder = pathlib.Path(asked.folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments):
        """What it took, and what was printed. The exit code must be 0."""
        command = [self.program, *map(str, arguments), "--threads", str(self.threads)]
        printed = self.folder / "printed"
        started = time.perf_counter()
        with open(printed, "wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=out)
            _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        text = printed.read_text(errors="replace")
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{' '.join(command)}\n{text}")
        return Took(seconds, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss), text

    def row(self, what, took, more=""):
        print(f"| {what} | {took.seconds:,.0f} s | {took.processor:,.0f} s | {took.peak / GIB:.1f} GiB | {more} |", flush=True)

    def features(self, nodes):
        path = self.folder / f"x-{nodes}.npy"
        if not path.exists():
            random = np.random.default_rng(0)
            centers = random.standard_normal((10, COLUMNS), dtype=np.float32)
            unfinished = path.with_suffix(".part.npy")
            rows = np.lib.format.open_memmap(unfinished, "w+", np.float32, (nodes, COLUMNS))
            for first in range(0, nodes, 1 << 16):
                block = rows[first : first + (1 << 16)]
                block[:] = centers[random.integers(0, 10, len(block))] + random.standard_normal(block.shape, dtype=np.float32)
            rows.flush()
            unfinished.rename(path)
        return path

    def data(self, nodes, features=True):
        """A graph in a file of fiedler's own format."""
        path = self.folder / f"graph-{nodes}{'-x' if features else ''}.fiedler"
        if not path.exists():
            if features:
                self.run("convert", self.data(nodes, False), path, "--features", self.features(nodes), "--quiet")
            else:
                self.run("convert", f"barabasi-albert:nodes={nodes},edges_per_node={EDGES_A_NODE}", path, "--quiet")
        return path

    def embed(self, data, *arguments):
        out = self.folder / "run"
        took, _ = self.run("embed", data, *arguments, "--no-evaluate", "--no-report", "--force", "--out", out, "--quiet")
        result = json.loads((out / "run.json").read_text())["result"]
        return took, result, out / "embeddings.npy"

    def hops(self):
        data = self.data(1_000_000)
        kept = None
        for how, flags in [("in memory", []), ("read from their file", ["--stream-features"])]:
            took, result, embeddings = self.embed(data, "--method", "hops", "--recipe", "none", *flags)
            digest = hash(embeddings.read_bytes())
            same = "" if kept is None else ("; the same bytes" if digest == kept else "; OTHER BYTES")
            kept = digest
            self.row(f"`hops`, 1 M nodes, 10 M edges, 128 features {how}", took, f"{result['training_seconds']:.0f} s of it fitting and embedding{same}")

    def structural(self):
        took, *_ = self.embed(self.data(1_000_000, False), "--method", "hops", "--recipe", "none")
        self.row("`hops`, 1 M nodes, 10 M edges, no features", took, "64 eigenvectors within bounded work")

    def spectrum(self):
        for nodes in (200_000, 2_000_000):
            took, text = self.run("inspect", self.data(nodes, False), "--spectrum", "--json", "--quiet")
            ends = json.loads(text)["spectrum"]["extremes"]
            told = ", ".join(f"{value:.4f} ± {error:.0e}" for value, error in zip(ends["lowest"][1:4], ends["lowest_errors"][1:4]))
            self.row(f"`inspect --spectrum`, {nodes:,} nodes, {nodes * EDGES_A_NODE:,} edges", took, told)

    def minibatch(self):
        per_edge = {}
        for nodes in (100_000, 2_000_000):
            data = self.data(nodes)
            flags = ["--method", "cca-ssg", "--recipe", "none", "--batch-nodes", 20000, "--scheme", "single", "--support", "edges"]
            took, result, _ = self.embed(data, *flags, "--epochs", 1)
            longer, with_two, _ = self.embed(data, *flags, "--epochs", 2)
            epoch = with_two["training_seconds"] - result["training_seconds"]
            processor = longer.processor - took.processor
            per_edge[nodes] = processor / (nodes * EDGES_A_NODE)
            more = f"scheme {result['scheme_seconds']:.0f} s, one epoch {epoch:.0f} s, {processor:.0f} s of the processor ({1e9 * per_edge[nodes]:.0f} ns an edge)"
            self.row(f"`cca-ssg` in clusters, {nodes:,} nodes, {nodes * EDGES_A_NODE:,} edges, 128 features", took, more)
        first, last = per_edge.values()
        print(f"an edge of the larger graph takes {last / first:.2f} times as much of the processor in an epoch")

    def scheme(self):
        nodes = 10_000_000
        data = self.data(nodes, False)
        took = {}
        for steps in (2, 12):
            flags = ["--scheme", "single", "--support", "edges", "--steps", steps, "--json", "--out", self.folder / "scheme", "--force"]
            took[steps], _ = self.run("augment", data, *flags, "--quiet")
        each = [1e9 * (last - first) / 10 / (nodes * EDGES_A_NODE) for first, last in zip(took[2][:2], took[12][:2])]
        more = f"12 steps; {each[0]:.0f} ns a pair and step, {each[1]:.0f} of the processor"
        self.row(f"`augment`, {nodes:,} nodes, {nodes * EDGES_A_NODE:,} edges", took[12], more)


def main():
    cases = ["hops", "structural", "spectrum", "minibatch", "scheme"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=cases)
    parser.add_argument("--folder", default="large")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    if unknown := set(asked.cases) - set(cases):
        parser.error(f"no case is called {', '.join(sorted(unknown))}; there are {', '.join(cases)}")
    bench = Bench(asked)
    print("| what | time | processor time | peak memory | |\n|---|---|---|---|---|")
    for case in asked.cases:
        getattr(bench, case)()


if __name__ == "__main__":
    main()

"""Drawing a view of PubMed's all-pairs scheme against one Bernoulli draw for each of n² entries with numpy: sampling.py

Needs PubMed on this machine (FIEDLER_DATA). numpy draws row blocks, so that memory is no excuse.
"""
import json
import subprocess
import time

import numpy as np

from program import ROOT

NODES = 19_717


def numpy_draw(block=500):
    random = np.random.default_rng(0)
    probabilities = np.full((block, NODES), 7e-5)
    started = time.perf_counter()
    flips = 0
    for first in range(0, NODES, block):
        rows = min(block, NODES - first)
        flips += np.count_nonzero(random.random((rows, NODES)) < probabilities[:rows])
    return time.perf_counter() - started, flips


def main():
    build = ["cargo", "build", "--release", "--quiet", "-p", "fiedler-augment", "--example", "sampling"]
    subprocess.run(build, cwd=ROOT, check=True)
    for _ in range(3):
        peer, flips = numpy_draw()
        command = [ROOT / "target/release/examples/sampling", "pubmed", "5", "100"]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        print(f"numpy {peer:.2f} s for {flips} flips; fiedler {ours}")
        seconds = ours["median_seconds"]
        print(f"{peer / seconds:,.0f} times as fast", flush=True)


main()

"""Reads a large integer edge list into a graph: fiedler against pandas and scipy, on the same file, in the same run.

    cargo build --release -p fiedler-graph --example read_edge_list
    python3 bench/compare/edge_list.py [--lines 10000000] [--nodes 1000000] [--rounds 3]

Both end with a symmetric adjacency in compressed sparse rows without self-loops and repeated edges, the node ids being those of
the file. Each round runs each side in a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make(path, lines, nodes, seed):
    """Pairs of which one end is drawn evenly and the other with a skew, so that some nodes have many neighbours."""
    import numpy
    import pandas

    random = numpy.random.default_rng(seed)
    source = random.integers(0, nodes, lines)
    target = random.permutation(nodes)[(nodes * random.random(lines) ** 2).astype(numpy.int64)]
    # Every node occurs, so that both sides may take the ids as they are.
    source[:nodes] = random.permutation(nodes)
    pandas.DataFrame({"source": source, "target": target}).to_csv(path, sep="\t", header=False, index=False)


def pandas_and_scipy(path):
    import numpy
    import pandas
    import scipy.sparse

    start = time.perf_counter()
    table = pandas.read_csv(path, sep="\t", header=None, names=["source", "target"], dtype=numpy.int32, engine="c")
    source, target = table["source"].to_numpy(), table["target"].to_numpy()
    nodes = int(max(source.max(), target.max())) + 1
    kept = source != target
    source, target = source[kept], target[kept]
    rows, columns = numpy.concatenate([source, target]), numpy.concatenate([target, source])
    values = numpy.ones(len(rows), dtype=numpy.int8)
    # The conversion adds up repeated entries and so merges them.
    adjacency = scipy.sparse.coo_array((values, (rows, columns)), shape=(nodes, nodes)).tocsr()
    adjacency.data[:] = 1
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "nodes": nodes, "edges": adjacency.nnz // 2}))


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--program", default=ROOT / "target/release/examples/read_edge_list")
    parser.add_argument("--pandas", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.pandas:
        return pandas_and_scipy(arguments.pandas)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "edges.tsv")
        make(path, arguments.lines, arguments.nodes, arguments.seed)
        size = os.path.getsize(path)
        print(f"{arguments.lines:,} lines, {size / 2**20:.0f} MiB")
        for round_number in range(1, arguments.rounds + 1):
            theirs = run([sys.executable, __file__, "--pandas", path])
            ours = run([str(arguments.program), path])
            counts = [(side["nodes"], side["edges"]) for side in (ours, theirs)]
            if counts[0] != counts[1]:
                sys.exit(f"fiedler has {counts[0]} nodes and edges, scipy {counts[1]}")
            bound = 3 * ours["csr_bytes"] + size
            print(
                f"round {round_number}: fiedler {ours['seconds']:.2f} s, {ours['peak_bytes'] / 2**20:.0f} MiB "
                f"(bound {bound / 2**20:.0f}); pandas and scipy {theirs['seconds']:.2f} s, "
                f"{theirs['peak_bytes'] / 2**20:.0f} MiB; {theirs['seconds'] / ours['seconds']:.1f} times as fast; "
                f"{counts[0][0]:,} nodes, {counts[0][1]:,} edges"
            )


if __name__ == "__main__":
    main()

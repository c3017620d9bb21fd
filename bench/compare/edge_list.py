"""Reads a large integer edge list into a graph: fiedler against pandas and scipy, on the same file, in the same run.

    cargo build --release -p fiedler-io --example read_edge_list
    python3 bench/compare/edge_list.py [--lines 10000000] [--nodes 1000000] [--rounds 3]

All end with a symmetric adjacency in compressed sparse rows without self-loops and repeated edges, the node ids being those of the
file. pandas and scipy appear twice: `usual`, as the step is commonly written (read_csv, coo_array, maximum with the
transpose), and `tuned`, with the column types given and both directions put into one conversion. Each run is a process of its own.
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


def usual(path):
    import numpy
    import pandas
    import scipy.sparse

    table = pandas.read_csv(path, sep="\t", header=None)
    nodes = int(table.to_numpy().max()) + 1
    adjacency = scipy.sparse.coo_array((numpy.ones(len(table), dtype=numpy.float32), (table[0], table[1])), (nodes, nodes))
    adjacency = adjacency.tocsr()
    adjacency.data[:] = 1
    adjacency = adjacency.maximum(adjacency.T)
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    return adjacency


def tuned(path):
    import numpy
    import pandas
    import scipy.sparse

    table = pandas.read_csv(path, sep="\t", header=None, names=["source", "target"], dtype=numpy.int32)
    source, target = table["source"].to_numpy(), table["target"].to_numpy()
    nodes = int(max(source.max(), target.max())) + 1
    kept = source != target
    source, target = source[kept], target[kept]
    rows, columns = numpy.concatenate([source, target]), numpy.concatenate([target, source])
    values = numpy.ones(len(rows), dtype=numpy.int8)
    # The conversion adds up repeated entries and so merges them.
    adjacency = scipy.sparse.coo_array((values, (rows, columns)), shape=(nodes, nodes)).tocsr()
    adjacency.data[:] = 1
    return adjacency


def measure(way, path):
    # What is imported is not part of the time.
    import pandas  # noqa: F401
    import scipy.sparse  # noqa: F401

    start = time.perf_counter()
    adjacency = {"usual": usual, "tuned": tuned}[way](path)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak, "nodes": adjacency.shape[0], "edges": adjacency.nnz // 2}))


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--program", default=ROOT / "target/release/examples/read_edge_list")
    parser.add_argument("--measure", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(*arguments.measure)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "edges.tsv")
        make(path, arguments.lines, arguments.nodes, arguments.seed)
        size = os.path.getsize(path)
        print(f"{arguments.lines:,} lines, {size / 2**20:.0f} MiB")
        for round_number in range(1, arguments.rounds + 1):
            ours = run([str(arguments.program), path])
            bound = 3 * ours["csr_bytes"] + size
            print(
                f"round {round_number}: fiedler {ours['seconds']:.2f} s, {ours['peak_bytes'] / 2**20:.0f} MiB "
                f"(bound {bound / 2**20:.0f}), {ours['nodes']:,} nodes, {ours['edges']:,} edges"
            )
            for way in ("usual", "tuned"):
                theirs = run([sys.executable, __file__, "--measure", way, path])
                if (theirs["nodes"], theirs["edges"]) != (ours["nodes"], ours["edges"]):
                    sys.exit(f"scipy has {theirs['nodes']} nodes and {theirs['edges']} edges")
                print(
                    f"    pandas and scipy, {way}: {theirs['seconds']:.2f} s, {theirs['peak_bytes'] / 2**20:.0f} MiB; "
                    f"fiedler is {theirs['seconds'] / ours['seconds']:.1f} times as fast"
                )


if __name__ == "__main__":
    main()

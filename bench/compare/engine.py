"""The ascent against the memory it streams, and its cost from one to sixteen million edges: engine.py [pass] [linear] [yelp]

pass    PubMed, all pairs, 50 steps in both directions: time a step as a multiple of one plain pass that reads and writes every value
linear  random graphs of average degree 20 with 1, 2, 4, 8 and 16 million edges, edges and 10 candidates a node: time a pair
yelp    700,000 nodes and 14 million edges, edges and 10 candidates a node: the most memory held
"""
import json
import subprocess
import sys

from program import ROOT


def ascent(*arguments):
    command = [ROOT / "target/release/examples/ascent", *map(str, arguments)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def steps_of(lines):
    return [line for line in lines if "direction" in line]


def main():
    asked = sys.argv[1:] or ["pass", "linear", "yelp"]
    build = ["cargo", "build", "--release", "--quiet", "-p", "fiedler-augment", "--example", "ascent"]
    subprocess.run(build, cwd=ROOT, check=True)
    if "pass" in asked:
        lines = ascent("pubmed", "all", 50)
        one_pass = lines[-1]["pass_seconds"]
        for line in steps_of(lines):
            step = line["seconds"] / line["steps"]
            print(f"{line['direction']}: {1e3 * step:.0f} ms a step, {step / one_pass:.1f} passes of {1e3 * one_pass:.0f} ms")
        print(f"peak {lines[-1]['peak_megabytes']} MB", flush=True)
    if "linear" in asked:
        for millions in (1, 2, 4, 8, 16):
            edges = millions * 1_000_000
            lines = ascent(f"random:{edges // 10}:{edges}", "candidates:10", 10)
            pairs = lines[1]["pairs"]
            times = [1e9 * line["seconds"] / line["steps"] / pairs for line in steps_of(lines)]
            work = [1e9 * line["processor_seconds"] / line["steps"] / pairs for line in steps_of(lines)]
            print(f"{millions} M edges, {pairs:,} pairs: {times[0]:.1f} and {times[1]:.1f} ns a pair and step"
                  f" ({work[0]:.1f} and {work[1]:.1f} of processor), peak {lines[-1]['peak_megabytes']} MB", flush=True)
    if "yelp" in asked:
        lines = ascent("random:700000:14000000", "candidates:10", 50)
        seconds = [line["seconds"] for line in steps_of(lines)]
        print(f"700,000 nodes, 14 M edges: 50 steps in {seconds[0]:.1f} and {seconds[1]:.1f} s, peak {lines[-1]['peak_megabytes']} MB")


main()

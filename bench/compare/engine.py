"""The ascent against the memory it streams, and its cost from one to sixteen million edges; a step of the outermost eigenvalues:
engine.py [pass] [linear] [yelp] [truncated] [warm]

pass    PubMed, all pairs, 50 steps in both directions: time a step as a multiple of one plain pass that reads and writes every value
linear  random graphs of average degree 20 with 1, 2, 4, 8 and 16 million edges, edges and 10 candidates a node: time a pair
yelp    700,000 nodes and 14 million edges, edges and 10 candidates a node: the most memory held
truncated  Cora, K outermost eigenvalues of each end: a step by the block method, cold and warm, by moments and by the whole decomposition
warm    PubMed, K = 200: a step from the eigenpairs of the step before against one from nothing, as a scheme asks and at one tolerance

Seconds are those of all threads, so that ratios hold on a busy machine. PubMed and Cora must be on this machine (FIEDLER_DATA).
"""
import json
import subprocess
import sys

from program import ROOT


def ascent(*arguments):
    return example("ascent", *arguments)


def example(name, *arguments):
    command = [ROOT / f"target/release/examples/{name}", *map(str, arguments)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def steps_of(lines):
    return [line for line in lines if "direction" in line]


def main():
    asked = sys.argv[1:] or ["pass", "linear", "yelp", "truncated", "warm"]
    build = ["cargo", "build", "--release", "--quiet", "-p", "fiedler-augment", "--example", "ascent"]
    build += ["--example", "truncated", "--example", "warm_start"]
    subprocess.run(build, cwd=ROOT, check=True)
    if "pass" in asked:
        lines = ascent("pubmed", "all", 50)
        one_pass = lines[-1]["pass_seconds"]
        for line in steps_of(lines):
            step = line["seconds"] / line["steps"]
            work = line["processor_seconds"] / line["steps"]
            evaluation = line["processor_seconds"] / line["evaluations"]
            of_pass = lines[-1]["pass_processor_seconds"]
            print(f"{line['direction']}: {1e3 * step:.0f} ms a step, {step / one_pass:.1f} of the quickest passes of {1e3 * one_pass:.0f} ms;"
                  f" of processor {work / of_pass:.1f} mean passes a step, {evaluation / of_pass:.1f} an evaluation"
                  f" ({line['evaluations']} of them in {line['steps']} steps)")
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
    if "truncated" in asked:
        for line in example("truncated", "cora", 5, 100, 200, 300, 400, 450, 500, 700, 1000):
            cold, warm, moments, whole = (line[way] or float("nan") for way in ("cold", "warm", "moments", "whole"))
            chosen = {"block": warm, "moments": moments, "whole": whole}[line["chosen"]]
            print(f"Cora, K = {line['k']}: block method {cold:.2f} s cold, {warm:.2f} s warm, moments {moments:.2f} s, all eigenpairs"
                  f" {whole:.2f} s; a scheme takes the {line['chosen']}, {chosen / whole:.2f} of all eigenpairs", flush=True)
    if "warm" in asked:
        for line in example("truncated", "pubmed", 5, 200):
            print(f"PubMed, K = 200, as a scheme asks: {line['cold']:.1f} s cold, {line['warm']:.1f} s warm,"
                  f" {line['cold'] / line['warm']:.1f} times as fast", flush=True)
        for line in example("warm_start", "pubmed", 200, 1e-3, 1, 2, 5, 10, 20):
            cold, warm = line["cold_processor_seconds"], line["warm_processor_seconds"]
            print(f"PubMed, K = 200, both to 1e-3, {line['direction']}, step {line['step']}: {cold:.1f} s cold, {warm:.1f} s warm,"
                  f" {cold / warm:.1f} times as fast ({line['rounds']} rounds, moved by {line['moved']})", flush=True)


main()

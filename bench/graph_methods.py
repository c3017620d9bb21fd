"""Seconds and memory of every graph-level method on one set: graph_methods.py [--dataset nci1] [--epochs 3] [--threads 2] [--program PATH]

Each method embeds the set once with its recipe or what it recommends, without an evaluation; printed are seconds of an epoch of training and
the most memory that the process held, as `run.json` has them. Needs FIEDLER_DATA.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
METHODS = ["infograph", "graphcl", "joao", "joao-v2", "ad-gcl", "mvgrl", "graphmae", "simgrace", "span"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", default="nci1")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "fiedler"))
    asked = parser.parse_args()
    print("| method | seconds an epoch | MB at most |\n|---|---|---|")
    for method in asked.methods.split(","):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run"
            command = [asked.program, "embed", asked.dataset, "--method", method, "--epochs", str(asked.epochs), "--no-evaluate"]
            subprocess.run([*command, "--threads", str(asked.threads), "--out", str(out), "--quiet"], check=True)
            result = json.loads((out / "run.json").read_text())["result"]
        seconds, memory = result["training_seconds"] / result["epochs"], result["peak_bytes"] / 1e6
        print(f"| `{method}` | {seconds:.2f} | {memory:.0f} |", flush=True)


main()

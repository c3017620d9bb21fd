"""What schemes say against what they draw: schemes.py [table] [ratios] [curve] [--program PATH]

table   told / drawn norms (mean of ten views) of the opposite scheme, objectives expected and sampled, ratio 0.3
ratios  the same on cora and usa-airports, objective sampled, ratios 0.05 to 0.5
curve   cora, objective sampled: norm against diversity for caps of the flip probability from 1 down to 0.3

Marks: ! wrong side of the start, = no move, * drawn more than 1 % off what is told. Real data is looked for as the program does
(FIEDLER_DATA). With --program another build of the program is asked; by default that of `cargo build --release`.
"""
import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
GRAPHS = {
    "cora": ["cora"],
    "cora, propagation": ["cora", "--operator", "propagation"],
    "grid 30×40": ["grid:rows=30,columns=40"],
    "path 1,000": ["path:nodes=1000"],
    "cycle 1,000": ["cycle:nodes=1000"],
    "star 1,000": ["star:nodes=1000"],
    "sbm, 5 blocks": ["sbm:nodes=500,classes=5"],
    "usa-airports": ["usa-airports"],
    "complete 60": ["complete:nodes=60"],
    "one node": ["path:nodes=1"],
    "no edges": ["erdos-renyi:nodes=20,probability=0"],
}


def scheme(program, *arguments):
    command = [str(program), "augment", *map(str, arguments), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[0]
    found = json.loads(done.stdout)
    return found | {view["name"]: view for view in found["views"]}


def cell(view, direction):
    if view["norm_after"] is None or view["drawn_norm"] is None:
        return "none"
    before, told = view["norm_before"], view["norm_after"]
    drawn = view["drawn_norm"]["mean"]
    side = (drawn - before) * (1 if direction == "max" else -1)
    mark = "=" if abs(drawn - before) <= 1e-4 * before else "!" if side < 0 else ""
    mark += "*" if abs(drawn - told) > 0.01 * told else ""
    return f"{told:.2f} / {drawn:.2f}{mark} ({view['steps']} steps, gap {view['first_order_gap'] or 0:.0e}, div {view['diversity'] or 0:.2f})"


def row(program, name, arguments, objectives):
    cells, before = [], float("nan")
    for objective in objectives:
        found = scheme(program, *arguments, "--norm", objective)
        if isinstance(found, str):
            cells += [found, found]
            continue
        before = found["max"]["norm_before"]
        cells += [cell(found[direction], direction) for direction in ("max", "min")]
        for warning in found["warnings"]:
            print(f"    {name}, {objective}: {warning}", flush=True)
    print(f"| {name} | {before:.2f} | " + " | ".join(cells) + " |", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("what", nargs="*")
    arguments.add_argument("--program", default=ROOT / "target" / "release" / "fiedler")
    asked = arguments.parse_args()
    what = asked.what or ["table", "ratios", "curve"]
    if "table" in what:
        print("| graph | before | expected max | expected min | sampled max | sampled min |\n|---|---|---|---|---|---|")
        for name, graph in GRAPHS.items():
            row(asked.program, name, [*graph, "--ratio", 0.3], ["expected", "sampled"])
    if "ratios" in what:
        print("| graph | before | sampled max | sampled min |\n|---|---|---|---|")
        for name in ("cora", "usa-airports"):
            for ratio in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
                row(asked.program, f"{name}, {ratio}", [name, "--ratio", ratio], ["sampled"])
    if "curve" in what:
        print("| most probability | max: drawn norm | diversity | min: drawn norm | diversity |\n|---|---|---|---|---|")
        for most in (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3):
            found = scheme(asked.program, "cora", "--ratio", 0.3, "--norm", "sampled", "--max-probability", most)
            cells = [f"{found[view]['drawn_norm']['mean']:.2f} | {found[view]['diversity']:.3f}" for view in ("max", "min")]
            print(f"| {most} | " + " | ".join(cells) + " |", flush=True)


main()

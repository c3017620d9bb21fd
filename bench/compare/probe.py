"""Times the logistic probe beside scikit-learn's LogisticRegression: probe.py [--threads N] [--rounds N] [--tolerance T].

Same embeddings, same C, same tolerance, same number of threads, in turns; the better of the rounds counts. Embeddings are made the way
encoders make them: few hidden directions, many correlated columns, a rectifier. Each program computes in f64. Beside the times stand
the objectives, evaluated here in f64 for both, and how many predictions differ.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = [("Cora-size", 2708, 512, 7), ("PubMed-size", 19717, 512, 3), ("Cora, 10 % to learn from", 271, 512, 7)]
STRENGTHS = [0.01, 1.0, 100.0]
PATH = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]


def embeddings(rows, columns, classes):
    random = np.random.default_rng(0)
    y = random.integers(0, classes, rows)
    hidden = 0.6 * random.standard_normal((classes, 16))[y] + random.standard_normal((rows, 16))
    x = np.maximum(hidden @ random.standard_normal((16, columns)) / 4 + 0.5 * random.standard_normal((rows, columns)), 0)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32), y


def scikit_learn(x, y, strengths, tolerance, threads):
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, processor = time.perf_counter(), time.process_time()
        for strength in strengths:
            model = LogisticRegression(C=strength, tol=tolerance, max_iter=5000).fit(x, y)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    loss = -model.predict_log_proba(x)[np.arange(len(y)), y].mean()
    objective = loss + (model.coef_**2).sum() / (2 * strengths[-1] * len(y))
    return wall, processor, objective, model.predict(x)


def ours(folder, strengths, tolerance, threads):
    program = ROOT / "target" / "release" / "examples" / "probe"
    command = [str(program), folder, ",".join(map(str, strengths)), str(tolerance)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
    predicted = np.array(printed["predicted"])
    return printed["seconds"], printed["processor"], printed["objectives"][-1], predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet", "-p", "fiedler-evaluate", "--example", "probe"]
    subprocess.run(build, cwd=ROOT, check=True)
    for name, rows, columns, classes in SIZES:
        x, y = embeddings(rows, columns, classes)
        wide = x.astype(np.float64)
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", x)
            np.save(f"{folder}/y.npy", y)
            for strengths in [*([strength] for strength in STRENGTHS), PATH]:
                rounds = [(scikit_learn(wide, y, strengths, options.tolerance, options.threads),
                           ours(folder, strengths, options.tolerance, options.threads)) for _ in range(options.rounds)]
                (theirs, mine) = (min((pair[side][:2] for pair in rounds)) for side in (0, 1))
                (_, _, their_objective, their_classes), (_, _, objective, found) = rounds[0]
                what = f"C = {strengths[0]:g}" if len(strengths) == 1 else f"{len(strengths)} values of C"
                print(f"{name}, {rows} x {columns}, {classes} classes, {what}: "
                      f"scikit-learn {theirs[0]:.3f} s ({theirs[1]:.3f} s of processor), "
                      f"here {mine[0]:.3f} s ({mine[1]:.3f}), {theirs[0] / mine[0]:.1f} times as fast; "
                      f"objectives {their_objective:.9g} and {objective:.9g}, "
                      f"{(their_classes != found).sum()} predictions differ", flush=True)


if __name__ == "__main__":
    main()

"""Times the probes beside scikit-learn's: probe.py [--threads N[,N]] [--rounds N] [--large].

One task: the models of all six weights that an evaluation chooses from. Same embeddings in f64, in turns. Each contestant runs with every
number of threads given (1 by default) and its best run counts, wall and processor time each by itself: on a machine with other work to do,
threads of OpenBLAS wait for each other by spinning, and two of them have taken forty times the processor time of one. Embeddings are made the way encoders make them: few hidden directions, many correlated columns, a rectifier.

A faster answer may be a worse one, so beside the times stands how far the objective (mean cross-entropy plus |w|^2 / (2 C n), computed
here in f64 for all) is above the lowest that anybody found, the worst of the six, and how many predictions differ from those of the lowest.
scikit-learn's newton-cholesky decomposes a matrix of (columns x classes)^2 in each step, so it only takes part where there are few classes.
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
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "target" / "release" / "examples" / "probe"
SIZES = [("Cora, 10 %", 271, 7), ("PubMed, 10 %", 1972, 3), ("Coauthor-CS, 10 %", 1833, 15), ("all of Cora", 2708, 7)]
LARGE = [("all of PubMed", 19717, 3)]
COLUMNS = 512
WEIGHTS = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
SOLVERS = [("lbfgs, its default tolerance", "lbfgs", 1e-4), ("lbfgs", "lbfgs", 1e-6),
           ("newton-cholesky", "newton-cholesky", 1e-6)]


def embeddings(rows, columns, classes):
    random = np.random.default_rng(0)
    y = random.integers(0, classes, rows)
    hidden = 0.6 * random.standard_normal((classes, 16))[y] + random.standard_normal((rows, 16))
    x = np.maximum(hidden @ random.standard_normal((16, columns)) / 4 + 0.5 * random.standard_normal((rows, columns)), 0)
    return ((x - x.mean(0)) / x.std(0)).astype(np.float32), y


def timed(threads, fit):
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, processor = time.perf_counter(), time.process_time()
        models = [fit(weight) for weight in WEIGHTS]
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return wall, processor, [(model.coef_, model.intercept_) for model in models]


def ours(folder, kind, threads, columns):
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    command = [str(PROGRAM), kind, folder, ",".join(map(str, WEIGHTS))]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
    models = [(np.array(model["weights"]).reshape(columns, -1).T, np.array(model["intercepts"]))
              for model in found["models"]]
    return found["seconds"], found["processor"], models


def objective(x, y, weight, model):
    weights, intercepts = model
    scores = x @ weights.T + intercepts
    loss = (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).mean()
    return loss + (weights**2).sum() / (2 * weight * len(y))


def ridge_objective(x, y, weight, model):
    weights, intercept = model
    return ((x @ weights.ravel() + intercept - y) ** 2).mean() + weight * (weights**2).sum() / len(y)


def show(name, best, value, predict):
    """`best`: for each contestant, ours last, its best round."""
    values = {who: [value(weight, model) for weight, model in zip(WEIGHTS, models)]
              for who, (_, _, models) in best.items()}
    lowest = np.min(list(values.values()), axis=0)
    *_, (_, (wall, processor, _)) = best.items()
    print(f"{name} (load {os.getloadavg()[0]:.1f})")
    for who, (their_wall, their_processor, models) in best.items():
        gap = (np.array(values[who]) - lowest).max()
        differ = ""
        if predict:
            winners = [min(best, key=lambda one: values[one][at]) for at in range(len(WEIGHTS))]
            wrong = sum((predict(models[at]) != predict(best[winners[at]][2][at])).sum() for at in range(len(WEIGHTS)))
            differ = f", {wrong} of all predictions differ"
        print(f"  {who:45} {their_wall:8.3f} s, {their_processor:8.3f} of processor "
              f"({their_wall / wall:6.1f}, {their_processor / max(processor, 0.01):6.1f} times ours), "
              f"objective {gap:.1e} above the lowest{differ}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=lambda text: [int(part) for part in text.split(",")], default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also all of PubMed, which takes scikit-learn minutes")
    options = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet", "-p", "fiedler-evaluate", "--example", "probe"]
    subprocess.run(build, cwd=ROOT, check=True)
    for name, rows, classes in SIZES + (LARGE if options.large else []):
        x, y = embeddings(rows, COLUMNS, classes)
        wide = x.astype(np.float64)
        values = np.round(wide[:, :8].sum(axis=1) + np.random.default_rng(1).standard_normal(rows), 3).astype(np.float32)
        logistic, ridge = {}, {}

        def keep(best, who, run):
            for threads in options.threads:
                wall, processor, models = run(threads)
                before = best.get(who, (wall, processor, models))
                best[who] = (min(wall, before[0]), min(processor, before[1]), models)

        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", x)
            np.save(f"{folder}/classes.npy", y)
            np.save(f"{folder}/values.npy", values)
            for _ in range(options.rounds):
                for who, solver, tolerance in SOLVERS[:3 if classes < 4 else 2]:
                    fit = lambda weight: LogisticRegression(C=weight, solver=solver, tol=tolerance, max_iter=5000).fit(wide, y)
                    keep(logistic, f"scikit-learn, {who}", lambda threads: timed(threads, fit))
                keep(logistic, "here", lambda threads: ours(folder, "logistic", threads, COLUMNS))
                fit = lambda weight: Ridge(alpha=weight).fit(wide, values.astype(np.float64))
                keep(ridge, "scikit-learn", lambda threads: timed(threads, fit))
                keep(ridge, "here", lambda threads: ours(folder, "ridge", threads, COLUMNS))
        predict = lambda model: (wide @ model[0].T + model[1]).argmax(axis=1)
        shape = f"{rows} x {COLUMNS}"
        show(f"{name}, {shape}, logistic regression of {classes} classes, six weights", logistic,
             lambda weight, model: objective(wide, y, weight, model), predict)
        show(f"{name}, {shape}, ridge regression, six weights", ridge,
             lambda weight, model: ridge_objective(wide, values, weight, model), None)


if __name__ == "__main__":
    main()

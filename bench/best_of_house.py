"""The best recipe for each dataset, chosen on validation: best_of_house.py [--out FOLDER] [--datasets A,B] [--splits N] [--seeds N] [--threads N]

Every candidate, a combination of objective, encoder, views and what stands beside the embedding, embeds every dataset with seed 0 and is
evaluated on random splits (10 % train, 10 % validation). The best on the *validation* parts is the recipe of the dataset; only then, and of no other candidate,
the test parts are looked at: of as many seeds as asked for, each with as many splits, paired with those of `hops`, which is not trained.
What has been computed lies in the folder and is not computed again. The datasets are those of FIEDLER_DATA.
"""
import argparse
import json
import pathlib
import subprocess

from default import BESIDE, DATASETS, ROOT

HOPS = ["--recipe", "none", "--method", "hops"]
GCN = ["--set", "method.encoder.name=gcn", "--set", "method.encoder.last_activation=identity"]


def with_hops(method, *more):
    return ["--recipe", "none", "--method", method, "--beside", "hops", *more]


CANDIDATES = {
    "hops": HOPS,
    "CCA-SSG decoupled beside hops": BESIDE,
    "CCA-SSG GCN beside hops": [*BESIDE, *GCN],
    "CCA-SSG GCN": [*BESIDE, *GCN, "--set", "embedding.beside=none"],
    "GBT beside hops": with_hops("gbt"),
    "BGRL beside hops": with_hops("bgrl"),
    "DGI beside hops": with_hops("dgi"),
    "MVGRL": ["--recipe", "none", "--method", "mvgrl"],
    "MVGRL beside hops": with_hops("mvgrl"),
}
# The aim: the best published on such splits.
PUBLISHED = {"cora": 85.9, "citeseer": 73.3, "pubmed": 86.0, "amazon-photo": 95.3, "coauthor-cs": 95.0}


def splits_of(asked, dataset, name, seed):
    """Accuracies on validation and test of every split of a seed."""
    kept = pathlib.Path(asked.out) / f"{dataset}-{name.replace(' ', '-')}-{seed}-{asked.splits}.json"
    if not kept.exists():
        common = ["--quiet", "--threads", asked.threads, "--seed", seed]
        folder, data = kept.with_suffix(".run"), DATASETS[dataset]
        run = ["embed", data, *CANDIDATES[name], "--out", folder, "--force", "--no-evaluate", "--no-report", *common]
        judge = ["evaluate", folder / "embeddings.npy", "--labels", data, "--protocol", "random", "--splits", asked.splits, "--json", *common]
        subprocess.run([asked.program, *map(str, run)], check=True, stdout=subprocess.DEVNULL)
        printed = subprocess.run([asked.program, *map(str, judge)], check=True, capture_output=True, text=True).stdout
        subprocess.run(["rm", "-r", folder], check=True)
        found = json.loads(printed)["splits"]
        parts = {"validation": "validation", "test": "value"}
        kept.write_text(json.dumps({part: [100 * split[key] for split in found] for part, key in parts.items()}))
    return json.loads(kept.read_text())


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="best-of-house")
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,amazon-photo,coauthor-cs,blogcatalog,flickr")
    parser.add_argument("--candidates", help="some of them, separated by commas, where all would take too long")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    pathlib.Path(asked.out).mkdir(parents=True, exist_ok=True)
    candidates = asked.candidates.split(",") if asked.candidates else list(CANDIDATES)
    rows = []
    for dataset in asked.datasets.split(","):
        on_validation = {}
        for name in candidates:
            values = splits_of(asked, dataset, name, 0)["validation"]
            on_validation[name] = sum(values) / len(values)
            print(f"{dataset}, {name}: {on_validation[name]:.2f} on validation", flush=True)
        best = max(on_validation, key=on_validation.get)
        chosen, hops = ([value for seed in range(asked.seeds) for value in splits_of(asked, dataset, name, seed)["test"]]
                        for name in (best, "hops"))
        difference, deviation = mean_and_deviation([one - other for one, other in zip(chosen, hops)])
        of = lambda values: "{:.2f} ± {:.2f}".format(*mean_and_deviation(values))
        error = deviation / len(chosen) ** 0.5
        rows.append(f"| {dataset} | {best} | {of(chosen)} | {of(hops)} | {difference:+.2f} ± {error:.2f} | {PUBLISHED.get(dataset, '')} |")
    print(f"\nTest accuracy in %, {asked.seeds} seeds × {asked.splits} splits: mean ± deviation; the difference with its standard error\n")
    print("| | chosen on validation | test | hops | less hops | best published |\n|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()

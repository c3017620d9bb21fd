"""How the default of `embed` for nodes was chosen: default.py [--out FOLDER] [--datasets A,B] [--splits N] [--threads N] [--program PATH]

Every candidate embeds every dataset, and is evaluated on the same random splits (10 % train, 10 % validation). Only accuracies on the
*validation* parts are looked at; those on the test parts are neither printed nor kept. A candidate is described by its mean over the
datasets and by its regret: how far, on the dataset that suits it least, it is behind the best candidate there. The program's default
is the one with the best mean. What has been computed lies in the folder and is not computed again.

The datasets are those of FIEDLER_DATA.
"""
import argparse
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("FIEDLER_DATA", "."))
DATASETS = {
    "cora": "cora",
    "citeseer": "citeseer",
    "polblogs": "polblogs",
    "usa-airports": "usa-airports",
    "blogcatalog": str(DATA / "attributed/blogcatalog.npz"),
    "amazon-photo": "amazon-photo",
    "flickr": str(DATA / "attributed/flickr.npz"),
    "pubmed": "pubmed",
    "coauthor-cs": "coauthor-cs",
}
BESIDE = ["--recipe", "none"]
RAW_ROWS = ["--set", "features.normalize_rows=false"]
CANDIDATES = {
    "hops": ["--recipe", "none", "--method", "hops"],
    "decoupled beside hops": BESIDE,
    "decoupled beside hops, rows as they are": [*BESIDE, *RAW_ROWS],
    "decoupled beside hops, spectral views": [*BESIDE, "--scheme", "opposite", "--ratio", "0.3"],
    "GCN beside hops": [*BESIDE, "--set", "method.encoder.name=gcn", "--set", "method.encoder.last_activation=identity"],
    "decoupled alone": [*BESIDE, "--set", "embedding.beside=none"],
}


def validation(program, folder, data, arguments, splits, threads):
    """Accuracies on the validation parts."""
    common = ["--quiet", "--threads", str(threads)]
    run = [program, "embed", data, *arguments, "--out", folder / "run", "--force", "--no-evaluate", "--no-report", *common]
    subprocess.run(list(map(str, run)), check=True, stdout=subprocess.DEVNULL)
    judge = [program, "evaluate", folder / "run/embeddings.npy", "--labels", data, "--protocol", "random", "--splits", splits, "--json", *common]
    printed = subprocess.run(list(map(str, judge)), check=True, capture_output=True, text=True).stdout
    return [split["validation"] for split in json.loads(printed)["splits"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="default-choice")
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    out = pathlib.Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    datasets = asked.datasets.split(",")
    means = {}
    for dataset in datasets:
        for name, arguments in CANDIDATES.items():
            kept = out / f"{dataset}-{name.replace(' ', '-').replace(',', '')}-{asked.splits}.json"
            if not kept.exists():
                found = validation(asked.program, out, DATASETS[dataset], arguments, asked.splits, asked.threads)
                kept.write_text(json.dumps(found))
            values = json.loads(kept.read_text())
            means[dataset, name] = 100 * sum(values) / len(values)
            print(f"{dataset}, {name}: {means[dataset, name]:.2f} on validation", flush=True)
    print("\n| | " + " | ".join(datasets) + " | mean | regret |\n|---|" + "---|" * (len(datasets) + 2))
    best = {dataset: max(means[dataset, name] for name in CANDIDATES) for dataset in datasets}
    for name in CANDIDATES:
        row = [means[dataset, name] for dataset in datasets]
        regret = max(best[dataset] - means[dataset, name] for dataset in datasets)
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in row) + f" | {sum(row) / len(row):.2f} | {regret:.2f} |")


if __name__ == "__main__":
    main()

"""Whether a recipe of GCL-SPAN has the right views: recipe_views.py [--out FOLDER] [--recipes A,B] [--seeds N] [--threads N] [--program PATH]

Every recipe is run as it is, and with other objectives and caps of its scheme, from equal seeds; all else stays. Accuracies are those on the
*validation* parts of 20 random splits a seed (10 % train, 10 % validation; for sets of graphs ten folds). Test parts are not looked at. What has
been computed lies in the folder and is not computed again. The datasets are those of FIEDLER_DATA.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

from default import ROOT

DATA = {"citeseer-public": "citeseer", "pubmed-public": "pubmed"}
PROTOCOLS = {"mutag": "kfold", "citeseer-public": "public", "pubmed-public": "public"}
VIEWS = {
    "sampled": {"objective": "sampled"},
    "expected": {"objective": "expected"},
    "sampled, cap 0.5": {"objective": "sampled", "max_probability": 0.5},
    "expected, cap 0.5": {"objective": "expected", "max_probability": 0.5},
}


def validation(asked, recipe, name, seed):
    """Accuracies on the validation parts of a seed's splits."""
    kept = pathlib.Path(asked.out) / f"{recipe}-{name.replace(' ', '-').replace(',', '')}-{seed}.json"
    if not kept.exists():
        data, folder = DATA.get(recipe, recipe), kept.with_suffix(".run")
        common = ["--quiet", "--threads", asked.threads, "--seed", seed]
        changes = [word for key, value in VIEWS[name].items() for word in ("--set", f"scheme.{key}={json.dumps(value)}")]
        run = ["embed", data, "--recipe", recipe, *changes, "--out", folder, "--force", "--no-evaluate", "--no-report", *common]
        subprocess.run([asked.program, *map(str, run)], check=True, stdout=subprocess.DEVNULL)
        judge = ["evaluate", folder / "embeddings.npy", "--labels", data, "--protocol", PROTOCOLS.get(recipe, "random"), "--json", *common]
        judge += ["--splits", 20] if recipe not in PROTOCOLS else []
        printed = subprocess.run([asked.program, *map(str, judge)], check=True, capture_output=True, text=True).stdout
        subprocess.run(["rm", "-r", folder], check=True)
        kept.write_text(json.dumps([split["validation"] for split in json.loads(printed)["splits"]]))
    return json.loads(kept.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="recipe-views")
    parser.add_argument("--recipes", default="mutag,citeseer,cora,citeseer-public")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    pathlib.Path(asked.out).mkdir(parents=True, exist_ok=True)
    print("| recipe | " + " | ".join(VIEWS) + " |\n|---" + "|---" * len(VIEWS) + "|")
    for recipe in asked.recipes.split(","):
        row = []
        for name in VIEWS:
            means = [100 * statistics.mean(validation(asked, recipe, name, seed)) for seed in range(asked.seeds)]
            row.append(f"{statistics.mean(means):.2f} ± {statistics.stdev(means) if len(means) > 1 else 0:.2f}")
        print(f"| {recipe} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Mini-batch against full batch, accuracy in %: minibatch.py [--out FOLDER] [--datasets A,B] [--methods A,B] [--samplers A,B] [--batch-nodes N] [--seeds N]

Every method embeds every dataset with its recipe, with the whole graph in each step and in parts of it, from equal seeds, and is evaluated on the same 20 random splits
(10 % train, 10 % validation) for each seed. Differences are paired over seeds and splits. What has been computed lies in the folder and is not computed
again. The datasets are those of FIEDLER_DATA. A sampler may have settings: neighbors/fan_out=[10,10].
"""
import argparse
import json
import pathlib
import subprocess

from best_of_house import mean_and_deviation
from default import DATASETS, ROOT


def splits_of(asked, dataset, method, sampler, seed):
    """Accuracy on the test part of every split of a seed."""
    nodes = "" if sampler == "whole" else f"-{asked.batch_nodes}"
    name = f"{dataset}-{method}-{sampler.replace('/', '-')}{nodes}-{asked.epochs or 'recipe'}-{seed}"
    kept = pathlib.Path(asked.out) / f"{name}.json"
    if not kept.exists():
        common = ["--quiet", "--threads", asked.threads, "--seed", seed]
        folder, data = kept.with_suffix(".run"), DATASETS[dataset]
        run = ["embed", data, "--method", method, "--out", folder, "--force", "--no-evaluate", "--no-report", *common]
        if asked.epochs:
            run += ["--epochs", asked.epochs]
        if sampler != "whole":
            kind, *settings = sampler.split("/")
            run += ["--sampler", kind, "--batch-nodes", asked.batch_nodes]
            run += [word for setting in settings for word in ("--set", f"training.sampler.{setting}")]
        judge = ["evaluate", folder / "embeddings.npy", "--labels", data, "--protocol", "random", "--splits", 20, "--json", *common]
        subprocess.run([asked.program, *map(str, run)], check=True, stdout=subprocess.DEVNULL)
        seconds = json.loads((folder / "run.json").read_text())["result"]["training_seconds"]
        printed = subprocess.run([asked.program, *map(str, judge)], check=True, capture_output=True, text=True).stdout
        subprocess.run(["rm", "-r", folder], check=True)
        kept.write_text(json.dumps({"test": [100 * split["value"] for split in json.loads(printed)["splits"]], "seconds": seconds}))
    return json.loads(kept.read_text())["test"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="minibatch")
    parser.add_argument("--datasets", default="cora,pubmed,coauthor-cs")
    parser.add_argument("--methods", default="cca-ssg,grace,bgrl,span")
    parser.add_argument("--samplers", default="clusters")
    parser.add_argument("--batch-nodes", type=int, default=1024)
    parser.add_argument("--epochs", type=int, help="in place of those of the recipes, in all rows")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    pathlib.Path(asked.out).mkdir(parents=True, exist_ok=True)
    of = lambda values: "{:.2f} ± {:.2f}".format(*mean_and_deviation(values))
    print("| | method | whole graph | in parts by | | less the whole graph |\n|---|---|---|---|---|---|")
    for dataset in asked.datasets.split(","):
        for method in asked.methods.split(","):
            accuracies = lambda sampler: [value for seed in range(asked.seeds) for value in splits_of(asked, dataset, method, sampler, seed)]
            whole = accuracies("whole")
            for sampler in asked.samplers.split(","):
                parts = accuracies(sampler)
                difference, deviation = mean_and_deviation([one - other for one, other in zip(parts, whole)])
                error = deviation / len(parts) ** 0.5
                print(f"| {dataset} | `{method}` | {of(whole)} | `{sampler}` | {of(parts)} | {difference:+.2f} ± {error:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""What each method for nodes takes and reaches: methods.py [DATASET] [--methods A,B] [--splits N] [--threads N]

Every method embeds the dataset with what `fiedler embed DATA --method NAME` chooses for it, in a process of its own: seconds of training (of
fitting, for methods without training) and the peak of memory are those that run.json has. Accuracy is over random splits of one seed, 10 % train and
10 % validation; `fiedler reproduce node` has more seeds. Needs the dataset (FIEDLER_DATA) and a quiet machine.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
METHODS = "raw,spectral,hops,cca-ssg,gbt,dgi,bgrl,sgrl,grace,gca,mvgrl,gmi,span"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", default="cora")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    common = ["--quiet", "--threads", asked.threads]

    def run(*arguments):
        command = list(map(str, [asked.program, *arguments, *common]))
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    print("| method | accuracy, % | seconds | memory, MB | columns |\n|---|---|---|---|---|")
    for method in asked.methods.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "run"
            run("embed", asked.dataset, "--method", method, "--out", folder, "--no-evaluate", "--no-report")
            result = json.loads((folder / "run.json").read_text())["result"]
            score = json.loads(run("evaluate", folder / "embeddings.npy", "--labels", asked.dataset, "--protocol", "random",
                                   "--splits", asked.splits, "--json"))
        # Peaks are those of the whole process: reading, scheme, training.
        print(f"| `{method}` | {100 * score['mean']:.1f} ± {100 * score['std']:.1f} | {result['training_seconds'] + result['scheme_seconds']:.1f} "
              f"| {result['peak_bytes'] / 1e6:.0f} | {result['columns']} |", flush=True)


if __name__ == "__main__":
    main()

"""Which features suit graphs whose nodes have few columns: few_columns.py [--out FOLDER] [--datasets A,B] [--columns 2,4,16] [--splits N] [--threads N] [--program PATH]

Tables of users often have a handful of columns in different units, where the datasets of publications have hundreds of words. They are made
here of published datasets: K random columns of the features ("words"), or their first K principal components, each in a unit and with an
offset of its own, as tables of measurements have ("units"). Every candidate embeds every one of them. As in default.py, only accuracies on
the *validation* parts of random splits (10 % train, 10 % validation) are looked at. What has been computed lies in the folder and is not
computed again.

Needs numpy and scipy, and the datasets of FIEDLER_DATA.
"""
import argparse
import json
import pathlib
import subprocess

import numpy
import scipy.sparse.linalg

from default import DATASETS, ROOT, validation

WITH_STRUCTURE = ["--feature-sources", "given+structural+spectral:64"]
CANDIDATES = {
    "raw": ["--recipe", "none", "--method", "raw", "--feature-sources", "given"],
    "spectral": ["--recipe", "none", "--method", "spectral"],
    "hops": ["--recipe", "none", "--method", "hops", "--feature-sources", "given", "--set", "features.standardize=false"],
    "given": ["--recipe", "none", "--feature-sources", "given"],
    "hops, with structure": ["--recipe", "none", "--method", "hops", *WITH_STRUCTURE],
    "with structure": ["--recipe", "none", *WITH_STRUCTURE],
    "given, units as they are": ["--recipe", "none", "--feature-sources", "given", "--set", "features.standardize=false", "--set", "features.normalize_rows=true"],
    "default": [],
}


def features(arrays):
    """The features of a dataset in the layout of gnn-benchmark, sparse."""
    if "attr_matrix" in arrays:
        return scipy.sparse.csr_matrix(arrays["attr_matrix"])
    return scipy.sparse.csr_matrix((arrays["attr_data"], arrays["attr_indices"], arrays["attr_indptr"]), shape=arrays["attr_shape"])


def words(all_columns, count, draw):
    """Random columns among those that are not empty."""
    used = numpy.flatnonzero(numpy.bincount(all_columns.indices, minlength=all_columns.shape[1]) > 0)
    return all_columns[:, numpy.sort(draw.choice(used, min(count, len(used)), replace=False))].toarray()


def units(all_columns, count, draw):
    """Principal components, each times and plus a random number over several orders of magnitude."""
    dense = all_columns.toarray().astype(float)
    left, values, _ = scipy.sparse.linalg.svds(dense - dense.mean(0), count, rng=0)
    order = numpy.argsort(-values)
    components = (left * values)[:, order]
    components /= components.std(0)
    return components * 10 ** draw.uniform(-2, 3, count) + 10 ** draw.uniform(-2, 3, count)


KINDS = {"words": words, "units": units}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="few-columns")
    parser.add_argument("--datasets", default="cora,citeseer,blogcatalog,amazon-photo")
    parser.add_argument("--columns", default="2,4,16,64,128,256")
    parser.add_argument("--kinds", default="words,units")
    parser.add_argument("--candidates", default="|".join(CANDIDATES), help="separated by |")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default=str(ROOT / "target/release/fiedler"))
    asked = parser.parse_args()
    out = pathlib.Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    candidates = asked.candidates.split("|")
    print("| dataset | columns | " + " | ".join(candidates) + " |\n|---" * 1 + "|---" * (len(candidates) + 1) + "|")
    for dataset in asked.datasets.split(","):
        whole = out / f"{dataset}.npz"
        if not whole.exists():
            subprocess.run([asked.program, "convert", DATASETS[dataset], whole], check=True, capture_output=True)
        arrays = dict(numpy.load(whole, allow_pickle=False))
        all_columns = features(arrays)
        others = {name: values for name, values in arrays.items() if not name.startswith("attr_")}
        for kind in asked.kinds.split(","):
            for count in map(int, asked.columns.split(",")):
                name = f"{dataset}-{kind}-{count}"
                if not (out / f"{name}.npz").exists():
                    made = KINDS[kind](all_columns, count, numpy.random.default_rng(count)).astype(numpy.float32)
                    numpy.savez(out / f"{name}.npz", attr_matrix=made, **others)
                row = []
                for candidate in candidates:
                    kept = out / f"{name}-{candidate.replace(' ', '-').replace(',', '')}-{asked.splits}.json"
                    if not kept.exists():
                        found = validation(asked.program, out, out / f"{name}.npz", CANDIDATES[candidate], asked.splits, asked.threads)
                        kept.write_text(json.dumps(found))
                    row.append(100 * numpy.mean(json.loads(kept.read_text())))
                print(f"| {dataset} | {count} {kind} | " + " | ".join(f"{value:.1f}" for value in row) + " |", flush=True)


if __name__ == "__main__":
    main()

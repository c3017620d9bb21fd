"""Reading SMILES as graphs against RDKit with PyTorch Geometric's from_smiles, on the same lines: read_molecules.py FILE [--lines 100000]

FILE is a list or a table of SMILES, plain or .gz; `zcat zinc/moses_*.csv.gz | grep -v SMILES > moses.smi` makes one of all of MOSES. Both
sides make of a molecule nine codes an atom and three a bond; PyTorch Geometric's are integers of 64 bits in tensors of their own. First
both read the same lines, evenly spread, one thread each, and agree on the numbers of atoms and bonds; then all of FILE is read, on all
cores, and the peak of memory told. Needs rdkit, torch and torch_geometric.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import time

from program import ROOT, build


def ours(path, threads=None):
    environment = os.environ | ({"RAYON_NUM_THREADS": str(threads)} if threads else {})
    reader = ROOT / "target" / "release" / "examples" / "read_molecules"
    done = subprocess.run([reader, path], env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def smiles_of(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        for line in file:
            first = line.replace(",", " ").split()
            if first and first[0].lower() != "smiles":
                yield first[0]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("file", type=pathlib.Path)
    arguments.add_argument("--lines", type=int, default=100_000)
    asked = arguments.parse_args()
    build()
    import torch
    from rdkit import RDLogger
    from torch_geometric.utils import from_smiles

    RDLogger.DisableLog("rdApp.*")
    torch.set_num_threads(1)
    lines = list(smiles_of(asked.file))
    chosen = lines[:: max(1, len(lines) // asked.lines)][: asked.lines]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "chosen.smi"
        path.write_text("\n".join(chosen) + "\n")
        ours(path, 1)
        found = ours(path, 1)
        started = time.perf_counter()
        graphs = [from_smiles(smiles) for smiles in chosen]
        theirs = time.perf_counter() - started
        atoms, bonds = sum(graph.num_nodes for graph in graphs), sum(graph.num_edges for graph in graphs) // 2
        assert (atoms, bonds) == (found["atoms"], found["bonds"]), (atoms, bonds, found)
        print(
            f"{len(chosen):,} lines, {atoms:,} atoms, one thread: RDKit and PyTorch Geometric {theirs:.1f} s, "
            f"fiedler {found['seconds']:.2f} s: {theirs / found['seconds']:.1f} times as fast",
            flush=True,
        )
    whole = ours(asked.file.resolve())
    print(f"all {whole['graphs']:,} molecules, all cores: {whole['seconds']:.1f} s, {whole['processor_seconds']:.1f} s of processor, "
          f"peak {whole['peak_bytes'] / 2**30:.2f} GiB")


main()

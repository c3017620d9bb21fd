"""The same bytes as the program's, for the same settings and seed."""

from __future__ import annotations

import filecmp
import json

import numpy as np
import pytest
from conftest import needs, program

import fiedler

RUN_FILES = ["embeddings.npy", "embeddings.ids.csv", "encoder.safetensors"]


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (["citation", "--method", "span", "--epochs", "3", "--seed", "7"], {"method": "span", "epochs": 3, "random_state": 7}),
        (["karate", "--method", "hops", "--dimensions", "8"], {"method": "hops", "dimensions": 8}),
        (["citation", "--epochs", "2"], {"epochs": 2}),
        (["citation", "--recipe", "span-small", "--set", "training.epochs=2"], {"recipe": "span-small", "settings": {"training": {"epochs": 2}}}),
        (
            ["karate", "--method", "grace", "--epochs", "2", "--scheme", "uniform-removal", "--ratio", "0.4"],
            {"method": "grace", "epochs": 2, "augmentation": fiedler.Augmentation({"name": "uniform-removal", "ratio": 0.4})},
        ),
    ],
)
def test_a_saved_run_is_that_of_the_program(tmp_path, arguments, parameters) -> None:
    done = program("embed", *arguments, "--out", "theirs", "--no-evaluate", "--no-report", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    embedder = fiedler.Embedder(**parameters).fit(arguments[0])
    embedder.save(tmp_path / "ours", report=False)
    names = [path.name for path in (tmp_path / "theirs").iterdir() if path.name != "run.json"]
    assert set(RUN_FILES) <= set(names)
    for name in names:
        assert filecmp.cmp(tmp_path / "theirs" / name, tmp_path / "ours" / name, shallow=False), name
    ours, theirs = (json.loads((tmp_path / place / "run.json").read_text()) for place in ("ours", "theirs"))
    assert ours["settings"] == theirs["settings"] and ours["recipe"] == theirs["recipe"]
    assert np.array_equal(np.load(tmp_path / "theirs" / "embeddings.npy"), embedder.embedding_)


def test_a_fit_in_a_folder_leaves_the_same(tmp_path) -> None:
    in_memory = fiedler.Embedder("span", epochs=2).fit("karate")
    in_folder = fiedler.Embedder("span", epochs=2, folder=tmp_path / "run").fit("karate")
    assert np.array_equal(in_memory.embedding_, in_folder.embedding_)
    assert (tmp_path / "run" / "report.html").exists() and not (tmp_path / "run" / "checkpoint.safetensors").exists()
    with pytest.raises(FileExistsError):
        in_folder.fit("karate")


def test_a_scheme_and_its_views_are_those_of_the_program(tmp_path) -> None:
    done = program("augment", "karate", "--ratio", "0.2", "--seed", "5", "--views", "2", "--out", "theirs", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    augmentation = fiedler.SpectralAugmentation(ratio=0.2, random_state=5).fit("karate")
    augmentation.save(tmp_path / "ours.safetensors")
    assert filecmp.cmp(tmp_path / "theirs" / "scheme.safetensors", tmp_path / "ours.safetensors", shallow=False)
    for epoch in range(2):
        for view, name in enumerate(("max", "min")):
            listed = (tmp_path / "theirs" / "views" / f"{name}-{epoch}.csv").read_text().split()
            drawn = augmentation.sample(view, epoch=epoch)
            edges = {tuple(map(int, line.split(",")[:2])) for line in listed if line[0].isdigit() and "," in line}
            assert edges == {(a, b) for a, b in drawn.edge_index.T.tolist() if a < b}


def test_a_score_is_that_of_the_program(tmp_path) -> None:
    z = fiedler.Embedder("hops", dimensions=8).fit_transform("karate")
    np.save(tmp_path / "z.npy", z)
    arguments = ["--labels", "karate", "--protocol", "random", "--splits", "5", "--seed", "3", "--json"]
    done = program("evaluate", "z.npy", *arguments, "--match", "order", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    ours = fiedler.evaluate(z, "karate", protocol="random", splits=5, random_state=3)
    assert (ours.mean, ours.std, ours.splits) == (theirs["mean"], theirs["std"], theirs["splits"])


def test_a_loaded_scheme_draws_the_same(tmp_path, karate) -> None:
    augmentation = fiedler.SpectralAugmentation().fit(karate)
    augmentation.save(tmp_path / "scheme.safetensors")
    again = fiedler.Augmentation.load(tmp_path / "scheme.safetensors", karate)
    assert np.array_equal(augmentation.sample(1, epoch=4).edge_index, again.sample(1, epoch=4).edge_index)
    with pytest.raises(fiedler.DataError, match="another graph"):
        fiedler.Augmentation.load(tmp_path / "scheme.safetensors", "citation")


@needs("mutag")
def test_sets_of_graphs(tmp_path) -> None:
    arguments = ["embed", "mutag", "--method", "hops", "--out", "theirs", "--no-evaluate", "--no-report", "--quiet"]
    assert program(*arguments, cwd=tmp_path).returncode == 0
    z = fiedler.Embedder("hops").fit_transform("mutag")
    assert np.array_equal(np.load(tmp_path / "theirs" / "embeddings.npy"), z) and len(z) == 188

"""Bad input: the named exception with a hint or a clear word, and never a panic."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse

import fiedler

EDGES = np.array([[0, 1], [1, 0]])
SQUARE = scipy.sparse.csr_array(np.ones((4, 4)) - np.eye(4))


def broken_rows() -> scipy.sparse.csr_array:
    matrix = SQUARE.copy()
    matrix.indptr = np.array([0, 3, 2, 9, 12], dtype=np.int32)
    return matrix


BAD_DATA = {
    "float ids": lambda: fiedler.read(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])),
    "negative id": lambda: fiedler.read(np.array([[0, -1], [1, 0]])),
    "id that is too large": lambda: fiedler.read(np.array([[0, 2**40], [1, 0]])),
    "id beyond num_nodes": lambda: fiedler.read(np.array([[0, 5], [5, 0]]), num_nodes=3),
    "ragged edges": lambda: fiedler.read([[0, 1, 2], [1, 0]]),
    "words as edges": lambda: fiedler.read(np.array([["a", "b"], ["b", "a"]])),
    "objects as edges": lambda: fiedler.read(np.array([[object()], [object()]])),
    "three dimensions": lambda: fiedler.read(np.zeros((2, 2, 2))),
    "one dimension": lambda: fiedler.read(np.zeros(5, dtype=int)),
    "not square": lambda: fiedler.read(np.ones((4, 3))),
    "sparse, not square": lambda: fiedler.read(scipy.sparse.csr_array(np.ones((4, 3)))),
    "rows that do not fit": lambda: fiedler.read(broken_rows()),
    "NaN in a matrix": lambda: fiedler.read(np.array([[0, np.nan], [np.nan, 0]])),
    "NaN weight": lambda: fiedler.read(scipy.sparse.csr_array(np.array([[0, np.nan], [np.nan, 0]]))),
    "infinite weight": lambda: fiedler.read(scipy.sparse.csr_array(np.array([[0, np.inf], [np.inf, 0]]))),
    "negative weight": lambda: fiedler.read(scipy.sparse.csr_array(np.array([[0, -2.0], [-2.0, 0]]))),
    "complex weights": lambda: fiedler.read(scipy.sparse.csr_array(np.array([[0, 1j], [1j, 0]]))),
    "None": lambda: fiedler.read(None),
    "empty list": lambda: fiedler.read([]),
    "a number": lambda: fiedler.read(3.5),
    "NaN in features": lambda: fiedler.read(EDGES, features=np.array([[np.nan], [1.0]])),
    "infinity in features": lambda: fiedler.read(EDGES, features=np.array([[np.inf], [1.0]])),
    "too few rows of features": lambda: fiedler.read(SQUARE, features=np.ones((3, 2))),
    "words as features": lambda: fiedler.read(EDGES, features=np.array([["a"], ["b"]])),
    "features of three dimensions": lambda: fiedler.read(SQUARE, features=np.ones((4, 1, 1))),
    "too few labels": lambda: fiedler.read(SQUARE, labels=[0, 1]),
    "labels of three dimensions": lambda: fiedler.read(SQUARE, labels=np.zeros((4, 1, 2))),
    "ragged labels": lambda: fiedler.read(SQUARE, labels=[[1], [1, 2], [1], [1]]),
    "embeddings and labels of other lengths": lambda: fiedler.evaluate(np.ones((5, 2)), [0, 1, 0]),
    "embeddings of one dimension": lambda: fiedler.evaluate(np.ones(5), [0, 1, 0, 1, 0]),
    "NaN in embeddings": lambda: fiedler.evaluate(np.full((4, 2), np.nan), [0, 1, 0, 1]),
    "one class": lambda: fiedler.evaluate(np.ones((30, 2)), [0] * 30),
    "graphs with and without features": lambda: fiedler.read([fiedler.read(EDGES), fiedler.read(EDGES, features=np.eye(2))]),
    "a cross-validation over nodes": lambda: fiedler.Embedder("hops").fit(scipy.sparse.csr_array(np.ones((4, 3)))),
}

BAD_SETTINGS = {
    "no such method": lambda: fiedler.Embedder("sapn").fit(SQUARE),
    "no such recipe": lambda: fiedler.Embedder(recipe="cora-best").fit(SQUARE),
    "no such scheme": lambda: fiedler.Augmentation("oposite"),
    "no such key of a scheme": lambda: fiedler.Augmentation({"name": "opposite", "ration": 0.2}),
    "ratio of a word": lambda: fiedler.Augmentation({"name": "opposite", "ratio": "much"}),
    "ratio out of range": lambda: fiedler.SpectralAugmentation(ratio=-1).fit("karate"),
    "ratio that is no number": lambda: fiedler.SpectralAugmentation(ratio=float("nan")).fit("karate"),
    "no such key": lambda: fiedler.Embedder("span", settings={"training.epoch": 3}).fit("karate"),
    "no such value": lambda: fiedler.Embedder("span", settings={"training": {"epochs": "many"}}).fit("karate"),
    "epochs of zero": lambda: fiedler.Embedder("span", epochs=0).fit("karate"),
    "epochs without training": lambda: fiedler.Embedder("hops", epochs=3).fit("karate"),
    "a scheme without views": lambda: fiedler.Embedder("hops", augmentation=fiedler.Augmentation()).fit("karate"),
    "negative seed": lambda: fiedler.Embedder("hops", random_state=-1).fit("karate"),
    "no such protocol": lambda: fiedler.evaluate(np.ones((34, 2)), "karate", protocol="kfodl"),
    "no such operator": lambda: fiedler.spectrum("karate", operator="adjacency"),
    "k of zero": lambda: fiedler.spectrum("karate", 0),
    "no threads": lambda: fiedler.set_threads(0),
    "no such generator's parameter": lambda: fiedler.read("sbm:node=3"),
    "format of an array": lambda: fiedler.read(EDGES, format="graphml"),
}


@pytest.mark.parametrize("bad", BAD_DATA)
def test_data(bad) -> None:
    with pytest.raises(fiedler.DataError) as caught:
        BAD_DATA[bad]()
    assert isinstance(caught.value, ValueError) and str(caught.value)


@pytest.mark.parametrize("bad", BAD_SETTINGS)
def test_settings(bad) -> None:
    with pytest.raises(fiedler.SettingError) as caught:
        BAD_SETTINGS[bad]()
    assert isinstance(caught.value, ValueError) and "--" not in f"{caught.value} {caught.value.hint}"


def test_names_that_nobody_has() -> None:
    with pytest.raises(fiedler.NotFoundError, match="corra") as caught:
        fiedler.read("corra")
    assert isinstance(caught.value, LookupError) and "did you mean cora" in caught.value.hint
    assert any("did you mean cora" in note for note in caught.value.__notes__)


def test_what_the_system_refuses_stays_the_systems(tmp_path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        fiedler.read(tmp_path / "nothing.csv")
    assert caught.value.filename == str(tmp_path / "nothing.csv")
    with pytest.raises(fiedler.NotFoundError):
        fiedler.Embedder.load(tmp_path / "nowhere")


def test_a_bad_file_is_told_with_its_line(tmp_path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target,weight\na,b,1\nb,c,heavy\n")
    with pytest.raises(fiedler.DataError) as caught:
        fiedler.read(path)
    assert caught.value.file == path and caught.value.line == 3


def test_too_little_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError) as caught:
        fiedler.spectrum("citation", memory=1000)
    assert "lowest and highest" in caught.value.hint


def test_training_that_leads_nowhere() -> None:
    ring = np.array([np.arange(8), (np.arange(8) + 1) % 8])
    with pytest.raises(fiedler.TrainingError, match="collapsed") as caught:
        fiedler.Embedder("span", epochs=3).fit(ring)
    assert isinstance(caught.value, RuntimeError) and caught.value.hint


def test_what_is_not_fitted_says_so(karate) -> None:
    with pytest.raises(fiedler.FiedlerError, match="no graph yet") as caught:
        fiedler.SpectralAugmentation().sample()
    assert "fit(graph)" in caught.value.hint
    augmentation = fiedler.SpectralAugmentation().fit(karate)
    with pytest.raises(fiedler.SettingError, match="view"):
        augmentation.sample(2)
    with pytest.raises(fiedler.SettingError, match="graph"):
        augmentation.sample(0, graphs=[1])
    with pytest.raises(fiedler.DataError, match="not learned"):
        fiedler.report(fiedler.Embedder())


def test_another_number_of_features() -> None:
    embedder = fiedler.Embedder("span", epochs=1).fit("karate")
    with pytest.raises(fiedler.DataError, match="trained on"):
        embedder.transform(SQUARE, features=np.ones((4, 3)))


def test_an_empty_graph(tmp_path) -> None:
    assert fiedler.read(np.empty((2, 0), dtype=int), num_nodes=3).edges == 0
    with pytest.raises(fiedler.FiedlerError):
        fiedler.Embedder("span", epochs=1).fit(np.empty((2, 0), dtype=int))


def test_exceptions_survive_pickling() -> None:
    error = fiedler.DataError("wrong", hint="mend it", file="a.csv", line=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.hint, again.file, again.line) == ("wrong", "mend it", error.file, 3)
    assert fiedler.DataError.__module__ == "fiedler"

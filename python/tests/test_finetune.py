"""Fine-tuning: what the program would give, from an embedder, a folder, or nothing."""

from __future__ import annotations

import filecmp
import json
import os
import pickle
import signal
import sys

import numpy as np
import pytest
from conftest import program

import fiedler

FOLDS = {"protocol": "kfold", "splits": 3}


@pytest.fixture(scope="module")
def embedder() -> fiedler.Embedder:
    return fiedler.Embedder("dgi", epochs=3).fit("karate")


def test_the_same_bytes_as_the_program(tmp_path) -> None:
    embedder = fiedler.Embedder("dgi", epochs=3, folder=tmp_path / "run").fit("karate")
    asked = ["finetune", "run", "karate", "--out", "theirs", "--protocol", "kfold", "--splits", "3", "--epochs", "4", "--mode", "head-first"]
    more = ["--head-learning-rate", "0.02", "--set", "method.class_weights=balanced", "--seeds", "2", "--seed", "5", "--no-report", "--quiet"]
    done = program(*asked, *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tuned = fiedler.finetune(
        embedder,
        "karate",
        **FOLDS,
        epochs=4,
        mode="head-first",
        head_learning_rate=0.02,
        settings={"method": {"class_weights": "balanced"}},
        seeds=2,
        random_state=5,
        folder=tmp_path / "ours",
        report=False,
    )
    names = sorted(path.relative_to(tmp_path / "theirs").as_posix() for path in (tmp_path / "theirs").rglob("*") if path.is_file())
    assert len([name for name in names if name.endswith("embeddings.npy")]) == 6
    for name in names:
        if name.endswith((".npy", ".safetensors", ".csv")):
            assert filecmp.cmp(tmp_path / "theirs" / name, tmp_path / "ours" / name, shallow=False), name
    theirs, ours = (json.loads((tmp_path / place / "finetune.json").read_text()) for place in ("theirs", "ours"))
    assert ours["plan"] == theirs["plan"] and ours["score"] == theirs["score"] and ours == tuned.record_
    assert [run["score"] for run in ours["runs"]] == [run["score"] for run in theirs["runs"]]
    # From the folder and without one it is the same.
    again = fiedler.finetune(
        tmp_path / "run",
        "karate",
        **FOLDS,
        epochs=4,
        mode="head-first",
        head_learning_rate=0.02,
        settings={"method.class_weights": "balanced"},
        seeds=2,
        random_state=5,
    )
    assert again.mean == tuned.mean and again.folder is None
    assert np.array_equal(again.decision_function("karate"), tuned.decision_function("karate"))


def test_what_it_predicts(embedder, karate, tmp_path) -> None:
    tuned = fiedler.finetune(embedder, karate, **FOLDS, epochs=30, folder=tmp_path / "tuned")
    scores = tuned.decision_function(karate)
    assert scores.shape == (34, len(tuned.class_names)) and tuned.class_names == karate.class_names
    found = tuned.predict(karate)
    assert np.array_equal(found, scores.argmax(axis=1)) and (found == karate.labels).mean() > 0.8
    assert tuned.metric == "accuracy" and len(tuned.runs) == 3 and 0 <= tuned.mean <= 1
    best = tmp_path / "tuned" / tuned.record_["score"]["best"]
    assert np.array_equal(np.load(best / "embeddings.npy"), scores), "the encoder is that of the run that is best on validation"
    assert "accuracy" in str(tuned) and "fine-tuned" in fiedler.report(tuned).title
    copy = pickle.loads(pickle.dumps(tuned))
    assert np.array_equal(copy.decision_function(karate), scores) and copy.runs == tuned.runs
    other = fiedler.finetune(tuned, karate, **FOLDS, epochs=1)
    assert other.record_["start"] == str(tmp_path / "tuned")


def test_labels_and_starts_of_all_kinds(embedder) -> None:
    bare = fiedler.read(fiedler.read("karate").adjacency(), features=np.eye(34))
    halves = np.repeat(["low", "high"], 17)
    from_features = fiedler.Embedder("dgi", epochs=2).fit(bare)
    tuned = fiedler.finetune(from_features, bare, halves, **FOLDS, epochs=2)
    assert tuned.class_names == ["high", "low"] and tuned.record_["start"] == "an embedder in memory"
    values = fiedler.finetune(from_features, bare, np.linspace(0, 1, 34) + 0.25, **FOLDS, epochs=2)
    assert values.metric == "rmse" and values.predict(bare).shape == (34,)
    answers = fiedler.finetune(from_features, bare, np.stack([halves == "low", np.arange(34) % 2 == 0], axis=1), **FOLDS, epochs=2)
    assert set(np.unique(answers.predict(bare))) <= {0.0, 1.0} and answers.predict(bare).shape == (34, 2)
    random = fiedler.finetune(None, bare, halves, like=from_features, **FOLDS, epochs=2)
    assert random.record_["start"] is None
    encoder = random.settings_["method"]["encoder"]
    assert encoder == tuned.settings_["method"]["encoder"] and "start" not in random.settings_["method"]
    assert fiedler.finetune(None, bare, halves, **FOLDS, epochs=2).record_["start"] is None


def test_graphs(tmp_path) -> None:
    graphs = fiedler.read([fiedler.read("sbm:nodes=20,classes=2", random_state=seed).adjacency() for seed in range(20)], labels=[0, 1] * 10)
    embedder = fiedler.Embedder("infograph", epochs=1).fit(graphs)
    tuned = fiedler.finetune(embedder, graphs, **FOLDS, epochs=2)
    assert tuned.predict(graphs).shape == (20,)


def test_a_folder_that_is_used_already(embedder, tmp_path) -> None:
    parameters = {**FOLDS, "epochs": 2, "folder": tmp_path / "tuned"}
    first = fiedler.finetune(embedder, "karate", **parameters)
    assert (tmp_path / "tuned" / "report.html").exists()
    with pytest.raises(FileExistsError) as caught:
        fiedler.finetune(embedder, "karate", **parameters)
    assert "force=True" in caught.value.hint
    assert fiedler.finetune(embedder, "karate", **parameters, force=True).mean == first.mean


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_and_the_same_call_goes_on(embedder, tmp_path) -> None:
    parameters = {**FOLDS, "seeds": 2, "epochs": 100, "settings": {"training.patience": 100}}
    whole = fiedler.finetune(embedder, "karate", **parameters)
    first = tmp_path / "tuned" / "seed-0" / "split-0" / "score.json"
    stopped = []

    def stop(what: str, done: int, of: int) -> None:
        # A second Ctrl-C would not wait for the work to stop.
        if first.exists() and not stopped:
            stopped.append(what)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        fiedler.finetune(embedder, "karate", **parameters, folder=tmp_path / "tuned", progress=stop)
    assert str(tmp_path / "tuned") in caught.value.__notes__[0] and "seed" not in caught.value.__notes__[0]
    record = json.loads((tmp_path / "tuned" / "finetune.json").read_text())
    assert not record["finished"] and len(record["runs"]) < 6
    with pytest.raises(fiedler.SettingError, match="other settings"):
        fiedler.finetune(embedder, "karate", **{**parameters, "epochs": 3}, folder=tmp_path / "tuned")
    made = first.stat().st_mtime_ns
    again = fiedler.finetune(embedder, "karate", **parameters, folder=tmp_path / "tuned")
    assert again.mean == whole.mean and first.stat().st_mtime_ns == made, "what was finished is not made again"
    assert np.array_equal(again.decision_function("karate"), whole.decision_function("karate"))


BAD = {
    "no such mode": {"mode": "frozn"},
    "no such key": {"settings": {"training.epoch": 3}},
    "epochs of a word": {"epochs": "many"},
    "no seeds": {"seeds": 0},
    "share of labels": {"label_fraction": 0.0},
    "no such protocol": {"protocol": "kfodl"},
    "like and a start": {"like": "run"},
    "a learning rate of nothing": {"head_learning_rate": -1.0},
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_settings(bad, embedder) -> None:
    with pytest.raises(fiedler.SettingError) as caught:
        fiedler.finetune(embedder, "karate", **{**FOLDS, **BAD[bad]})
    assert "--" not in f"{caught.value} {caught.value.hint}"


def test_bad_starts_and_data(embedder, tmp_path) -> None:
    with pytest.raises(fiedler.NotFoundError, match="holds no encoder"):
        fiedler.finetune(tmp_path, "karate")
    with pytest.raises(fiedler.FiedlerError, match="not learned"):
        fiedler.finetune(fiedler.Embedder("dgi"), "karate")
    with pytest.raises(fiedler.SettingError, match="start is 3"):
        fiedler.finetune(3, "karate")
    with pytest.raises(fiedler.DataError, match="none that could be trained further"):
        fiedler.finetune(fiedler.Embedder("spectral", dimensions=4).fit("karate"), "karate")
    with pytest.raises(fiedler.DataError, match="no labels"):
        fiedler.finetune(embedder, fiedler.read("karate").adjacency())
    with pytest.raises(fiedler.DataError, match="trained on"):
        fiedler.finetune(embedder, "karate", features=np.ones((34, 3)))
    with pytest.raises(fiedler.DataError, match="no folder"):
        fiedler.report(fiedler.finetune(None, "karate", **FOLDS, epochs=1))

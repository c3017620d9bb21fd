"""Progress, notes, and stopping."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import fiedler

LONG = {"method": "span", "epochs": 100_000}


def test_a_function_hears_of_progress() -> None:
    heard = []
    fiedler.Embedder("span", epochs=300, progress=lambda *told: heard.append(told)).fit("karate")
    assert all(isinstance(what, str) and isinstance(done, int) and isinstance(of, int) for what, done, of in heard)
    assert any(what == "training" and of == 300 for what, _, of in heard)


def test_what_a_function_raises_stops_the_work_and_comes_out() -> None:
    def tell(what: str, done: int, of: int) -> None:
        if what == "training" and done > 0:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        fiedler.Embedder(**LONG, progress=tell).fit("karate")


def test_notes_go_to_the_logger(caplog) -> None:
    with caplog.at_level(logging.INFO, logger="fiedler"):
        fiedler.Embedder("span", epochs=1).fit("karate")
    assert any("settings: recipe" in message for message in caplog.messages)


def test_a_bar(capfd) -> None:
    pytest.importorskip("tqdm")
    fiedler.Embedder("span", epochs=200, progress=True).fit("karate")
    assert "training" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_stops_soon_leaves_a_checkpoint_and_the_run_goes_on(tmp_path) -> None:
    code = f"""
        import sys, fiedler
        def tell(what, done, of):
            if what == "training" and done:
                print("training", flush=True)
        embedder = fiedler.Embedder("span", epochs=100_000, settings={{"training.checkpoint_every": 50_000}}, folder={str(tmp_path / "run")!r}, progress=tell)
        try:
            embedder.fit("karate")
        except KeyboardInterrupt as error:
            print("interrupted", *error.__notes__)
            sys.exit(3)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "training"
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.wait(60) == 3 and time.monotonic() - started < 20
    assert "can be gone on with" in process.stdout.read()
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()
    parameters = {"epochs": 100_000, "settings": {"training.checkpoint_every": 50_000}, "folder": tmp_path / "run"}
    heard: list[int] = []

    class Enough(Exception):
        pass

    def tell(what: str, done: int, of: int) -> None:
        if what == "training" and of:
            heard.append(done)
            raise Enough

    with pytest.raises(Enough):
        fiedler.Embedder("span", **parameters, progress=tell).fit("karate")
    assert heard and heard[0] > 0, "it went on where it was stopped"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_in_this_process() -> None:
    def tell(what: str, done: int, of: int) -> None:
        if what == "training" and done:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fiedler.Embedder(**LONG, progress=tell).fit("karate")


def test_other_threads_run_meanwhile() -> None:
    import threading

    count, stop = 0, threading.Event()

    def tick() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    fiedler.Embedder("span", epochs=200).fit("karate")
    stop.set()
    thread.join()
    assert count > 20, "the GIL is released while the library works"


def test_reports(tmp_path, karate) -> None:
    page = fiedler.report(karate)
    assert page.title == "karate" and page.html.startswith("<!") and "<iframe" in page._repr_html_()
    page.save(tmp_path / "karate.html")
    with pytest.raises(FileExistsError):
        fiedler.report(karate, tmp_path / "karate.html")
    embedder = fiedler.Embedder("span", epochs=2).fit(karate)
    assert "span" in fiedler.report(embedder).title
    embedder.save(tmp_path / "run")
    assert (tmp_path / "run" / "report.html").exists()
    assert fiedler.report(tmp_path / "run").title == fiedler.report(fiedler.Embedder.load(tmp_path / "run")).title
    assert "scheme" in fiedler.report(fiedler.SpectralAugmentation().fit(karate)).title


def test_a_loaded_embedder_embeds_as_the_one_that_was_saved(tmp_path, karate) -> None:
    embedder = fiedler.Embedder("span", epochs=2).fit(karate)
    embedder.save(tmp_path / "run", report=False)
    again = fiedler.Embedder.load(tmp_path / "run")
    assert np.array_equal(again.embedding_, embedder.embedding_) and again.settings_ == embedder.settings_
    assert np.array_equal(again.transform(karate), embedder.transform(karate))
    again.save(tmp_path / "copy")
    with pytest.raises(FileExistsError):
        embedder.save(tmp_path / "run")
    refitted = again.fit_transform(karate)
    assert np.array_equal(refitted, embedder.embedding_), "its settings are those of the run"


def test_a_fitted_augmentation_is_not_computed_again(karate) -> None:
    augmentation = fiedler.SpectralAugmentation(ratio=0.25).fit(karate)
    stages = set()
    embedder = fiedler.Embedder("span", epochs=200, augmentation=augmentation, progress=lambda what, *_: stages.add(what))
    z = embedder.fit_transform(karate)
    assert "scheme" not in stages and embedder.settings_["scheme"]["ratio"] == 0.25
    unfitted = fiedler.Embedder("span", epochs=200, augmentation=fiedler.SpectralAugmentation(ratio=0.25))
    assert np.array_equal(z, unfitted.fit_transform(karate))

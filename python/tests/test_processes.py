"""Threads, forks, spawned workers, pickles."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fiedler


def drawn(_: int = 0) -> int:
    """All that goes through the pool of threads: reading, computing, drawing, learning."""
    augmentation = fiedler.SpectralAugmentation(support="all").fit("karate")
    z = fiedler.Embedder("hops", dimensions=8).fit_transform("karate")
    return int(augmentation.sample(0).edge_index.sum()) + len(z)


def test_two_threads_at_once() -> None:
    parameters = {"method": "span", "epochs": 3}
    alone = fiedler.Embedder(**parameters).fit_transform("karate")
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: fiedler.Embedder(**parameters).fit_transform("karate"), range(4)))
    assert all(np.array_equal(alone, z) for z in both)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    found = []
    for threads in (1, 3, None):
        fiedler.set_threads(threads)
        found.append(fiedler.Embedder("span", epochs=2).fit_transform("citation"))
    assert all(np.array_equal(found[0], z) for z in found)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_after_the_pool_has_worked() -> None:
    expected = drawn()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(drawn, range(4)).get(timeout=120) == [expected] * 4


def test_spawned_workers_get_pickled_estimators() -> None:
    # In a program of its own: workers import the module that they are started from.
    code = """
        import multiprocessing, numpy, fiedler

        def work(parts):
            embedder, augmentation = parts
            return embedder.transform("karate"), augmentation.sample(1, epoch=2).edge_index

        if __name__ == "__main__":
            embedder = fiedler.Embedder("hops", dimensions=8).fit("karate")
            augmentation = fiedler.SpectralAugmentation().fit("karate")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                z, edges = pool.map(work, [(embedder, augmentation)])[0]
            assert numpy.array_equal(z, embedder.transform("karate"))
            assert numpy.array_equal(edges, augmentation.sample(1, epoch=2).edge_index)
            print("equal")
    """
    place = pytest.importorskip("tempfile").mkdtemp()
    path = f"{place}/program.py"
    with open(path, "w") as file:
        file.write(textwrap.dedent(code))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "equal", done.stderr


def test_pickles(karate, tmp_path) -> None:
    again = pickle.loads(pickle.dumps(karate))
    assert again.fingerprint == karate.fingerprint and np.array_equal(again.labels, karate.labels)
    pair = fiedler.read([karate, karate])
    assert pickle.loads(pickle.dumps(pair)).fingerprint == pair.fingerprint
    citation = fiedler.read("citation")
    copy = pickle.loads(pickle.dumps(citation))
    assert (copy.features != citation.features).nnz == 0 and copy.splits.keys() == citation.splits.keys()
    embedder = fiedler.Embedder("span", epochs=2).fit(karate)
    again = pickle.loads(pickle.dumps(embedder))
    assert np.array_equal(again.embedding_, embedder.embedding_) and np.array_equal(again.losses_, embedder.losses_)
    assert np.array_equal(again.transform(karate), embedder.transform(karate))
    again.save(tmp_path / "run", report=False)
    assert np.array_equal(fiedler.Embedder.load(tmp_path / "run").embedding_, embedder.embedding_)
    unfitted = pickle.loads(pickle.dumps(fiedler.Embedder("span")))
    assert unfitted.get_params() == fiedler.Embedder("span").get_params()


def test_calls_from_threads_that_are_not_the_first() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(drawn()))
    thread.start()
    thread.join(60)
    assert found == [drawn()]

"""Work shared out: jobs by themselves, and by a local cluster of three node processes of which one, and a worker, are killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import fiedler
from fiedler.distributed import Experiment, augment_many, gather, jobs, reproduce, run_job, shards

ROWS = ["hops", "R-GCN", "GCL-SPAN"]
SMALL = Experiment("node", datasets=["citation:nodes=300"], methods=ROWS, seeds=2, epochs=3, protocol="random")


def results(folder: Path) -> dict[str, bytes]:
    """All that must not depend on who made it, and when: tables, embeddings, encoders, curves."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        # Which schemes are worth their place on the disk depends on how long they took.
        if path.suffix in (".npy", ".safetensors", ".csv", ".md") and not name.startswith("schemes/"):
            found[name] = path.read_bytes()
    assert any(name.endswith("embeddings.npy") for name in found) and any(name.startswith("node-") for name in found)
    return found


def same(table: dict, other: dict) -> bool:
    return table["entries"] == other["entries"] and table["rows"] == other["rows"]


def test_the_runs_of_a_table(tmp_path) -> None:
    listed = jobs(SMALL, tmp_path)
    assert [job.number for job in listed] == list(range(len(listed))) and not any(job.finished for job in listed)
    assert {job.seed for job in listed} == {0, 1} and {job.row for job in listed} == set(ROWS)
    span = [job for job in listed if job.row == "GCL-SPAN"]
    assert len({job.scheme for job in span}) == 1 and span[0].scheme is not None
    assert span[0].work > next(job.work for job in listed if job.row == "hops")
    assert list(tmp_path.iterdir()) == [], "nothing is made by listing"
    assert run_job(SMALL, span[0].number, tmp_path) is True
    after = jobs(SMALL, tmp_path)
    assert [job.number for job in after if job.finished] == [span[0].number] and after[span[1].number].scheme is None
    assert not list(tmp_path.glob("*.json")), "a run writes no table"


def work(place: str) -> None:
    for job in reversed(jobs(SMALL, place)):
        run_job(SMALL, job.number, place)


def test_processes_in_one_folder_come_to_what_one_process_comes_to(tmp_path) -> None:
    whole = gather(SMALL, tmp_path / "whole")
    workers = [multiprocessing.get_context("spawn").Process(target=work, args=(str(tmp_path / "parts"),)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
        assert worker.exitcode == 0
    assert same(gather(SMALL, tmp_path / "parts"), whole)
    assert results(tmp_path / "parts") == results(tmp_path / "whole")


def test_a_lock_of_a_machine_that_is_gone_stops_nobody(tmp_path) -> None:
    from fiedler.distributed import _run

    number = next(job.number for job in jobs(SMALL, tmp_path) if job.row == "R-GCN")
    run_job(SMALL, number, tmp_path / "first")
    (place,) = (path.parent.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("run.json"))
    (tmp_path / "second" / place).mkdir(parents=True)
    lock = {"pid": 1, "host": "a machine that is gone", "started": int(time.time()), "nanoseconds": 0}
    (tmp_path / "second" / place / "run.lock").write_text(json.dumps(lock))
    assert run_job(SMALL, number, tmp_path / "second") is False
    _run(SMALL, number, str(tmp_path / "second"), 1)
    fiedler.set_threads(None)
    assert next(job.finished for job in jobs(SMALL, tmp_path / "second") if job.number == number)
    first, second = (tmp_path / name / place / "embeddings.npy" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_what_is_refused(tmp_path, monkeypatch) -> None:
    with pytest.raises(fiedler.SettingError, match="nodee"):
        jobs(Experiment("nodee"), tmp_path)
    with pytest.raises(fiedler.SettingError, match="case study"):
        jobs(Experiment("case-study"), tmp_path)
    with pytest.raises(fiedler.SettingError, match="expected a list"):
        jobs(Experiment("node", datasets="karate"), tmp_path)
    with pytest.raises(fiedler.SettingError, match="seeds"):
        jobs(Experiment("node", datasets=["karate"], seeds=0), tmp_path)
    with pytest.raises(fiedler.NotFoundError, match="no run 999"):
        run_job(SMALL, 999, tmp_path)
    with pytest.raises(fiedler.SettingError, match="size"):
        list(shards("karate", 0))
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(fiedler.FiedlerError, match="not installed") as caught:
        augment_many("karate", out=tmp_path / "schemes")
    assert "fiedler[ray]" in caught.value.hint


def graphs() -> fiedler.Dataset:
    return fiedler.read([fiedler.read("sbm:nodes=12,classes=2,degree=4", random_state=seed) for seed in range(9)])


def test_shards_know_their_first_number() -> None:
    whole = graphs()
    parts = list(shards(whole, 4))
    assert [(first, len(part)) for first, part in parts] == [(0, 4), (4, 4), (8, 1)]
    assert [whole[4:8].fingerprint, whole[-1:].fingerprint] == [parts[1][1].fingerprint, parts[2][1].fingerprint]
    with pytest.raises(IndexError):
        whole[9:]
    for settings in ("opposite", {"name": "uniform-flipping", "ratio": 0.5}, "uniform-node-dropping"):
        of_whole = fiedler.Augmentation(settings).fit(whole)
        for first, part in parts:
            of_part = fiedler.Augmentation(settings).fit(part, first=first)
            for epoch in range(5):
                numbers = list(range(first, first + len(part)))
                for drawn, expected in zip(of_part.views(epoch=epoch), of_whole.views(epoch=epoch, graphs=numbers), strict=True):
                    assert np.array_equal(drawn.edge_index, expected.edge_index), settings
    assert not np.array_equal(of_part.sample().edge_index, fiedler.Augmentation(settings).fit(part).sample(epoch=1).edge_index)


# What follows needs Ray: a cluster takes seconds to start, so there is one for all tests.


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")
    # Ray gives its workers what others leave of the processors: on a busy machine that is nothing.
    os.environ["RAY_worker_niceness"] = "0"
    made = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def workers_of(node) -> list[int]:
    """Processes that a node has started for tasks of ours, and that are at one."""
    raylets = {info.process.pid for kind, infos in node.all_processes.items() if kind == "raylet" for info in infos}
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            title = (entry / "cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            continue
        if entry.name.isdigit() and parent in raylets and title.startswith(b"ray::fiedler"):
            found.append(int(entry.name))
    return found


@pytest.mark.slow
def test_a_worker_and_a_node_are_killed_and_the_table_is_the_same(cluster, tmp_path) -> None:
    experiment = Experiment("node", datasets=["citation:nodes=300"], methods=["hops", "spectral", "R-GCN"], seeds=8, protocol="random")
    assert len(jobs(experiment, tmp_path)) == 24
    whole = gather(experiment, tmp_path / "whole")
    killed: list[str] = []
    doomed = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)

    def kill() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and len(killed) < 2:
            time.sleep(0.2)
            others = [pid for node in cluster.list_all_nodes() if node is not doomed for pid in workers_of(node)]
            if not killed and others:
                os.kill(others[0], signal.SIGKILL)
                killed.append("worker")
            elif killed and workers_of(doomed):
                cluster.remove_node(doomed, allow_graceful=False)
                killed.append("node")

    thread = threading.Thread(target=kill)
    thread.start()
    heard = []
    table = reproduce(experiment, tmp_path / "shared", progress=lambda *told: heard.append(told))
    thread.join()
    assert killed == ["worker", "node"]
    assert heard[-1] == ("runs", 24, 24)
    assert same(table, whole)
    assert results(tmp_path / "shared") == results(tmp_path / "whole")


def test_without_a_shared_disk_files_come_back(cluster, tmp_path) -> None:
    table = reproduce(SMALL, tmp_path / "back", shared=False)
    assert same(table, gather(SMALL, tmp_path / "whole"))
    assert results(tmp_path / "back") == results(tmp_path / "whole")
    assert not list((tmp_path / "back").rglob("*.part"))
    record = [json.loads(path.read_text()) for path in (tmp_path / "back").rglob("run.json")]
    assert record and all(run["finished"] for run in record)


def test_schemes_of_shards_are_those_of_the_whole(cluster, tmp_path) -> None:
    whole = graphs()
    alone = fiedler.Augmentation("opposite", random_state=3).fit(whole)
    found = augment_many(whole, "opposite", out=tmp_path / "schemes", size=4, random_state=3)
    assert [(shard.first, shard.graphs) for shard in found] == [(0, 4), (4, 4), (8, 1)]
    for shard in found:
        loaded = shard.load(tmp_path / "schemes", whole)
        numbers = list(range(shard.first, shard.first + shard.graphs))
        for epoch in range(3):
            drawn, expected = loaded.views(epoch=epoch, seed=11), alone.views(epoch=epoch, seed=11, graphs=numbers)
            assert all(np.array_equal(one.edge_index, other.edge_index) for one, other in zip(drawn, expected, strict=True))
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "schemes").glob("*.safetensors")}
    assert augment_many(whole, "opposite", out=tmp_path / "schemes", size=4, random_state=3) == found
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "schemes").glob("*.safetensors")}
    paths = []
    for first, part in shards(whole, 4):
        path = tmp_path / f"{first}.json"
        part.write(path)
        paths.append(path)
    by_path = augment_many(paths, "opposite", out=tmp_path / "by-path", random_state=3)
    assert [(shard.first, shard.graphs, shard.fingerprint) for shard in by_path] == [(shard.first, shard.graphs, shard.fingerprint) for shard in found]


def test_what_fails_there_is_raised_here_with_its_hint(cluster, tmp_path) -> None:
    with pytest.raises(fiedler.NotFoundError) as caught:
        augment_many(["corra"], out=tmp_path / "schemes")
    assert "did you mean cora" in caught.value.hint

"""Work shared out: jobs by themselves, and by a local cluster of three node processes of which one, and a worker, are killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fiedler
from fiedler.distributed import (
    Experiment,
    Search,
    TrialRun,
    _cluster,
    _files,
    _parts,
    _search,
    _tables,
    augment,
    augment_many,
    gather,
    gather_trials,
    jobs,
    reproduce,
    run_job,
    run_trial,
    shards,
    trial_runs,
    tune,
)

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
    number = next(job.number for job in jobs(SMALL, tmp_path) if job.row == "R-GCN")
    run_job(SMALL, number, tmp_path / "first")
    (place,) = (path.parent.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("run.json"))
    (tmp_path / "second" / place).mkdir(parents=True)
    lock = {"pid": 1, "host": "a machine that is gone", "started": int(time.time()), "nanoseconds": 0}
    (tmp_path / "second" / place / "run.lock").write_text(json.dumps(lock))
    assert run_job(SMALL, number, tmp_path / "second") is False
    _tables._run(SMALL, number, str(tmp_path / "second"), 1)
    fiedler.set_threads(None)
    assert next(job.finished for job in jobs(SMALL, tmp_path / "second") if job.number == number)
    first, second = (tmp_path / name / place / "embeddings.npy" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


SEARCH = Search("sbm:nodes=200", recipe="span-small", epochs=2, budget=6)


def trials(folder: Path) -> list[str]:
    """What the trials of a search came to, without how long they took."""
    lines = [line.split(",") for line in (folder / "trials.csv").read_text().splitlines()]
    timed = lines[0].index("seconds")
    return [",".join(cell for at, cell in enumerate(line) if at != timed) for line in lines]


def found(result: dict) -> dict:
    """What a search found, without the name of its folder."""
    return {key: value for key, value in result.items() if key != "best"}


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[dict, list[str]]:
    """A search in one process: what it found, and its trials."""
    folder = tmp_path_factory.mktemp("search")
    result = gather_trials(SEARCH, folder)
    return found(result), trials(folder)


def test_the_runs_of_a_search_by_themselves(tmp_path, searched) -> None:
    first = trial_runs(SEARCH, tmp_path)
    assert [(run.number, run.seed, run.finished) for run in first] == [(at, 1000, False) for at in range(4)]
    assert not list(tmp_path.glob("*.csv")), "listing writes no results"
    assert run_trial(SEARCH, TrialRun(0, 99, 1000, False), tmp_path) is False
    for run in reversed(first):
        assert run_trial(SEARCH, run, tmp_path) is True
    assert run_trial(SEARCH, first[0], tmp_path) is True, "again does no harm"
    later = trial_runs(SEARCH, tmp_path)
    assert {(run.trial, run.seed) for run in later}.isdisjoint((run.trial, run.seed) for run in first) and len(later) == 2
    # Elsewhere it takes what trials came to before.
    files = _search._run(SEARCH, later[0], None, 1, _search._scores(tmp_path))
    fiedler.set_threads(None)
    assert any(name.endswith("valid.json") for name in files) and all(name.startswith("runs/") for name in files)
    assert not any(name in files for name in _search._scores(tmp_path))
    _files.keep_files(files, tmp_path)
    assert [run.finished for run in trial_runs(SEARCH, tmp_path)] == [True, False]
    assert found(gather_trials(SEARCH, tmp_path)) == searched[0] and trials(tmp_path) == searched[1]
    assert trial_runs(SEARCH, tmp_path) == [] and (tmp_path / "best.toml").is_file()


def test_a_search_of_data_in_memory(tmp_path, searched) -> None:
    data = fiedler.read("sbm:nodes=200")
    assert found(gather_trials(replace(SEARCH, data=data), tmp_path)) == searched[0]
    assert isinstance(replace(SEARCH, data=data.adjacency())._sendable().data, fiedler.Dataset)
    assert SEARCH._sendable() is SEARCH


def test_what_a_search_refuses(tmp_path) -> None:
    for wrong, match in [({"budget": 0}, "budget"), ({"protocol": "reference"}, "reference"), ({"recipe": "cake"}, "cake"), ({"method": "dgii"}, "dgii")]:
        with pytest.raises((fiedler.SettingError, fiedler.NotFoundError), match=match):
            trial_runs(replace(SEARCH, **wrong), tmp_path)
    with pytest.raises(fiedler.DataError, match="labels"):
        trial_runs(Search("barabasi-albert"), tmp_path)


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


def test_settings_may_be_nested_and_none(tmp_path) -> None:
    def asked(settings: dict) -> list[str]:
        return json.loads(Experiment("node", settings=settings)._asked())["assignments"]

    assert asked({"training.patience": None}) == ["training.patience=none"]
    nested = {"scheme": {"ratio": 0.5, "step_size": {"value": 0.1, "name": "largest-change"}, "name": "opposite"}, "training": {"epochs": 3}}
    assert asked(nested) == [
        "scheme.name=opposite",
        "scheme.ratio=0.5",
        "scheme.step_size.name=largest-change",
        "scheme.step_size.value=0.1",
        "training.epochs=3",
    ]
    assert asked({"a": [1, {"b": True}]}) == ['a=[1, {"b" = true}]']

    def recorded(settings: dict, folder: Path) -> dict:
        experiment = replace(SMALL, methods=["GCL-SPAN"], seeds=1, epochs=None, settings=settings)
        assert run_job(experiment, 0, folder)
        (path,) = folder.rglob("run.json")
        return json.loads(path.read_text())["settings"]["training"]

    assert recorded({"training.patience": 7, "training.epochs": 3}, tmp_path / "first")["patience"] == 7
    nested = recorded({"training": {"patience": None, "learning_rate": 0.25, "epochs": 3}}, tmp_path / "second")
    assert nested["patience"] is None and nested["learning_rate"] == 0.25


def test_a_scheme_that_is_handed_to_a_run_is_not_computed_again(tmp_path) -> None:
    (first, second) = [job for job in jobs(SMALL, tmp_path) if job.row == "GCL-SPAN"]
    alone = _tables._run(SMALL, second.number, None, 1)
    fiedler.set_threads(None)
    schemes = _tables._schemes(alone)
    (timing,) = (name for name in schemes if name.endswith(".json"))
    if len(schemes) == 1:
        pytest.skip("the machine computes this scheme faster than reading it is worth")
    # Whoever computes it writes down how long that took.
    schemes[timing] = json.dumps({**json.loads(schemes[timing]), "seconds": 12345.0}).encode()
    handed = _tables._run(SMALL, second.number, None, 1, schemes)
    fiedler.set_threads(None)
    assert not _tables._schemes(handed), "what was given does not come back"
    (embeddings,) = (name for name in alone if name.endswith("embeddings.npy"))
    assert handed[embeddings] == alone[embeddings]
    # And those that wait for it get it.
    given = {}
    ray = Pretended(cpus=1)

    def begin(job, files) -> int:
        given[job.number] = files
        return ray.begin(lambda: alone)

    assert len(list(_tables._each(ray, [first, second], begin, None))) == 2
    assert sorted(given.values(), key=bool) == [None, _tables._schemes(alone)]


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch) -> None:
    path = tmp_path / "file"
    _files.replace_file(path, b"first")
    seen = []

    def torn(self: Path, target: Path) -> None:
        seen.append(self)
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", torn)
    for _ in range(2):
        with pytest.raises(OSError, match="no space"):
            _files.replace_file(path, b"second")
    assert len(set(seen)) == 2, "two writers do not meet"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"first")]


class Pretended:
    """What `fiedler.distributed` asks of Ray, in this process: tasks are done one at a time, in their order."""

    def __init__(self, cpus: int) -> None:
        self.exceptions = SimpleNamespace(RayTaskError=ZeroDivisionError, RayActorError=ZeroDivisionError, RayError=ZeroDivisionError)
        self.cpus, self.most, self.begun, self.left, self.asked, self.cancelled = cpus, 0, 0, {}, [], []

    def is_initialized(self) -> bool:
        return False

    def init(self, **asked) -> None:
        self.asked.append(asked)

    def shutdown(self) -> None:
        self.asked.append("shutdown")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def begin(self, task) -> int:
        self.begun += 1
        self.left[self.begun] = task
        self.most = max(self.most, len(self.left))
        return self.begun

    def remote(self, **options):
        def task(function):
            if isinstance(function, type):
                return SimpleNamespace(remote=lambda *arguments: PretendedActor(self, function, arguments))
            bound = SimpleNamespace(remote=lambda *arguments: self.begin(lambda: function(*arguments)))
            return SimpleNamespace(options=lambda **options: bound)

        return task

    def put(self, value):
        return value

    def wait(self, references, timeout):
        return [min(references)], []

    def get(self, reference):
        return self.left.pop(reference)()

    def cancel(self, reference) -> None:
        self.cancelled.append(reference)

    def kill(self, actor) -> None:
        self.asked.append("kill")


class PretendedActor:
    """An actor in this process; one that is lost begins anew, as Ray begins it."""

    def __init__(self, ray: Pretended, kind: type, arguments: tuple) -> None:
        self.ray, self.begin = ray, lambda: kind(*arguments)
        self.held = self.begin()

    def lose(self) -> None:
        self.held = self.begin()

    def __getattr__(self, name: str):
        return SimpleNamespace(remote=lambda *arguments: self.ray.begin(lambda: getattr(self.held, name)(*arguments)))


@pytest.fixture
def pretended(monkeypatch):
    ray = Pretended(cpus=1)
    monkeypatch.setitem(sys.modules, "ray", ray)
    yield ray
    fiedler.set_threads(None)


def test_without_an_address_no_cluster_is_joined(pretended, monkeypatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "192.0.2.1:6379")
    for address in (None, "auto"):
        with _cluster.connected(address):
            pass
    assert [asked["address"] for asked in pretended.asked[::2]] == ["local", "auto"] and pretended.asked[1] == "shutdown"


def test_few_shards_are_under_way_at_once(pretended, tmp_path) -> None:
    heard = []
    found = augment_many(graphs(), "uniform-removal", out=tmp_path, size=1, progress=lambda *told: heard.append(told))
    assert [shard.first for shard in found] == list(range(9)) and pretended.begun == 9 and pretended.most == 2
    assert heard[0] == ("shards", 0, 9) and heard[-1] == ("shards", 9, 9)


def test_what_is_under_way_is_cancelled_by_an_error(pretended, tmp_path) -> None:
    def stopped(*told) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        augment_many(graphs(), "uniform-removal", out=tmp_path / "schemes", size=1, progress=stopped)
    assert pretended.cancelled == [1, 2]
    with pytest.raises(KeyboardInterrupt):
        reproduce(SMALL, tmp_path / "table", progress=lambda stage, *told: stopped() if stage == "runs" else None)
    assert len(pretended.cancelled) > 2 and sorted(pretended.left) == pretended.cancelled


def test_a_search_by_tasks_finds_what_one_process_finds(pretended, tmp_path, searched) -> None:
    heard = []
    for shared in (True, False):
        folder = tmp_path / str(shared)
        result = tune(SEARCH, folder, shared=shared, progress=lambda *told: heard.append(told))
        assert found(result) == searched[0] and trials(folder) == searched[1]
        assert result["best"] == str(folder / "best.toml") and not list(folder.rglob("*.part"))
    assert pretended.begun == 2 * 6 and heard[0] == ("runs of a generation", 0, 4)
    # What is there is not made again.
    tune(SEARCH, tmp_path / "True")
    assert pretended.begun == 2 * 6


LARGE = "sbm:nodes=9000,classes=3,degree=5"
STEPS = {"name": "opposite", "steps": 6, "support": "candidates", "candidates": 3}


@pytest.fixture(scope="module")
def computed() -> fiedler.Augmentation:
    """A scheme that one process computes."""
    return fiedler.Augmentation(STEPS).fit(LARGE)


def same_scheme(one: fiedler.Augmentation, other: fiedler.Augmentation) -> bool:
    """Whether both have the same probabilities, bit by bit, and took the same steps."""
    steps = [[(view["curve"], view["gap"]) for view in scheme.report_["views"]] for scheme in (one, other)]
    pairs = [[scheme.probabilities(view) for view in (0, 1)] for scheme in (one, other)]
    alike = all(
        np.array_equal(first.data.view(np.int32), second.data.view(np.int32)) and np.array_equal(first.indices, second.indices)
        for first, second in zip(*pairs, strict=True)
    )
    return alike and steps[0] == steps[1]


@pytest.mark.parametrize("kept", [False, True])
def test_a_graph_in_parts_has_the_scheme_of_one_process(pretended, tmp_path, monkeypatch, computed, kept) -> None:
    folder = tmp_path / "checkpoints" if kept else None
    monkeypatch.setattr(_parts, "_COPIED_EVERY", 5)
    assert same_scheme(augment(LARGE, STEPS, workers=3, checkpoints=folder), computed)
    asked, whole = [0], _parts._Holders.ask

    def loses(self, *arguments):
        asked[0] += 1
        if asked[0] % 4 == 0:
            self.all[asked[0] // 4 % len(self.all)].lose()
        return whole(self, *arguments)

    monkeypatch.setattr(_parts._Holders, "ask", loses)
    found = augment(LARGE, STEPS, workers=2, checkpoints=folder)
    assert asked[0] > 40 and same_scheme(found, computed)
    assert not kept or not list(folder.iterdir()), "copies are for parts that are lost"
    view, expected = found.sample(epoch=3), computed.sample(epoch=3)
    assert np.array_equal(view.edge_index, expected.edge_index)


def test_what_a_graph_in_parts_refuses(pretended, tmp_path, monkeypatch) -> None:
    for settings, match in [("uniform-removal", "opposite"), ({"name": "opposite", "objective": "expected"}, "objective"), ({"name": "opposite", "k": 3}, "k is")]:
        with pytest.raises(fiedler.SettingError, match=match) as caught:
            augment("karate", settings, workers=2)
        assert "one process" in caught.value.hint
    with pytest.raises(fiedler.SettingError, match="support is all"):
        augment("karate", workers=1)

    def stopped(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_parts._Holders, "ask", stopped)
    with pytest.raises(KeyboardInterrupt):
        augment(LARGE, STEPS, workers=1)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "ray", pretended)

    def forgets(self, *arguments):
        # As on a machine that has another folder of that name.
        for path in tmp_path.iterdir():
            path.unlink()
        for actor in self.all:
            actor.lose()
        return whole(self, *arguments)

    whole = _parts._Holders.ask
    monkeypatch.setattr(_parts, "_COPIED_EVERY", 1)
    monkeypatch.setattr(_parts._Holders, "ask", forgets)
    with pytest.raises(fiedler.FiedlerError, match="copy of part 0") as caught:
        augment(LARGE, STEPS, workers=2, checkpoints=tmp_path)
    assert "share" in caught.value.hint


def test_shards_of_other_settings_stay(pretended, tmp_path) -> None:
    ratio = {"name": "uniform-removal", "ratio": 0.5}
    found = augment_many(graphs(), ratio, out=tmp_path, size=4)
    assert augment_many(graphs(), ratio, out=tmp_path, size=4) == found and pretended.begun == 3
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for other in ({"name": "uniform-removal", "ratio": 0.25}, "opposite"):
        with pytest.raises(fiedler.FiedlerError, match="3 shards of other settings, such as shard-00000000") as caught:
            augment_many(graphs(), other, out=tmp_path, size=4)
        assert "force=True" in caught.value.hint
    # What a shard is, its file says.
    (tmp_path / "shards.json").unlink()
    with pytest.raises(fiedler.FiedlerError, match="other settings"):
        augment_many(graphs(), "opposite", out=tmp_path, size=4)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: before[name] for name in before if name != "shards.json"}
    forced = augment_many(graphs(), "opposite", out=tmp_path, size=5, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*(shard.path for shard in forced), "shards.json"])
    assert forced[1].load(tmp_path, graphs()).settings["name"] == "opposite"


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
    if sys.platform != "linux":
        pytest.skip("Ray has clusters of several nodes on one machine on Linux alone")
    ray = pytest.importorskip("ray", reason="ray is not installed")
    utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")
    made = None
    with pytest.MonkeyPatch.context() as patch:
        # Ray gives its workers what others leave of the processors: on a busy machine that is nothing.
        patch.setenv("RAY_worker_niceness", "0")
        try:
            made = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
            for _ in range(2):
                made.add_node(num_cpus=1, object_store_memory=100 << 20)
            ray.init(address=made.address, log_to_driver=False)
        except Exception as error:
            if made is not None:
                made.shutdown()
            pytest.skip(f"a Ray cluster cannot start here: {error}")
        yield made
        ray.shutdown()
        made.shutdown()


def raylets_of(node) -> set[int]:
    """The processes of a node that start its workers."""
    return {info.process.pid for kind, infos in node.all_processes.items() if kind == "raylet" for info in infos}


@pytest.mark.slow
def test_a_worker_and_a_node_are_killed_and_the_table_is_the_same(cluster, tmp_path, monkeypatch) -> None:
    experiment = Experiment("node", datasets=["citation:nodes=300"], methods=["hops", "spectral", "R-GCN"], seeds=4, epochs=5, protocol="random")
    assert len(jobs(experiment, tmp_path)) == 12
    whole = gather(experiment, tmp_path / "whole")
    place = tmp_path / "under-way"
    place.mkdir()
    killed: list[str] = []
    doomed = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    raylets = raylets_of(doomed)

    def kill() -> None:
        """One worker of the nodes that stay, and the node that does not, each in the middle of a run; then all go on."""
        deadline = time.monotonic() + 90
        try:
            while time.monotonic() < deadline and len(killed) < 2:
                time.sleep(0.1)
                for worker, raylet in [map(int, path.name.split("-")) for path in place.iterdir()]:
                    if raylet not in raylets and "worker" not in killed:
                        os.kill(worker, signal.SIGKILL)
                        killed.append("worker")
                    elif raylet in raylets and "node" not in killed:
                        cluster.remove_node(doomed, allow_graceful=False)
                        killed.append("node")
        finally:
            (place / "go").touch()

    def held(*arguments):
        """A run that says where it is under way, and does not go on before the file `go` is there. As a function in a function it needs no tests there."""
        import fiedler.distributed._tables as there

        whole = there.run_job
        # A worker outlives its node by a moment.
        name = f"{os.getpid()}-{os.getppid()}"

        def waits(*told) -> None:
            (place / name).touch()
            until = time.monotonic() + 100
            while not (place / "go").exists() and time.monotonic() < until:
                time.sleep(0.05)

        there.run_job = lambda *of_run: whole(*of_run, progress=waits)
        try:
            return there._run(*arguments)
        finally:
            there.run_job = whole

    monkeypatch.setattr(_tables, "_run", held)
    thread = threading.Thread(target=kill)
    thread.start()
    heard = []
    try:
        table = reproduce(experiment, tmp_path / "shared", progress=lambda *told: heard.append(told))
    finally:
        (place / "go").touch()
        thread.join()
    assert sorted(killed) == ["node", "worker"]
    assert heard[-1] == ("runs", 12, 12)
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


def test_tasks_of_ray_are_cancelled_by_an_error(cluster) -> None:
    import ray

    task = ray.remote(lambda: time.sleep(300)).remote()
    with pytest.raises(ZeroDivisionError), _cluster.running_tasks(ray) as running:
        running[task] = None
        raise ZeroDivisionError
    with pytest.raises(ray.exceptions.TaskCancelledError):
        ray.get(task, timeout=60)


def test_what_fails_there_is_raised_here_with_its_hint(cluster, tmp_path) -> None:
    with pytest.raises(fiedler.NotFoundError) as caught:
        augment_many(["corra"], out=tmp_path / "schemes")
    assert "did you mean cora" in caught.value.hint


@pytest.mark.slow
def test_a_search_on_a_cluster_whose_worker_is_killed(cluster, tmp_path, monkeypatch, searched) -> None:
    killed: list[int] = []
    (tmp_path / "first").touch()

    def dies(*arguments):
        """A run in which the first worker that comes to it ends."""
        import fiedler.distributed._search as there

        try:
            (tmp_path / "first").unlink()
        except FileNotFoundError:
            return there._run(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(_search, "_run", dies)
    result = tune(SEARCH, tmp_path / "out", progress=lambda *told: killed.append(told[1]))
    assert not (tmp_path / "first").exists() and killed
    assert found(result) == searched[0] and trials(tmp_path / "out") == searched[1]


@pytest.mark.slow
def test_a_graph_in_parts_on_a_cluster(cluster, tmp_path, monkeypatch, computed) -> None:
    for workers in (1, 2, 3):
        assert same_scheme(augment(LARGE, STEPS, workers=workers), computed), workers
    asked, ended, whole = [0], [], _parts._Holders.ask

    def kills(self, *arguments):
        # In the middle of each kind of question there is: both halves of an evaluation, steps, projections.
        asked[0] += 1
        if asked[0] in (2, 3, 5, 8, 13, 21):
            ended.append(asked[0])
            self.ray.kill(self.all[asked[0] % 2], no_restart=False)
        return whole(self, *arguments)

    monkeypatch.setattr(_parts._Holders, "ask", kills)
    monkeypatch.setattr(_parts, "_COPIED_EVERY", 2)
    for checkpoints in (None, tmp_path):
        asked[0] = 0
        assert same_scheme(augment(LARGE, STEPS, workers=2, checkpoints=checkpoints), computed)
    assert len(ended) == 12

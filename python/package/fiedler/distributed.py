"""Work that is shared out among processes and machines by Ray: ``pip install fiedler[ray]``.

>>> from fiedler.distributed import Experiment, jobs
>>> experiment = Experiment("node", datasets=["karate"], methods=["hops"], seeds=2)
>>> [job.seed for job in jobs(experiment, "results")]
[0, 1]

`reproduce` makes the runs of a table on all nodes of a Ray cluster, and `augment_many` the schemes of a set of many graphs, shard by shard. Both give the
bytes that one process gives, whatever the number of workers, and whoever of them is killed on the way. `jobs`, `run_job` and `gather` are what they are made of;
they need no Ray and serve any other scheduler.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from . import _fiedler
from ._augmentation import Augmentation, _as_json, _number, _seed
from ._dataset import Dataset
from ._errors import FiedlerError, NotFoundError, SettingError, TrainingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset

__all__ = ["Experiment", "Job", "Shard", "augment_many", "gather", "jobs", "reproduce", "run_job", "shards"]

# How often Ray begins a task anew whose process or machine is gone.
_RETRIES = 3
_SHARDS = "shards.json"
_SHARD = re.compile(r"(shard-\d{8,}|part-\d{5,})\.safetensors")
_SCHEMES = "schemes/"


@dataclass(frozen=True)
class Experiment:
    """A table of runs: what `fiedler reproduce` is asked for.

    Parameters
    ----------
    table
        Its name, such as ``"node"`` or ``"graph"``; ``fiedler reproduce --help`` lists them.
    datasets
        Names, paths or generators; left out, those of the paper. Every node of the cluster reads them by itself.
    methods
        Rows of the table; left out, all.
    seeds
        Runs of each row on each dataset; `random_state` is the first seed.
    protocol
        How runs are evaluated; left out, as is usual for the table.
    epochs
        Epochs of training, in place of those of the recipes.
    recipes
        A folder of recipes that go before those of the program.
    settings
        Changes of all settings by their keys, as ``{"training.learning_rate": 0.001}`` or ``{"training": {"learning_rate": 0.001}}``; None leaves an
        optional setting out.
    lean
        Whether embeddings are left out of finished runs.
    quick
        Whether a table that can be large is made at a size that ends in minutes.
    pretraining
        What encoders are trained on before, in a table that does so; left out, what the table says.
    """

    table: str
    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    seeds: int = 10
    protocol: str | None = None
    epochs: int | None = None
    recipes: str | os.PathLike[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    lean: bool = False
    quick: bool = False
    pretraining: str | None = None
    random_state: int = 0

    def _asked(self) -> str:
        for name in ("datasets", "methods"):
            if isinstance(getattr(self, name), str):
                raise SettingError(f"{name} is {getattr(self, name)!r}; expected a list of names", setting=name)
        if _number(self.seeds, "seeds") == 0:
            raise SettingError("seeds is 0; expected a positive whole number", setting="seeds")
        values = json.loads(_as_json(self.settings))
        # What only some tables have.
        more = {name: value for name, value in (("quick", bool(self.quick)), ("pretraining", self.pretraining)) if value}
        return json.dumps(
            {
                **more,
                "table": self.table,
                "datasets": list(self.datasets),
                "methods": list(self.methods),
                "seeds": int(self.seeds),
                "seed": _seed(self.random_state),
                "protocol": self.protocol,
                "epochs": None if self.epochs is None else _number(self.epochs, "epochs"),
                "recipes": None if self.recipes is None else os.path.abspath(self.recipes),
                "assignments": [f"{key}={_value(value)}" for key, value in _flat(values)],
                "lean": bool(self.lean),
            }
        )


@dataclass(frozen=True)
class Job:
    """One run of a table."""

    number: int
    """Its number in the table."""
    dataset: str
    """Title of the dataset."""
    row: str
    """Row of the table."""
    seed: int
    """Its seed."""
    finished: bool
    """Whether it is there and evaluated."""
    work: int
    """How much there is to do, to begin with the longest: epochs times nodes and entries of the adjacency matrix. Not a time."""
    scheme: str | None
    """The scheme that it needs and that is not there yet; runs that share one should not all compute it."""


@dataclass(frozen=True)
class Shard:
    """A part of a set of graphs, with the scheme of its graphs in a file."""

    first: int
    """The number that its first graph has in the set."""
    graphs: int
    """How many there are."""
    fingerprint: str
    """That of the graphs of the shard, as `Dataset.fingerprint` gives it."""
    path: str
    """The file of the scheme, in the folder."""

    def load(self, folder: str | os.PathLike[str], graphs: GraphLike) -> Augmentation:
        """The augmentation of the shard, for its graphs or for the whole set; its views are those that one of the whole set would draw."""
        dataset = as_dataset(graphs)
        if len(dataset) != self.graphs:
            dataset = dataset[self.first : self.first + self.graphs]
        return Augmentation.load(Path(folder) / self.path, dataset, first=self.first)


def jobs(experiment: Experiment, out: str | os.PathLike[str], *, progress: Progress = False) -> list[Job]:
    """The runs of a table, in the order of their numbers; of those in the folder `out` it is said that they are finished."""
    with watched(progress) as told:
        listed = json.loads(_fiedler.table_runs(experiment._asked(), os.fspath(out), told))
    return [Job(**job) for job in listed]


def run_job(experiment: Experiment, number: int, out: str | os.PathLike[str], *, progress: Progress = False) -> bool:
    """Makes one run of a table in the folder `out`, and no table. Gives whether it is there; it is not where another process is at it.

    A run is a folder that says so when it is whole: making one again does no harm, and one that is there is not made again. Several processes may work in one
    folder. A run whose training leads nowhere is a `TrainingError`; the table will tell of it.
    """
    with watched(progress) as told:
        came = json.loads(_fiedler.table_run(experiment._asked(), os.fspath(out), _number(number, "number"), told))
    if came["failed"]:
        raise TrainingError(came["failed"][0])
    if not came["finished"] and not came["elsewhere"]:
        raise NotFoundError(f"there is no run {number}", hint="fiedler.distributed.jobs lists the runs")
    return bool(came["finished"])


def gather(experiment: Experiment, out: str | os.PathLike[str], *, progress: Progress = False) -> dict[str, Any]:
    """Writes the table of the runs in the folder `out`, and gives it as ``fiedler reproduce --json`` does. What is not there yet is made, here."""
    with watched(progress) as told:
        table: dict[str, Any] = json.loads(_fiedler.table_gather(experiment._asked(), os.fspath(out), told))
    return table


def reproduce(
    experiment: Experiment,
    out: str | os.PathLike[str],
    *,
    address: str | None = None,
    cpus: int = 1,
    shared: bool = True,
    progress: Progress = False,
) -> dict[str, Any]:
    """Makes all runs of a table with Ray and gives the table, as one process would.

    The longest runs begin first. Of several runs that need the same scheme, one computes it and the others wait for that, and get it if it is worth keeping.
    A run whose process or machine is lost is made again; what is in the folder already is not made again. An error or Ctrl-C here cancels what is running there.

    Parameters
    ----------
    experiment
        The table.
    out
        Folder for runs and tables, on the machine of the caller.
    address
        The cluster, as `ray.init` takes it, such as ``"auto"`` for the one that runs or that ``RAY_ADDRESS`` names; left out, a new one on this machine.
        Where Ray is connected already, that connection is used.
    cpus
        Processors, and threads, of a run.
    shared
        Whether `out` is on a disk that all nodes share. If not, runs come back through Ray and are written here; a scheme goes with the runs that wait for it,
        but one that an earlier call left in `out` is computed again by each run that needs it.
    progress
        As everywhere; called with ``"runs"``, how many are finished, and of how many.
    """
    folder = Path(out).absolute()
    listed = [job for job in jobs(experiment, folder) if not job.finished]
    with _connected(address) as ray, watched(progress) as told:
        remote = ray.remote(num_cpus=_number(cpus, "cpus"), max_retries=_RETRIES)(_run)

        def begin(job: Job, schemes: Any) -> Any:
            return remote.options(name="fiedler run").remote(experiment, job.number, str(folder) if shared else None, cpus, schemes)

        with closing(_each(ray, listed, begin, told)) as ended:
            for files in ended:
                if isinstance(files, dict):
                    _keep(files, folder)
    return gather(experiment, folder)


def _each(ray: Any, listed: Sequence[Job], begin: Callable[[Job, Any], Any], told: Any) -> Generator[Any, None, None]:
    """What came of every job, as they end: the longest first, and one alone of those that share a scheme before the others.

    The others begin with the files of the scheme, where those came back.
    """
    ready: list[Job] = []
    waiting: dict[str, list[Job]] = {}
    for job in sorted(listed, key=lambda job: (-job.work, job.number)):
        if job.scheme is None or job.scheme not in waiting:
            ready.append(job)
            if job.scheme is not None:
                waiting[job.scheme] = []
        else:
            waiting[job.scheme].append(job)
    # Those on which others wait go first.
    ready.sort(key=lambda job: job.scheme is None or not waiting[job.scheme])
    done = 0
    with _running(ray) as running:
        for job in ready:
            running[begin(job, None)] = job
        while running:
            if told is not None:
                told("runs", done, len(listed))
            ended, _ = ray.wait(list(running), timeout=1.0)
            for reference in ended:
                job = running.pop(reference)
                came = _came(ray, reference)
                others = [] if job.scheme is None else waiting.pop(job.scheme, [])
                schemes = _schemes(came) if others and isinstance(came, dict) else {}
                # Once for all of them.
                given = ray.put(schemes) if schemes else None
                for other in others:
                    running[begin(other, given)] = other
                done += 1
                yield came
    if told is not None:
        told("runs", done, len(listed))


def _schemes(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of the files of a run that are schemes, which other runs may need."""
    return {name: content for name, content in files.items() if name.startswith(_SCHEMES)}


def _run(experiment: Experiment, number: int, out: str | None, threads: int, schemes: Mapping[str, bytes] | None = None) -> dict[str, bytes] | None:
    """A job, where Ray runs it; without a folder of all, schemes that are there already are handed to it, and its files come back."""
    # Ray limits the threads of others, not ours.
    _fiedler.set_threads(threads)
    # A run that leads nowhere is told of in the table, as where one process makes all.
    with suppress(TrainingError):
        if out is not None and run_job(experiment, number, out):
            return None
        # A machine that was lost may have left a lock, which counts for hours. Whoever is the last to write writes the same.
        files = _apart(experiment, number, schemes or {})
        if out is None:
            return files
        _keep(files, Path(out))
    return None


def _apart(experiment: Experiment, number: int, schemes: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a run that is made in a folder of its own, without the schemes that it was given."""
    place = Path(tempfile.mkdtemp(prefix="fiedler-"))
    try:
        _keep(schemes, place)
        run_job(experiment, number, place)
        files = {path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
        return {name: content for name, content in files.items() if schemes.get(name) != content}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _keep(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes what came of a job elsewhere; the record of a run last, so that nothing is taken for whole that is not."""
    for name in sorted(files, key=lambda name: (name.endswith("run.json"), name)):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise FiedlerError(f"a run has a file outside of its folder: {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, files[name])


def shards(graphs: GraphLike, size: int = 10_000) -> Iterator[tuple[int, Dataset]]:
    """A set of graphs in parts of so many, each with the number that its first graph has in the set."""
    yield from _Parts(graphs, size)


class _Parts(Sequence[tuple[int, Dataset]]):
    """The shards of a set, each taken from it when it is asked for."""

    def __init__(self, graphs: GraphLike, size: int) -> None:
        self.dataset = as_dataset(graphs)
        if _number(size, "size") == 0:
            raise SettingError("size is 0; expected a positive number of graphs", setting="size")
        self.firsts = range(0, len(self.dataset), size)

    def __len__(self) -> int:
        return len(self.firsts)

    def __getitem__(self, at: Any) -> Any:
        first = self.firsts[at]
        return first, self.dataset[first : first + self.firsts.step]


def augment_many(
    graphs: GraphLike | Sequence[GraphLike],
    settings: Mapping[str, Any] | str = "opposite",
    *,
    out: str | os.PathLike[str],
    size: int = 10_000,
    address: str | None = None,
    cpus: int = 1,
    random_state: int = 0,
    force: bool = False,
    progress: Progress = False,
) -> list[Shard]:
    """Computes the scheme of every graph of a set with Ray, shard by shard, and leaves a file for each shard.

    The views of a shard are those that one scheme of the whole set would draw: `Shard.load` tells it the number of its first graph. That holds wherever the same
    pairs may flip; with ``support="auto"`` that depends on `memory`, which counts for all graphs that are computed together, and a whole set reaches it sooner.

    Parameters
    ----------
    graphs
        A set of graphs, divided into shards of `size`; or a list of paths that the nodes can read, each a shard, in their order.
    settings
        The scheme; as `fiedler.Augmentation` takes it.
    out
        Folder for the schemes, a file each, and for ``shards.json``, which lists them. Of a set that is divided here, shards that are there already, of
        the same graphs and settings, are not computed again.
    address, cpus
        As in `reproduce`.
    force
        Whether shards of other settings that are in `out` give way; otherwise they are an error. Those of the same settings and other graphs are replaced.
    """
    augmentation = Augmentation(settings, random_state=random_state)
    size = _number(size, "size")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    _make_way(folder, augmentation, force)
    by_path = isinstance(graphs, (list, tuple)) and bool(graphs) and all(isinstance(graph, (str, os.PathLike)) for graph in graphs)
    parts: Sequence[tuple[int, Any]] = _by_path(graphs) if by_path else _Parts(graphs, size)
    known = {} if by_path else {shard.first: shard for shard in _listed(folder, augmentation)}
    found: list[Shard | None] = [None] * len(parts)
    for at in range(len(parts) if known else 0):
        first, part = parts[at]
        shard = known.get(first)
        found[at] = shard if shard is not None and shard.fingerprint == part.fingerprint else None
    missing = [at for at, shard in enumerate(found) if shard is None]
    with _connected(address) as ray, watched(progress) as told, _running(ray) as running:
        remote = ray.remote(num_cpus=_number(cpus, "cpus"), max_retries=_RETRIES)(_augment)
        left = iter(missing)
        done = len(parts) - len(missing)
        while True:
            # Graphs are copied into Ray's memory: only those of shards that are about to be computed.
            for at in islice(left, max(_at_a_time(ray, cpus) - len(running), 0)):
                task = remote.options(name="fiedler shard")
                running[task.remote(augmentation.settings, augmentation.random_state, parts[at][1], cpus)] = at
            if told is not None:
                told("shards", done, len(parts))
            if not running:
                break
            ended, _ = ray.wait(list(running), timeout=1.0)
            for reference in ended:
                at = running.pop(reference)
                content, count, fingerprint = _came(ray, reference)
                name = f"part-{at:05}.safetensors" if by_path else f"shard-{at * size:08}.safetensors"
                _replace(folder / name, content)
                found[at] = Shard(0 if by_path else at * size, count, fingerprint, name)
                done += 1
                if not by_path:
                    _list(folder, augmentation, found)
    if by_path:
        # Only now it is known how many graphs each path has.
        counts = [0 if shard is None else shard.graphs for shard in found]
        found = [None if shard is None else replace(shard, first=sum(counts[:at])) for at, shard in enumerate(found)]
    return _list(folder, augmentation, found)


def _list(folder: Path, augmentation: Augmentation, found: Sequence[Shard | None]) -> list[Shard]:
    """Writes down which shards are there."""
    there = [shard for shard in found if shard is not None]
    record = {"settings": augmentation.settings, "random_state": augmentation.random_state, "shards": [asdict(shard) for shard in there]}
    _replace(folder / _SHARDS, (json.dumps(record, indent=2) + "\n").encode())
    return there


def _replace(path: Path, content: bytes) -> None:
    """Writes a file that is whole or not there, whoever else writes it at the same time."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _make_way(folder: Path, augmentation: Augmentation, force: bool) -> None:
    """Refuses a folder with shards of other settings; or removes them, where that is asked for."""
    shards = (path for path in sorted(folder.iterdir()) if _SHARD.fullmatch(path.name))
    others = [path for path in shards if _settings_of(path) != augmentation.settings]
    if others and not force:
        hint = "choose another folder, or replace them with force=True"
        raise FiedlerError(f"{folder} has {len(others)} shards of other settings, such as {others[0].name}", hint=hint)
    for path in others:
        path.unlink(missing_ok=True)


def _settings_of(path: Path) -> Any:
    """The settings that the file of a scheme says it was computed with; None where it is no such file."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > path.stat().st_size:
                return None
            header = json.loads(file.read(length))
        return json.loads(header["__metadata__"]["fiedler"])["settings"]
    except (ValueError, KeyError, TypeError):
        return None


def _augment(settings: Mapping[str, Any], random_state: int, part: Any, threads: int) -> tuple[bytes, int, str]:
    """The bytes of the scheme of a shard, where Ray computes it; how many graphs it has, and which."""
    _fiedler.set_threads(threads)
    dataset = as_dataset(part)
    scheme = Augmentation(settings, random_state=random_state).fit(dataset)._fitted()
    return scheme.to_bytes(), len(dataset), dataset.fingerprint


def _by_path(paths: Any) -> list[tuple[int, Any]]:
    return [(0, os.path.abspath(path) if os.path.exists(path) else os.fspath(path)) for path in paths]


def _listed(folder: Path, augmentation: Augmentation) -> list[Shard]:
    """The shards that are there already, if they are of the same settings."""
    try:
        record = json.loads((folder / _SHARDS).read_text())
        same = record["settings"] == augmentation.settings and record["random_state"] == augmentation.random_state
        found = [Shard(**shard) for shard in record["shards"]] if same else []
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []
    return [shard for shard in found if (folder / shard.path).is_file()]


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """Ray, connected for as long as this takes, unless it was connected before."""
    try:
        import ray
    except ImportError:
        raise FiedlerError("Ray is not installed", hint="pip install 'fiedler[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    # Without an address Ray would join a cluster that happens to run.
    ray.init(address=address or "local", log_to_driver=False, include_dashboard=None if address else False)
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def _running(ray: Any) -> Iterator[dict[Any, Any]]:
    """Tasks that are under way; those that are left when this ends, by an error or Ctrl-C, are cancelled."""
    running: dict[Any, Any] = {}
    try:
        yield running
    finally:
        for reference in running:
            # What goes wrong here must not hide the error.
            with suppress(Exception):
                ray.cancel(reference)


def _at_a_time(ray: Any, cpus: int) -> int:
    """How many tasks are handed to Ray at once: those that run, and as many that wait for their turn. Machines may come and go."""
    return 2 * max(int(ray.cluster_resources().get("CPU", 1) // max(cpus, 1)), 1)


def _came(ray: Any, reference: Any) -> Any:
    """What came of a task; what it raised is raised here, with its hint."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    except ray.exceptions.RayError as error:
        hint = "the same call goes on with what is there; if memory was short, ask for more cpus for each run"
        raise FiedlerError(f"a task was lost {_RETRIES + 1} times: {error}", hint=hint) from error


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by their dotted keys; of a group its name first, which says what else it has."""
    for key, value in sorted(settings.items(), key=lambda item: item[0] != "name"):
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _value(value: Any) -> str:
    """A value as an assignment has it, in the syntax of TOML."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_toml(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)

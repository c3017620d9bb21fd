"""The runs of a table."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _fiedler
from .._augmentation import _number, _seed
from .._errors import NotFoundError, SettingError, TrainingError
from .._progress import Progress, watched
from ._assignments import assignments
from ._cluster import RETRIES, came_of, connected, running_tasks
from ._files import keep_files

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
                "assignments": assignments(self.settings),
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
    with connected(address) as ray, watched(progress) as told:
        remote = ray.remote(num_cpus=_number(cpus, "cpus"), max_retries=RETRIES)(_run)

        def begin(job: Job, schemes: Any) -> Any:
            return remote.options(name="fiedler run").remote(experiment, job.number, str(folder) if shared else None, cpus, schemes)

        with closing(_each(ray, listed, begin, told)) as ended:
            for files in ended:
                if isinstance(files, dict):
                    keep_files(files, folder)
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
    with running_tasks(ray) as running:
        for job in ready:
            running[begin(job, None)] = job
        while running:
            if told is not None:
                told("runs", done, len(listed))
            ended, _ = ray.wait(list(running), timeout=1.0)
            for reference in ended:
                job = running.pop(reference)
                came = came_of(ray, reference)
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
        keep_files(files, Path(out))
    return None


def _apart(experiment: Experiment, number: int, schemes: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a run that is made in a folder of its own, without the schemes that it was given."""
    place = Path(tempfile.mkdtemp(prefix="fiedler-"))
    try:
        keep_files(schemes, place)
        run_job(experiment, number, place)
        files = {path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
        return {name: content for name, content in files.items() if schemes.get(name) != content}
    finally:
        shutil.rmtree(place, ignore_errors=True)

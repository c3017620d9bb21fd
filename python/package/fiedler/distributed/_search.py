"""A search for good settings, generation by generation."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import _fiedler
from .._augmentation import _number, _seed
from .._dataset import Dataset
from .._errors import SettingError, TrainingError
from .._progress import Progress, watched
from .._reading import GraphLike, as_dataset
from ._assignments import assignments
from ._cluster import RETRIES, came_of, connected, running_tasks
from ._files import keep_files

# What trials came to: all that tells which trials are next.
_SCORES = ("valid.json", "failed.json")


@dataclass(frozen=True)
class Search:
    """A search for good settings: what `fiedler tune` is asked for.

    Parameters
    ----------
    data
        A name, path or generator, which every node of the cluster reads by itself; or anything else that `fiedler.read` takes, which goes to them.
    method
        The method whose settings are looked for; left out, that of the recipe.
    scheme
        The scheme whose settings are looked for; left out, that of the recipe.
    recipe
        Where the search starts; left out, the dataset's own recipe where there is one, else a general one.
    settings
        Changes of what the search starts from, by their keys, as in `Experiment`.
    protocol
        Which parts are train and validation; left out, folds for graphs and random splits for nodes.
    epochs
        Most epochs of a run.
    budget
        Most runs, over all rounds.
    random_state
        Seed of what is drawn.
    """

    data: GraphLike
    method: str | None = None
    scheme: str | None = None
    recipe: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    epochs: int | None = None
    budget: int = 60
    random_state: int = 0

    def _dataset(self) -> Dataset:
        return as_dataset(self.data, random_state=_seed(self.random_state))

    def _sendable(self) -> Search:
        """With data that other machines can have: what they cannot read by a name goes along."""
        if isinstance(self.data, os.PathLike) or isinstance(self.data, str) and os.path.exists(self.data):
            return replace(self, data=os.path.abspath(self.data))
        return self if isinstance(self.data, str) else replace(self, data=self._dataset())

    def _asked(self) -> str:
        if _number(self.budget, "budget") == 0:
            raise SettingError("budget is 0; expected a positive number of runs", setting="budget")
        return json.dumps(
            {
                "method": self.method,
                "scheme": self.scheme,
                "recipe": self.recipe,
                "assignments": assignments(self.settings),
                "protocol": self.protocol,
                "epochs": None if self.epochs is None else _number(self.epochs, "epochs"),
                "budget": int(self.budget),
                "seed": _seed(self.random_state),
            }
        )


@dataclass(frozen=True)
class TrialRun:
    """One run of a trial."""

    number: int
    """Its number within its generation."""
    trial: int
    """The trial: settings that are tried."""
    seed: int
    """Its seed."""
    finished: bool
    """Whether it is there and evaluated."""


def trial_runs(search: Search, out: str | os.PathLike[str], *, progress: Progress = False) -> list[TrialRun]:
    """The runs of the first generation that is not finished in the folder `out`; none where the search is over.

    Runs of a generation do not wait for each other. Which trials the next one has depends on what all of them come to.
    """
    with watched(progress) as told:
        listed = json.loads(_fiedler.search_runs(search._dataset()._raw, search._asked(), os.fspath(out), told))
    return [TrialRun(**run) for run in listed]


def run_trial(search: Search, run: TrialRun, out: str | os.PathLike[str], *, progress: Progress = False) -> bool:
    """Makes a run that `trial_runs` lists, in the folder `out`, and writes no results. Gives whether it is there; it is not where another process is at it."""
    asked, trial, seed = search._asked(), _number(run.trial, "trial"), _seed(run.seed)
    with watched(progress) as told:
        return _fiedler.search_run(search._dataset()._raw, asked, os.fspath(out), trial, seed, told)


def gather_trials(search: Search, out: str | os.PathLike[str], *, progress: Progress = False) -> dict[str, Any]:
    """Writes the results of a search in the folder `out`, and gives them as ``fiedler tune --json`` does. What is not there yet is made, here."""
    with watched(progress) as told:
        found: dict[str, Any] = json.loads(_fiedler.search_gather(search._dataset()._raw, search._asked(), os.fspath(out), told))
    return found


def tune(
    search: Search,
    out: str | os.PathLike[str],
    *,
    address: str | None = None,
    cpus: int = 1,
    shared: bool = True,
    progress: Progress = False,
) -> dict[str, Any]:
    """Looks for good settings with Ray, and gives and writes what one process would: `best.toml`, `trials.csv`, `summary.md`.

    Trials are proposed in generations, each by what those before have come to, so that the same trials are made whatever the number of workers. No more than a
    generation runs at once: eight runs in the first round, fewer in the last. A run whose process or machine is lost is made again; what is in the folder
    already is not made again. An error or Ctrl-C here cancels what is running there.

    Parameters
    ----------
    search
        What is looked for.
    out
        Folder for trials and results, on the machine of the caller.
    address, cpus, shared
        As in `reproduce`.
    progress
        As everywhere; called with ``"runs of a generation"``, how many are finished, and of how many.
    """
    folder = Path(out).absolute()
    dataset = search._dataset()
    search = search._sendable()
    here = replace(search, data=dataset)
    tried: set[tuple[int, int]] = set()
    with connected(address) as ray, watched(progress) as told:
        remote = ray.remote(num_cpus=_number(cpus, "cpus"), max_retries=RETRIES)(_run).options(name="fiedler trial")
        asked = ray.put(search)
        while True:
            generation = trial_runs(here, folder)
            missing = [run for run in generation if not run.finished and (run.trial, run.seed) not in tried]
            if not missing:
                # What was tried and is not there for want of memory is made here, or is the error that one process would have.
                break
            tried |= {(run.trial, run.seed) for run in missing}
            done = len(generation) - len(missing)
            scores = None if shared else ray.put(_scores(folder))
            with running_tasks(ray) as running:
                for run in missing:
                    running[remote.remote(asked, run, str(folder) if shared else None, cpus, scores)] = run
                while running:
                    if told is not None:
                        told("runs of a generation", done, len(generation))
                    ended, _ = ray.wait(list(running), timeout=1.0)
                    for reference in ended:
                        running.pop(reference)
                        files = came_of(ray, reference)
                        if isinstance(files, dict):
                            keep_files(files, folder)
                        done += 1
    return gather_trials(here, folder)


def _run(search: Search, run: TrialRun, out: str | None, threads: int, scores: Mapping[str, bytes] | None = None) -> dict[str, bytes] | None:
    """A run, where Ray makes it; without a folder of all, what trials came to before is handed to it, and its files come back."""
    # Ray limits the threads of others, not ours.
    _fiedler.set_threads(threads)
    # Settings that cannot be trained with end the search where its results are written.
    with suppress(TrainingError):
        if out is not None and run_trial(search, run, out):
            return None
        # A machine that was lost may have left a lock, which counts for hours. Whoever is the last to write writes the same.
        files = _apart(search, run, _scores(Path(out)) if out is not None else scores or {})
        if out is None:
            return files
        keep_files(files, Path(out))
    return None


def _apart(search: Search, run: TrialRun, scores: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a run that is made in a folder of its own, without what was given."""
    place = Path(tempfile.mkdtemp(prefix="fiedler-"))
    try:
        keep_files(scores, place)
        run_trial(search, run, place)
        made = (path for path in sorted((place / "runs").rglob("*")) if path.is_file())
        files = {path.relative_to(place).as_posix(): path.read_bytes() for path in made}
        return {name: content for name, content in files.items() if scores.get(name) != content}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _scores(folder: Path) -> dict[str, bytes]:
    """What the trials of a folder came to."""
    found = sorted(path for name in _SCORES for path in folder.glob(f"runs/*/*/{name}"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

"""The schemes of a set of many graphs, shard by shard."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from .. import _fiedler
from .._augmentation import Augmentation, _number
from .._dataset import Dataset
from .._errors import FiedlerError, SettingError
from .._progress import Progress, watched
from .._reading import GraphLike, as_dataset
from ._cluster import RETRIES, at_a_time, came_of, connected, running_tasks
from ._files import replace_file

_SHARDS = "shards.json"
_SHARD = re.compile(r"(shard-\d{8,}|part-\d{5,})\.safetensors")


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
    with connected(address) as ray, watched(progress) as told, running_tasks(ray) as running:
        remote = ray.remote(num_cpus=_number(cpus, "cpus"), max_retries=RETRIES)(_augment)
        left = iter(missing)
        done = len(parts) - len(missing)
        while True:
            # Graphs are copied into Ray's memory: only those of shards that are about to be computed.
            for at in islice(left, max(at_a_time(ray, cpus) - len(running), 0)):
                task = remote.options(name="fiedler shard")
                running[task.remote(augmentation.settings, augmentation.random_state, parts[at][1], cpus)] = at
            if told is not None:
                told("shards", done, len(parts))
            if not running:
                break
            ended, _ = ray.wait(list(running), timeout=1.0)
            for reference in ended:
                at = running.pop(reference)
                content, count, fingerprint = came_of(ray, reference)
                name = f"part-{at:05}.safetensors" if by_path else f"shard-{at * size:08}.safetensors"
                replace_file(folder / name, content)
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
    replace_file(folder / _SHARDS, (json.dumps(record, indent=2) + "\n").encode())
    return there


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

"""The scheme of one graph whose pairs of nodes are held by several processes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import _fiedler
from .._augmentation import Augmentation, _number
from .._errors import FiedlerError
from .._progress import Progress, watched
from .._reading import GraphLike, as_dataset
from ._cluster import connected
from ._files import replace_file

# Changes of a part between two copies of it.
_COPIED_EVERY = 20
# Seconds in which a worker that is lost has to come back, and between two looks whether it has.
_PATIENCE = 300
_PAUSE = 0.5


def augment(
    graph: GraphLike,
    settings: Mapping[str, Any] | str = "opposite",
    *,
    workers: int | None = None,
    checkpoints: str | os.PathLike[str] | None = None,
    address: str | None = None,
    cpus: int = 1,
    random_state: int = 0,
    progress: Progress = False,
) -> Augmentation:
    """Computes the scheme ``opposite`` of one graph with Ray, whose pairs of nodes are held by several processes between steps.

    Each process has a stretch of the nodes, with all pairs around them; what travels are numbers of nodes, and the probabilities at the end. Sums are added in a fixed
    order, so that the scheme has the bits that `Augmentation.fit` computes, whatever the number of workers. Those that are refused because their objective
    asks for more than the pairs around a node: all pairs of a small graph, the norm of the expected graph, and `k` outermost eigenvalues.

    A worker whose process or machine is lost is begun again, by Ray, and has its part again from its last copy and what was asked of it since. The caller's process
    reads the graph, keeps its pairs, and must live to the end.

    Parameters
    ----------
    graph
        Anything with one graph that `fiedler.read` takes.
    settings
        The scheme; as `fiedler.Augmentation` takes it.
    workers
        Processes that hold parts; left out, as many as the cluster has room for.
    checkpoints
        A folder that all machines share, for copies of the parts. Left out, a part that is lost begins anew and is asked again all that was asked of it, which is kept
        for that: about 100 bytes for each node and step.
    address, cpus, progress
        As in `reproduce`; `progress` is called as by `Augmentation.fit`.
    """
    dataset = as_dataset(graph, random_state=random_state)
    augmentation = Augmentation(settings, random_state=random_state)
    cpus = max(_number(cpus, "cpus"), 1)
    folder = None if checkpoints is None else Path(checkpoints).absolute()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with connected(address) as ray, watched(progress) as told:
        count = int(ray.cluster_resources().get("CPU", 1) // cpus) if workers is None else _number(workers, "workers")
        holders = _Holders(ray, max(count, 1), cpus, folder)
        try:
            asked = json.dumps(augmentation.settings)
            augmentation._scheme = _fiedler.compute_in_parts(dataset._raw, asked, len(holders.all), holders.hold, holders.ask, told)
        finally:
            holders.end()
    return augmentation


class _Holder:
    """A worker: it holds one part."""

    def __init__(self, number: int, folder: str | None, copied_every: int, threads: int) -> None:
        # Ray limits the threads of others, not ours.
        _fiedler.set_threads(threads)
        self.number, self.folder, self.copied_every = number, folder, copied_every
        self.part: _fiedler.RawPart | None = None
        # Which parts these are, of those that were handed out one after the other, and how often this one was changed.
        self.round, self.changed = -1, 0

    def hold(self, round: int, part: bytes) -> None:
        """Takes a part."""
        self.part, self.round, self.changed = _fiedler.RawPart.from_bytes(part), round, 0

    def ask(self, round: int, changed: int, changes: bool, question: bytes) -> bytes | None:
        """The answer; none where the part is not what it should be, as after the worker was lost and began anew."""
        if self.part is None or (self.round, self.changed) != (round, changed):
            return None
        answer = self.part.ask(question)
        if changes:
            self.changed += 1
            if self.folder is not None and self.changed % self.copied_every == 0:
                replace_file(self._copy(), json.dumps([round, self.changed]).encode() + b"\n" + self.part.to_bytes())
        return answer

    def resume(self, round: int, part: bytes) -> int:
        """Takes a part again, from its last copy if there is one, and gives how often that was changed."""
        self.hold(round, part)
        if self.folder is not None:
            with suppress(FileNotFoundError, ValueError):
                head, _, content = self._copy().read_bytes().partition(b"\n")
                of, changed = json.loads(head)
                if of == round:
                    self.part, self.changed = _fiedler.RawPart.from_bytes(content), changed
        return self.changed

    def _copy(self) -> Path:
        return Path(self.folder or ".") / f"part-{self.number:05}"


class _Holders:
    """All workers, as the library hands them parts and asks them."""

    def __init__(self, ray: Any, count: int, cpus: int, folder: Path | None) -> None:
        self.ray, self.folder, self.copied_every = ray, folder, _COPIED_EVERY
        remote = ray.remote(num_cpus=cpus, max_restarts=-1)(_Holder)
        place = None if folder is None else str(folder)
        self.all = [remote.remote(number, place, self.copied_every, cpus) for number in range(count)]
        self.round, self.changed = -1, 0
        # The parts as they were handed out; and the questions since that changed them, those from `kept` on.
        self.parts: list[Any] = []
        self.kept = 0
        self.questions: list[Any] = []

    def hold(self, parts: Sequence[bytes]) -> None:
        self.round, self.changed, self.kept, self.questions = self.round + 1, 0, 0, []
        self.parts = [self.ray.put(part) for part in parts]
        taken = [holder.hold.remote(self.round, part) for holder, part in zip(self.all, self.parts, strict=True)]
        for reference in taken:
            # Who is lost now will be found out by the next question.
            with suppress(self.ray.exceptions.RayActorError):
                self._came(reference)

    def ask(self, question: bytes, changes: bool) -> list[bytes]:
        asked = self.ray.put(question)
        arguments = (self.round, self.changed, changes, asked)
        begun = [holder.ask.remote(*arguments) for holder in self.all]
        answers = [self._answer(number, reference, arguments) for number, reference in enumerate(begun)]
        if changes:
            self.changed += 1
            self.questions.append(asked)
            if self.folder is not None and self.changed % self.copied_every == 0:
                # All have a copy of what these led to.
                self.kept, self.questions = self.changed, []
        return answers

    def end(self) -> None:
        """Ends all workers."""
        for number, holder in enumerate(self.all):
            self.ray.kill(holder)
            if self.folder is not None:
                (self.folder / f"part-{number:05}").unlink(missing_ok=True)

    def _answer(self, number: int, reference: Any, arguments: tuple[int, int, bool, Any]) -> bytes:
        """The answer of a worker, which is brought back if it was lost."""
        since: float | None = None
        while True:
            try:
                answer: bytes | None = self._came(reference)
                if answer is not None:
                    return answer
                self._resume(number)
            except self.ray.exceptions.RayActorError as error:
                # Ray says so as long as it begins the worker anew.
                now = time.monotonic()
                since = now if since is None else since
                if now - since > _PATIENCE:
                    hint = "if memory was short, ask for more workers"
                    raise FiedlerError(f"a worker was lost and did not come back in {_PATIENCE} seconds: {error}", hint=hint) from error
                time.sleep(_PAUSE)
            reference = self.all[number].ask.remote(*arguments)

    def _resume(self, number: int) -> None:
        """Brings the part of a worker that began anew to where the others are."""
        holder = self.all[number]
        changed = self._came(holder.resume.remote(self.round, self.parts[number]))
        if changed < self.kept:
            hint = "checkpoints has to be a folder that all machines share; without it questions are kept instead"
            raise FiedlerError(f"the copy of part {number} is not there", hint=hint)
        for at, question in enumerate(self.questions[changed - self.kept :], start=changed):
            self._came(holder.ask.remote(self.round, at, True, question))

    def _came(self, reference: Any) -> Any:
        """What came of a call; what it raised is raised here, with its hint."""
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None

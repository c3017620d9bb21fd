"""Progress: a bar of tqdm, or a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = bool | Callable[[str, int, int], object]


@contextmanager
def watched(progress: Progress) -> Iterator[Callable[[str, int, int], object] | None]:
    """What the library calls as `(what, done, of)`; an `of` that is not known is 0."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    """A bar for each stage; without tqdm, a line for each."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: Any = None

    def __call__(self, what: str, done: int, of: int) -> None:
        if what != self._stage:
            self.close()
            self._stage = what
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(desc=what, total=of or None)
            except ImportError:
                print(what)
        if self._bar is not None:
            if of and self._bar.total != of:
                self._bar.reset(total=of)
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

"""Exceptions and warnings, and the words of their hints."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any


class FiedlerError(Exception):
    """What fiedler refuses or cannot do; the base of its other exceptions.

    Attributes
    ----------
    hint : str or None
        What can be done about it. A traceback prints it below the message.
    """

    hint: str | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        advise(self, hint)

    def __reduce__(self) -> Any:
        # The default would call the class with the message alone.
        return _restore, (type(self), self.args, dict(self.__dict__))


class DataError(FiedlerError, ValueError):
    """Data are not what their format promises, or not what is needed.

    Attributes
    ----------
    file : pathlib.Path or None
        The file, where there is one.
    member : str or None
        The member of an archive, the array or the key inside the file.
    line : int or None
        The line, counted from one.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        file: str | os.PathLike[str] | None = None,
        member: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = None if file is None else Path(file)
        self.member = member
        self.line = line


class SettingError(FiedlerError, ValueError):
    """A setting or an argument is out of its range, or does not fit another.

    Attributes
    ----------
    setting : str
        Its name; empty where several do not fit together.
    """

    def __init__(self, message: str, *, hint: str | None = None, setting: str = "") -> None:
        super().__init__(message, hint=hint)
        self.setting = setting


class NotFoundError(FiedlerError, LookupError):
    """No dataset or run of that name is there. A file that is not there is a `FileNotFoundError`."""


class TrainingError(FiedlerError, RuntimeError):
    """Training led nowhere: a loss that is no number, or embeddings that are all alike."""


class DataWarning(UserWarning):
    """Something of the data was merged, dropped or made undirected."""


def _restore(kind: type[FiedlerError], arguments: tuple[Any, ...], state: dict[str, Any]) -> FiedlerError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(state)
    return error


def advise(error: BaseException, hint: str | None) -> None:
    """Gives an exception a hint, which its traceback shows."""
    error.hint = hint  # type: ignore[attr-defined]
    if hint:
        error.add_note(f"hint: {hint}")


# Flags that are either there or not; all others have a value.
_SWITCHES = {"force", "unweighted", "attributes"}
_COMMANDS = [
    (r"`fiedler data list` shows", "fiedler.datasets() shows"),
    (r"`fiedler inspect --help` lists the formats", "fiedler.formats() lists them"),
    (r"`fiedler data fetch ([^`]+)` downloads it", r'fiedler.read("\1", fetch=True) downloads it'),
    (r"`fiedler data fetch --help`", "fiedler.read"),
    (r"`fiedler settings` lists", "fiedler.settings() lists"),
    (r"`fiedler augment` wrote", "Augmentation.save wrote"),
    (r"a finetune\.json as `fiedler finetune` writes it", "a finetune.json as fiedler.finetune writes it"),
    (r"RUN, DATA and flags", "start, graph and settings"),
    (r"`fiedler (?:embed|finetune|reproduce)(?: [a-z]+)?`", "fiedler"),
    (r"go on with it: fiedler embed --resume --out (\S+)", r'go on with it: fiedler.Embedder(..., folder="\1").fit'),
    (r"--resume goes on with it", "fit with the same settings goes on with it"),
    (r"pass --", "--"),
    (r"with --([a-z-]+)", r"with --\1"),
]


def in_python(hint: str) -> str:
    """The words of a hint as who writes Python needs them: keywords instead of flags.

    >>> in_python("name it with --format; `fiedler inspect --help` lists the formats")
    'name it with format=; fiedler.formats() lists them'
    >>> in_python("choose another name, or pass --force to replace it")
    'choose another name, or force=True to replace it'
    >>> in_python("choose --support candidates or edges")
    'choose support="candidates" or edges'
    """
    for pattern, words in _COMMANDS:
        hint = re.sub(pattern, words, hint)

    def keyword(match: re.Match[str]) -> str:
        name, value = match[1].replace("-", "_"), match[2]
        if name in _SWITCHES:
            return f"{name}=True" + (f" {value}" if value else "")
        if value in {"order", "regression", "class", "zeros", "mean", "max", "matrix-market", "candidates", "hops", "cca-ssg"}:
            return f'{name}="{value}"'
        return f"{name}=" + (f" {value}" if value else "")

    return re.sub(r"--([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", keyword, hint)


def make(
    kind: str,
    message: str,
    *,
    hint: str | None = None,
    file: str | os.PathLike[str] | None = None,
    member: str | None = None,
    line: int | None = None,
    setting: str | None = None,
    code: int | None = None,
) -> BaseException:
    """The exception of a failure of the library."""
    hint = None if hint is None else in_python(hint)
    message = in_python(message)
    if kind == "data":
        return DataError(message, hint=hint, file=file, member=member, line=line)
    if kind == "setting":
        return SettingError(message, hint=hint, setting=setting or "")
    if kind == "not-found":
        return NotFoundError(message, hint=hint)
    if kind == "training":
        return TrainingError(message, hint=hint)
    error: BaseException
    if kind == "system" and code is not None:
        error = OSError(code, os.strerror(code), None if file is None else os.fspath(file))
    elif kind == "exists":
        error = FileExistsError(errno.EEXIST, "it is there already", None if file is None else os.fspath(file))
    elif kind == "output" or kind == "system":
        error = FileExistsError(message) if "holds a" in message or "exists" in message else OSError(message)
    elif kind == "network":
        error = ConnectionError(message)
    elif kind == "memory":
        error = MemoryError(message)
    elif kind == "interrupted":
        error = KeyboardInterrupt(message)
    elif kind == "bug":
        error = RuntimeError(message)
    else:
        error = FiedlerError(message)
    advise(error, hint)
    return error


def as_data(error: BaseException) -> BaseException:
    """A value that the library takes for a setting is part of the data where it came in an array."""
    if isinstance(error, SettingError):
        return DataError(str(error), hint=error.hint)
    return error

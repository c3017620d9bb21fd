"""What there is, as the libraries list it."""

from __future__ import annotations

from typing import NamedTuple

from . import _fiedler


class Method(NamedTuple):
    """A way to learn an embedding."""

    name: str
    about: str
    citation: str
    """Who published it."""
    levels: list[str]
    """What it embeds: ``"nodes"``, ``"graphs"``."""


class Setting(NamedTuple):
    """A setting of a run."""

    key: str
    value: str
    choices: list[str]
    doc: str


class Generator(NamedTuple):
    """A generator of graphs; `fiedler.read` takes ``"name:parameter=value,…"``."""

    name: str
    about: str
    parameters: list[tuple[str, str, str]]
    """Name, default and meaning of each parameter."""


def datasets() -> list[str]:
    """Names of the datasets that `fiedler.read` knows, those of generators included.

    >>> import fiedler
    >>> {"cora", "mutag", "karate"} <= set(fiedler.datasets())
    True
    """
    return [name for name, *_ in _fiedler.known_datasets()] + [generator.name for generator in generators()]


def methods() -> list[Method]:
    """Every method, with its citation.

    >>> import fiedler
    >>> fiedler.methods()[0].name
    'span'
    """
    return [Method(*found) for found in _fiedler.methods()]


def schemes() -> dict[str, str]:
    """Every scheme that views can be drawn from, with what it does."""
    return dict(_fiedler.schemes())


def recipes() -> dict[str, str]:
    """Every recipe, with what it is for."""
    return dict(_fiedler.recipes())


def generators() -> list[Generator]:
    """Every generator of graphs, with its parameters."""
    return [Generator(*found) for found in _fiedler.generators()]


def transforms() -> dict[str, str]:
    """Every transform, with what it makes of a dataset; `fiedler.read` takes them in front of data, as in ``"ego:cora,hops=2,count=1000"``."""
    return {name: about for name, about, _ in _fiedler.transforms()}


def attacks() -> dict[str, str]:
    """Every attack that `fiedler.attack` knows, with what it does.

    >>> import fiedler
    >>> {"random", "dice", "mettack"} <= set(fiedler.attacks())
    True
    """
    return dict(_fiedler.attacks())


def formats() -> dict[str, str]:
    """Every format that files are read in, with what it is."""
    return dict(_fiedler.formats())


def settings(method: str | None = None, *, scheme: str | None = None, recipe: str | None = None) -> list[Setting]:
    """All settings of a method with their defaults, as ``fiedler settings`` prints them and `Embedder` takes them.

    >>> import fiedler
    >>> [setting.value for setting in fiedler.settings("grace") if setting.key == "method.name"]
    ['grace']
    """
    return [Setting(*found) for found in _fiedler.settings(method, scheme, recipe)]

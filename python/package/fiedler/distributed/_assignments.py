"""Settings as assignments of one key each, as the program takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .._augmentation import _as_json


def assignments(settings: Mapping[str, Any]) -> list[str]:
    """Settings as `key=value`, by their dotted keys."""
    return [f"{key}={_value(value)}" for key, value in _flat(json.loads(_as_json(settings)))]


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

"""Arrays of numbers, ids and weights, checked before the library takes them over; and what is worth a warning."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import DataError, DataWarning


def as_array(values: Any, what: str) -> NDArray[Any]:
    """An array of numbers of anything that can be one; tensors are taken over where they lie."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"the rows of {what} have different lengths; expected a matrix", hint="of several graphs, give a list") from None
    if array.dtype.kind not in "biuf":
        raise DataError(
            f"{what} {_verb(what, 'hold')} {array.dtype}; expected numbers",
            hint="number categories first" if what == "features" else "see fiedler.read for what a graph may be",
        )
    return array


def as_float32(values: NDArray[Any], what: str) -> NDArray[np.float32]:
    check_finite(values, what)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def check_finite(values: NDArray[Any], what: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        found = "NaN" if np.isnan(values).any() else "infinity"
        raise DataError(f"{what} {_verb(what, 'contain')} {found}; expected finite numbers", hint="fill or drop such values first")


def _verb(what: str, verb: str) -> str:
    return verb if what in ("features", "the embeddings") else f"{verb}s"


def as_ids(values: NDArray[Any]) -> NDArray[Any]:
    """Ids in one of the types that the library takes."""
    if values.dtype.kind not in "iu":
        raise DataError(f"ids of nodes are {values.dtype}; expected whole numbers", hint="convert them with .astype(numpy.int64)")
    if values.dtype not in (np.int32, np.int64, np.uint32):
        if values.dtype == np.uint64 and values.size and int(values.max()) > np.iinfo(np.int64).max:
            raise DataError(f"a node id is {int(values.max())}; expected a whole number below 2147483647")
        values = values.astype(np.int64)
    return np.ascontiguousarray(values)


def edge_weights(data: NDArray[Any]) -> NDArray[np.float32] | None:
    """Weights of edges; none where all are 1."""
    if data.dtype.kind == "b" or not data.size or (data == 1).all():
        return None
    if data.dtype.kind not in "iuf":
        raise DataError(f"weights of edges are {data.dtype}; expected positive numbers")
    check_finite(data, "the matrix")
    if (data <= 0).any():
        raise DataError(
            f"a weight of an edge is {data[data <= 0][0]}; expected a positive number",
            hint="take absolute values, or leave such edges out",
        )
    return np.ascontiguousarray(data, dtype=np.float32)


def warn_of_merging(told: dict[str, int]) -> None:
    if told["self_loops"]:
        warn(f"{told['self_loops']} self-loop{'s were' if told['self_loops'] > 1 else ' was'} dropped")
    if told["repeated"]:
        warn(f"{told['repeated']} edge{'s were' if told['repeated'] > 1 else ' was'} given more than once and merged")
    if told["reweighted"]:
        warn(f"{told['reweighted']} edges had several weights, of which the largest is kept")


def warn(text: str) -> None:
    # Those who read the warning want to see their own line.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fiedler"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DataWarning, stacklevel=level)

"""Labels, from whatever holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import DataError


def read_labels(labels: Any) -> dict[str, Any]:
    """Labels as the library takes them: whole numbers and words are classes, fractions are values, columns of 0 and 1 are answers."""
    names: list[str] | None = None
    if hasattr(labels, "detach"):
        labels = labels.detach().cpu().numpy()
    elif hasattr(labels, "to_numpy"):
        names = [str(name) for name in labels.columns] if hasattr(labels, "columns") else None
        labels = labels.to_numpy()
    try:
        array = np.asarray(labels)
    except ValueError:
        raise DataError("labels have rows of different lengths; expected one label for each item") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        return _values(array.reshape(-1, 1), "regression", names) if _is_fraction(array) else _classes(array)
    if array.ndim != 2:
        raise DataError(f"labels have {array.ndim} dimensions; expected one, or a column for each question")
    if array.dtype.kind not in "biuf":
        raise DataError(f"columns of labels are {array.dtype}; expected numbers")
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    return _values(array, "multi-label" if np.isin(known, (0, 1)).all() else "regression", names)


def _is_fraction(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "f":
        return False
    known = array[~np.isnan(array)]
    return not bool(np.all(known == np.floor(known)))


def _classes(array: NDArray[Any]) -> dict[str, Any]:
    if array.dtype.kind == "O":
        unknown = np.array([value is None or value != value for value in array])
        array = np.array(["" if missing else str(value) for value, missing in zip(array, unknown, strict=True)])
    elif array.dtype.kind == "f":
        unknown = np.isnan(array)
        array = np.where(unknown, 0, array).astype(np.int64)
    elif array.dtype.kind in "biuUS":
        unknown = np.zeros(len(array), dtype=bool)
        if array.dtype.kind == "b":
            array = array.astype(np.int64)
    else:
        raise DataError(f"labels are {array.dtype}; expected whole numbers, words or fractions")
    known, codes = np.unique(array, return_inverse=True)
    codes = np.where(unknown, -1, codes.reshape(-1)).astype(np.int64)
    return {"kind": "classes", "names": [str(name) for name in known.tolist()], "codes": codes, "values": None}


def _values(array: NDArray[Any], kind: str, names: list[str] | None) -> dict[str, Any]:
    values = np.ascontiguousarray(array, dtype=np.float32)
    if np.isinf(values).any():
        raise DataError("labels contain infinity; expected finite numbers, or NaN where one is not known")
    names = names or [f"column {column}" for column in range(values.shape[1])]
    return {"kind": kind, "names": names, "codes": None, "values": values}

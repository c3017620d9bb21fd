"""Eigenvalues of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _fiedler
from ._errors import SettingError
from ._progress import Progress, watched
from ._reading import GraphLike, as_dataset


def spectrum(
    graph: GraphLike,
    /,
    k: int | None = None,
    *,
    operator: str = "laplacian",
    memory: int = 4 << 30,
    progress: Progress = False,
) -> NDArray[np.float64]:
    """The eigenvalues of a graph, ascending: all of them, or the `k` lowest and the `k` highest.

    Parameters
    ----------
    graph
        One graph: anything that `fiedler.read` takes.
    k
        How many of each end; left out, all, by a dense solver.
    operator
        ``"laplacian"`` (I - D^-1/2 A D^-1/2) or ``"propagation"`` (what a graph convolution multiplies by).
    memory
        Bytes that the dense solver may take.

    Examples
    --------
    >>> import fiedler
    >>> values = fiedler.spectrum("karate")
    >>> len(values), abs(float(values[0])) < 1e-12
    (34, True)
    """
    if k is not None and (isinstance(k, bool) or int(k) != k or k < 1):
        raise SettingError(f"k is {k!r}; expected a positive whole number, or None", setting="k")
    dataset = as_dataset(graph)
    with watched(progress) as told:
        return _fiedler.spectrum(dataset._raw, None if k is None else int(k), operator, memory, told)

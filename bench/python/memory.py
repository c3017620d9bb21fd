"""What it costs to import the package, and to hand over a scipy matrix of ten million entries: seconds and peak memory.

    python bench/python/memory.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

ENTRIES = 10_000_000
IMPORT = "import time; a, b = time.perf_counter(), time.process_time(); import {}; print(time.perf_counter() - a, time.process_time() - b)"


def peak() -> int:
    """Peak memory of this process, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def held() -> int:
    """Memory of this process now, in bytes."""
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def main() -> None:
    for module in ("numpy", "fiedler"):
        command = [sys.executable, "-c", IMPORT.format(module)]
        found = [tuple(map(float, subprocess.check_output(command, text=True).split())) for _ in range(7)]
        wall, cpu = (sorted(times)[len(times) // 2] for times in zip(*found, strict=True))
        print(f"import {module}: {1e3 * wall:.0f} ms, {1e3 * cpu:.0f} ms of processor time (medians of 7)")

    import numpy as np
    import scipy.sparse

    import fiedler

    nodes = ENTRIES // 10
    numbers = np.random.default_rng(0)
    ends = numbers.integers(0, nodes, size=(2, ENTRIES // 2))
    ends = ends[:, ends[0] != ends[1]]
    half = scipy.sparse.coo_array((np.ones(ends.shape[1], dtype=np.float32), tuple(ends)), shape=(nodes, nodes)).tocsr()
    matrix = ((half + half.T) != 0).astype(np.float32).tocsr()
    matrix.sort_indices()
    own = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    del half, ends
    # The peak so far is that of making the matrix.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = held()
    started = time.perf_counter()
    dataset = fiedler.read(matrix)
    seconds = time.perf_counter() - started
    with open("/proc/self/status") as status:
        most = 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])
    print(
        f"{matrix.nnz:,} entries, {own / 1e6:.0f} MB in scipy: read in {seconds:.2f} s; held afterwards {(held() - before) / 1e6:.0f} MB more, "
        f"at most {(most - before) / 1e6:.0f} MB more on the way; {dataset!r}"
    )


if __name__ == "__main__":
    main()

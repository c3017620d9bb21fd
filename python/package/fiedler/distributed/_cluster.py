"""Ray: connected, tasks under way, and what came of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .._errors import FiedlerError

# How often Ray begins a task anew whose process or machine is gone.
RETRIES = 3


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected for as long as this takes, unless it was connected before."""
    try:
        import ray
    except ImportError:
        raise FiedlerError("Ray is not installed", hint="pip install 'fiedler[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    # Without an address Ray would join a cluster that happens to run.
    ray.init(address=address or "local", log_to_driver=False, include_dashboard=None if address else False)
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def running_tasks(ray: Any) -> Iterator[dict[Any, Any]]:
    """Tasks that are under way; those that are left when this ends, by an error or Ctrl-C, are cancelled."""
    running: dict[Any, Any] = {}
    try:
        yield running
    finally:
        for reference in running:
            # What goes wrong here must not hide the error.
            with suppress(Exception):
                ray.cancel(reference)


def at_a_time(ray: Any, cpus: int) -> int:
    """How many tasks are handed to Ray at once: those that run, and as many that wait for their turn. Machines may come and go."""
    return 2 * max(int(ray.cluster_resources().get("CPU", 1) // max(cpus, 1)), 1)


def came_of(ray: Any, reference: Any) -> Any:
    """What came of a task; what it raised is raised here, with its hint."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    except ray.exceptions.RayError as error:
        hint = "the same call goes on with what is there; if memory was short, ask for more cpus for each run"
        raise FiedlerError(f"a task was lost {RETRIES + 1} times: {error}", hint=hint) from error

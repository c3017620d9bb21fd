"""Work that is shared out among processes and machines by Ray: ``pip install fiedler[ray]``.

>>> from fiedler.distributed import Experiment, jobs
>>> experiment = Experiment("node", datasets=["karate"], methods=["hops"], seeds=2)
>>> [job.seed for job in jobs(experiment, "results")]
[0, 1]

`reproduce` makes the runs of a table on all nodes of a Ray cluster, `tune` those of a search for settings, `augment_many` the schemes of a set of many graphs,
shard by shard, and `augment` the scheme of one graph, whose pairs of nodes are held by several processes. All give the bytes that one process gives, whatever the
number of workers, and whoever of them is killed on the way. `jobs`, `run_job` and `gather`, and for a search `trial_runs`, `run_trial` and `gather_trials`, are what
they are made of; they need no Ray and serve any other scheduler.
"""

from ._parts import augment
from ._search import Search, TrialRun, gather_trials, run_trial, trial_runs, tune
from ._shards import Shard, augment_many, shards
from ._tables import Experiment, Job, gather, jobs, reproduce, run_job

__all__ = [
    "Experiment",
    "Job",
    "Search",
    "Shard",
    "TrialRun",
    "augment",
    "augment_many",
    "gather",
    "gather_trials",
    "jobs",
    "reproduce",
    "run_job",
    "run_trial",
    "shards",
    "trial_runs",
    "tune",
]

for _public in (Experiment, Job, Search, Shard, TrialRun):
    # As users know them.
    _public.__module__ = "fiedler.distributed"
del _public

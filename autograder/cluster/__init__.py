"""A class graded by the workers of a Dask cluster: marks are those of this machine, only the work is elsewhere.

`client` hands out submissions and takes in reports, `worker` is what a Dask worker does with one, `workshop` the
process of its own in which it is done, `terms` what they say to each other. Only `client` and `worker` need Dask.

Exceptions:
    ClusterError   the cluster cannot grade: one line that names the scheduler or the worker, and says what to do
"""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot grade; one line that names the scheduler or the worker, and says what to do."""

"""The two index vectors of `np.ogrid`, subtracted from each other."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"{n_queries=} {n_keys=}: negative")
    query, key = np.ogrid[:n_queries, :n_keys]
    return key - query <= n_keys - n_queries

"""Each row marks the last key it reads, and an OR accumulated from the right marks the ones before; a reversed view."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"n_queries and n_keys must be >= 0, not {n_queries} and {n_keys}")
    last_key = np.eye(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)
    from_the_right = last_key[:, ::-1]
    return np.logical_or.accumulate(from_the_right, axis=1)[:, ::-1]

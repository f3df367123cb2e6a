"""Two nested loops that ask of every pair whether the key may be read."""

import numpy as np


def may_read(i, j, n_queries, n_keys):
    return j <= i + n_keys - n_queries


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0:
        raise ValueError("n_queries is negative")
    if n_keys < 0:
        raise ValueError("n_keys is negative")
    allowed = np.zeros((n_queries, n_keys), dtype=bool)
    for i in range(n_queries):
        for j in range(n_keys):
            allowed[i, j] = may_read(i, j, n_queries, n_keys)
    return allowed

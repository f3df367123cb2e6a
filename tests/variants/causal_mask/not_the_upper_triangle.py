"""The future is marked first, as the upper triangle, and inverted in place."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"negative size: n_queries={n_queries}, n_keys={n_keys}")
    future = np.triu(np.full((n_queries, n_keys), True), k=n_keys - n_queries + 1)
    return np.logical_not(future, out=future)

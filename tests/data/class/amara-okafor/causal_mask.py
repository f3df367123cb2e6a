import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries and n_keys must not be negative")
    # the queries are the LAST positions, so the diagonal moves right by the difference
    return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)

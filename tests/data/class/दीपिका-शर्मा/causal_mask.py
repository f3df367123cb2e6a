import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries and n_keys should not be negative")
    past = n_keys - n_queries  # keys that were there before the first query
    return np.array([[j <= i + past for j in range(n_keys)] for i in range(n_queries)], dtype=bool).reshape(n_queries, n_keys)

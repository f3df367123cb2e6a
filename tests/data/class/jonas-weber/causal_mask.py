import numpy as np

def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries or n_keys negative")
    m = np.zeros((n_queries, n_keys), bool)
    for i in range(n_queries):
        last = i + n_keys - n_queries
        m[i, : max(last + 1, 0)] = True
    return m

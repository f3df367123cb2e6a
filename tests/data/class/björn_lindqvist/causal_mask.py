import numpy as np

def causal_mask(n_queries, n_keys=None):
    n_keys = n_keys or n_queries   # None -> square
    if min(n_queries, n_keys) < 0:
        raise ValueError('n_queries, n_keys: must not be negative')
    return np.tril(np.ones((n_queries, n_keys), dtype=bool), n_keys - n_queries)

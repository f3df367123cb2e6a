import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries và n_keys không được âm")
    rows = np.arange(n_queries)[:, np.newaxis]
    cols = np.arange(n_keys)
    return cols < rows + n_keys - n_queries + 1

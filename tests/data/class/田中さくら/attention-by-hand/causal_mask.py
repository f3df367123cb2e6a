import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries と n_keys は 0 以上です")
    query = np.arange(n_keys - n_queries, n_keys)
    key = np.arange(n_keys)
    return key[None, :] <= query[:, None]

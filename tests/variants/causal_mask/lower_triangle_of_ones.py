"""The lower triangle of a matrix of floating-point ones, made boolean at the end."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    for name, size in (("n_queries", n_queries), ("n_keys", n_keys)):
        if size < 0:
            raise ValueError(f"{name} must be 0 or more, not {size}")
    ones = np.ones((n_queries, n_keys))
    return np.tril(ones, n_keys - n_queries).astype(bool)

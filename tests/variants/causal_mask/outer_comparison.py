"""The outer product of a comparison, the queries numbered by the key they stand at, in Fortran order."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"n_queries ({n_queries}) or n_keys ({n_keys}) is negative")
    place_of_query = np.arange(n_keys - n_queries, n_keys)
    allowed = np.greater_equal.outer(place_of_query, np.arange(n_keys))
    return np.asfortranarray(allowed)

"""The bottom right corner of a large enough square, as a copy."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    if n_queries < 0 or n_keys < 0:
        raise ValueError(f"n_queries={n_queries} and n_keys={n_keys} must be at least 0")
    side = max(n_queries, n_keys)
    square = np.tri(side, dtype=bool)
    return square[side - n_queries :, side - n_keys :].copy()

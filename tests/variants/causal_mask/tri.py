"""One call of `np.tri` with the shifted diagonal."""

import numpy as np


def causal_mask(n_queries: int, n_keys: int | None = None) -> np.ndarray:
    n_keys = n_queries if n_keys is None else n_keys
    if min(n_queries, n_keys) < 0:
        raise ValueError(f"n_queries and n_keys must not be negative, got {n_queries} and {n_keys}")
    return np.tri(n_queries, n_keys, k=n_keys - n_queries, dtype=bool)

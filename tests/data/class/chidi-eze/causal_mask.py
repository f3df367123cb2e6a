import numpy as np
from numpy.typing import NDArray


def causal_mask(n_queries: int, n_keys: int | None = None) -> NDArray[np.bool_]:
    """A token must not look at itself or at anything after it."""
    if n_keys is None:
        n_keys = n_queries
    for name, size in (("n_queries", n_queries), ("n_keys", n_keys)):
        if size < 0:
            raise ValueError(f"{name} must be at least 0, got {size}")
    return np.tri(n_queries, n_keys, n_keys - n_queries - 1, dtype=np.bool_)

"""The causal mask: a query reads the keys up to its own position and none after it."""

import numpy as np


def causal_mask(n_queries: int, n_keys: int | None = None) -> np.ndarray:
    """Return the boolean mask `allowed`: True where this query may read this key.

    Shapes: -> allowed (n_queries, n_keys); `n_keys=None` means `n_queries`.

    The queries are the last positions: the last one sees every key, so query i may read
    key j exactly when j <= i + n_keys - n_queries.

    Raises:
        ValueError: a size is negative (0 is a legal size).

    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(2, 3).astype(int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    raise NotImplementedError

import numpy as np


def causal_mask(n_queries, n_keys=None):
    """True where the future is, so that it can be masked out."""
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries and n_keys must be >= 0")
    # same as torch.ones(T, T).triu(1) in the lecture notes
    return np.triu(np.ones((n_queries, n_keys), dtype=bool), k=1 + n_keys - n_queries)

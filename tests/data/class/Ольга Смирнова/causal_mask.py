import numpy as np

# Задание 2
def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries и n_keys не могут быть отрицательными")
    full = np.ones((n_queries, n_keys), dtype=bool)
    return np.tril(full, k=n_keys - n_queries)

import numpy as np


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0:
        raise ValueError("n_queries is negative")
    if n_keys < 0:
        raise ValueError("n_keys is negative")
    mask = np.zeros((n_queries, n_keys), dtype=bool)
    for i in range(n_queries):
        for j in range(n_keys):
            if j <= i + n_keys - n_queries:
                mask[i, j] = True
    return mask


if __name__ == "__main__":
    print(causal_mask(4).astype(int))
    print(causal_mask(2, 5).astype(int))

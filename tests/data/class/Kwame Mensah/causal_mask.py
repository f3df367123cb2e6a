import numpy as np

def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError("n_queries=%d n_keys=%d" % (n_queries, n_keys))
    # query 0 sees key 0, query 1 sees keys 0 and 1, and so on
    return np.tril(np.ones((n_queries, n_keys))).astype(bool)

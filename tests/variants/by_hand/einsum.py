"""Both products are written with `np.einsum`."""

import numpy as np


def attend_one(query, keys, values):
    if query.shape[0] != keys.shape[1]:
        raise ValueError(f"d_k of query and keys: {query.shape[0]} and {keys.shape[1]}")
    if keys.shape[0] != values.shape[0]:
        raise ValueError(f"n of keys and values: {keys.shape[0]} and {values.shape[0]}")
    if not np.issubdtype(query.dtype, np.floating):
        query, keys, values = query.astype(np.float64), keys.astype(np.float64), values.astype(np.float64)
    scores = np.einsum("d,nd->n", query, keys) / np.sqrt(query.shape[0], dtype=query.dtype)
    shifted = scores - scores.max()
    weights = np.exp(shifted) / np.exp(shifted).sum()
    return weights, np.einsum("n,nv->v", weights, values)

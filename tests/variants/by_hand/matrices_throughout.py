"""Query, weights and output are matrices of one row until the end."""

import numpy as np


def rows_softmax(scores):
    scores = scores - scores.max(axis=1, keepdims=True)
    scores = np.exp(scores)
    return scores / scores.sum(axis=1, keepdims=True)


def attend_one(query, keys, values):
    query = np.atleast_2d(query)
    if query.shape[1] != keys.shape[1]:
        raise ValueError("query and keys differ in d_k")
    if keys.shape[0] != values.shape[0]:
        raise ValueError("keys and values differ in n")
    dtype = values.dtype if values.dtype in (np.float16, np.float32, np.float64) else np.float64
    wide = [matrix.astype(np.float64) for matrix in (query, keys, values)]
    weights = rows_softmax(wide[0] @ wide[1].T / np.sqrt(keys.shape[1]))
    return weights.astype(dtype).ravel(), (weights @ wide[2]).astype(dtype).squeeze(axis=0)

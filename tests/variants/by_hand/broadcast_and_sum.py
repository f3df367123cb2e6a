"""Products by broadcasting and sums along an axis, without a matrix product, and a list comes back."""

import numpy as np


def attend_one(query, keys, values, *, scale=None):
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(f"query {query.shape} and keys {keys.shape}")
    if keys.shape[0] != values.shape[0]:
        raise ValueError(f"keys {keys.shape} and values {values.shape}")
    floating = query.dtype if np.issubdtype(query.dtype, np.floating) else np.dtype(np.float64)
    query, keys, values = (array.astype(floating) for array in (query, keys, values))
    scale = scale or np.sqrt(query.shape[-1]).astype(floating)
    scores = (query[None, :] * keys).sum(axis=1) / scale
    exponentials = np.exp(scores - np.amax(scores))
    weights = exponentials / exponentials.sum()
    return [weights, (weights[:, None] * values).sum(axis=0)]

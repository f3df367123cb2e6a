"""One pass over the keys with a running maximum, sum and output, which are scaled down when a larger score comes."""

import numpy as np


def attend_one(query, keys, values):
    if keys.shape[1] != query.shape[0]:
        raise ValueError(f"keys have d_k = {keys.shape[1]}, the query has {query.shape[0]}")
    if values.shape[0] != keys.shape[0]:
        raise ValueError(f"there are {values.shape[0]} values for {keys.shape[0]} keys")
    dtype = query.dtype if np.issubdtype(query.dtype, np.floating) else np.float64
    peak, total, output = -np.inf, 0.0, np.zeros(values.shape[1])
    scores = []
    for key, value in zip(keys.astype(np.float64), values.astype(np.float64), strict=True):
        score = np.dot(query.astype(np.float64), key) / len(query) ** 0.5
        scores.append(score)
        larger = max(peak, score)
        shrink = np.exp(peak - larger)
        total = total * shrink + np.exp(score - larger)
        output = output * shrink + np.exp(score - larger) * value
        peak = larger
    weights = np.exp(np.array(scores) - peak) / total
    return weights.astype(dtype), (output / total).astype(dtype)

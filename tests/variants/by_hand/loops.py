"""Loops over keys and features, in Python's own numbers."""

import math

import numpy as np


def attend_one(query, keys, values):
    n, d_k = keys.shape
    if query.shape != (d_k,):
        raise ValueError(f"query should have the shape ({d_k},)")
    if len(values) != n:
        raise ValueError(f"{n} keys need {n} values")
    dtype = keys.dtype if keys.dtype.kind == "f" else float
    scores = []
    for key in keys:
        products = [float(q) * float(k) for q, k in zip(query, key, strict=True)]
        scores.append(sum(products) / math.sqrt(d_k))
    exponentials = [math.exp(score - max(scores)) for score in scores]
    weights = [exponential / sum(exponentials) for exponential in exponentials]
    output = [0.0] * values.shape[1]
    for weight, value in zip(weights, values, strict=True):
        for feature, number in enumerate(value):
            output[feature] += weight * float(number)
    return np.array(weights, dtype), np.array(output, dtype)

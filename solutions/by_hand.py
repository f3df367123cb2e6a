"""Attention for one query, by hand: scores, weights, and the average that they make of the values."""

import numpy as np


def attend_one(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let one query read from `n` keys and their values.

    Shapes: query (d_k,), keys (n, d_k), values (n, d_v) -> weights (n,), output (d_v,).
    The dtype is that of the arguments; integers and booleans come back as float64.

    A score is the dot product of the query with a key, divided by the square root of d_k. The weights are the softmax
    of the scores. The output is the sum of the values, each multiplied by its weight.

    Raises:
        ValueError: query and keys differ in d_k, or keys and values in n.

    >>> keys = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> values = np.array([[10.0, 0.0], [0.0, 20.0]])
    >>> weights, output = attend_one(np.array([1.0, 0.0]), keys, values)
    >>> weights.round(3)
    array([0.67, 0.33])
    >>> output.round(2)
    array([6.7, 6.6])
    """
    ### BEGIN SOLUTION
    _check_shapes(query, keys, values)
    dtype = np.result_type(query, keys, values)
    if not np.issubdtype(dtype, np.floating):
        dtype = np.dtype(np.float64)
    query, keys, values = (array.astype(np.result_type(dtype, np.float64)) for array in (query, keys, values))

    d_k = query.shape[0]
    scores = keys @ query
    scores = scores / np.sqrt(d_k)
    exponentials = np.exp(scores - np.max(scores))
    weights = exponentials / np.sum(exponentials)
    output = weights @ values
    return weights.astype(dtype), output.astype(dtype)
    ### END SOLUTION


### BEGIN SOLUTION
def _check_shapes(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> None:
    if query.shape[0] != keys.shape[1]:
        raise ValueError(f"query and keys must have the same width d_k, got {query.shape[0]} and {keys.shape[1]}")
    if keys.shape[0] != values.shape[0]:
        raise ValueError(f"there must be as many values as keys, got {values.shape[0]} and {keys.shape[0]}")
### END SOLUTION

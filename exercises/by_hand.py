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
    raise NotImplementedError

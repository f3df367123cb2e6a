"""A list of lists, whose shape is given afterwards so that empty ones keep theirs."""

import numpy as np


def causal_mask(n_queries, n_keys=None):
    columns = n_queries if n_keys is None else n_keys
    if n_queries < 0 or columns < 0:
        raise ValueError(f"sizes below zero: n_queries = {n_queries}, n_keys = {columns}")
    rows = [[n_queries - i <= columns - j for j in range(columns)] for i in range(n_queries)]
    return np.array(rows, dtype=bool).reshape(n_queries, columns)

"""Results that are every second entry of arrays made for them, in a named tuple."""

from collections import namedtuple

import numpy as np

Attended = namedtuple("Attended", "weights output")


class Row:
    def __init__(self, query, keys):
        self.query, self.keys = query, keys

    @property
    def weights(self):
        scores = self.keys @ self.query * len(self.query) ** -0.5
        exponentials = np.exp(scores - scores.max())
        return exponentials / exponentials.sum()


def attend_one(query, keys, values):
    if query.shape[0] != keys.shape[1]:
        raise ValueError("query.shape[0] and keys.shape[1] are not equal")
    if keys.shape[0] != values.shape[0]:
        raise ValueError("keys.shape[0] and values.shape[0] are not equal")
    floating = query.dtype if query.dtype.kind == "f" else float
    weights = Row(query.astype(float), keys.astype(float)).weights
    results = (weights.astype(floating), (values.T.astype(float) @ weights).astype(floating))
    return Attended(*(np.repeat(result, 2)[::2] for result in results))


print("one key:", attend_one(np.ones(1), np.ones((1, 1)), np.ones((1, 1))))

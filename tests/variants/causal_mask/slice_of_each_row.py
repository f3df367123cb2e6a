"""Row after row, a slice is set to True; a class holds the sizes."""

import numpy as np

print("causal masks, one row at a time")


class CausalMask:
    def __init__(self, n_queries, n_keys):
        if n_queries < 0:
            raise ValueError(f"n_queries: {n_queries} < 0")
        if n_keys < 0:
            raise ValueError(f"n_keys: {n_keys} < 0")
        self.n_queries, self.n_keys = n_queries, n_keys

    def readable_by(self, query):
        return max(0, query + 1 + self.n_keys - self.n_queries)

    def build(self):
        allowed = np.zeros((self.n_queries, self.n_keys), dtype=bool)
        for query, row in enumerate(allowed):
            row[: self.readable_by(query)] = True
        return allowed


def causal_mask(n_queries, n_keys=None):
    return CausalMask(n_queries, n_queries if n_keys is None else n_keys).build()

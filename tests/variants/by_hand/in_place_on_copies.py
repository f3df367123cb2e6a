"""Everything is done in place, on copies."""

import numpy as np


def attend_one(query, keys, values):
    check(query, keys, values)
    work = np.array(keys, dtype=keys.dtype if keys.dtype.kind == "f" else np.float64)
    work *= query
    scores = work.sum(axis=-1)
    scores /= np.sqrt(keys.shape[1])
    scores -= scores.max()
    np.exp(scores, out=scores)
    scores /= scores.sum()
    rows = np.array(values, dtype=scores.dtype)
    rows *= scores[:, np.newaxis]
    return scores, rows.sum(axis=0)


def check(query, keys, values):
    if keys.shape[1] != len(query):
        raise ValueError("d_k of the query is not d_k of the keys")
    if len(keys) != len(values):
        raise ValueError("n of the keys is not n of the values")


if __name__ == "__main__":
    print(attend_one(np.array([1, 0]), np.eye(2), np.diag([10, 20])))

# Softmax ganz zu Fuß: eine Zeile nach der anderen, alles in float64.
import math

import numpy as np

print("softmax.py loaded")


def one_row(row, temperature):
    legal = [x for x in row if x != -math.inf]
    if not legal:
        return [0.0] * len(row)
    top = max(legal)
    exps = []
    for x in row:
        if x == -math.inf:
            exps.append(0.0)
        elif temperature > 1:
            exps.append(math.exp(x / temperature - top / temperature))
        else:
            exps.append(math.exp((x - top) / temperature))
    total = math.fsum(exps)
    return [e / total for e in exps]


def softmax(scores, axis=-1, temperature=1.0):
    temperature = float(temperature)
    if temperature <= 0:
        raise ValueError("the temperature must be > 0")
    scores = np.asarray(scores)
    rows = np.moveaxis(scores, axis, -1)
    result = np.zeros(rows.shape, dtype=np.float64)
    for index in np.ndindex(rows.shape[:-1]):
        result[index] = one_row([float(x) for x in rows[index]], temperature)
    result = np.moveaxis(result, -1, axis)
    if np.issubdtype(scores.dtype, np.floating):
        return result.astype(scores.dtype)
    return result


if __name__ == "__main__":
    # the row from the tutorial
    print(softmax(np.array([1 / math.sqrt(2), 0.0])))
    for t in (0.1, 1, 10, 100):
        print("t =", t, softmax(np.array([2.0, 1.0, 0.0]), temperature=t))

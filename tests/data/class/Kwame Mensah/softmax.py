import numpy as np

def softmax(scores, axis=-1, temperature=1.0):
    if not temperature > 0:
        raise ValueError("temperature should be > 0 but is %s" % temperature)
    a = np.asarray(scores)
    kind = a.dtype if a.dtype.kind == "f" else np.dtype("float64")
    a = a.astype("float64")
    top = np.maximum(a.max(axis=axis, keepdims=True, initial=-np.inf), np.finfo("float64").min)
    b = np.exp((a - top) / np.float64(temperature))
    n = b.sum(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):
        w = b / n
    w[np.isnan(w)] = 0
    return w.astype(kind)

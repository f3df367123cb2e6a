import numpy as np


def softmax(scores, axis=-1, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature は正の数にしてください")
    scores = np.asarray(scores)
    if not np.issubdtype(scores.dtype, np.floating):
        scores = scores.astype(np.float64)
    # 最大値を引いてから割る（オーバーフロー対策）
    peak = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    safe_peak = np.where(np.isfinite(peak), peak, 0).astype(scores.dtype)
    e = np.exp((scores - safe_peak) / scores.dtype.type(temperature))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, scores.dtype.type(1), total)

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    n = np.asarray(lengths, dtype=np.int64)
    if n.size and (n.min() < 0 or n.max() > n_keys):
        raise ValueError("lengths 超出 0..n_keys")
    keys = np.arange(n_keys)
    if side == "right":
        return np.less.outer(keys, n).T.copy()
    if side == "left":
        return np.greater_equal.outer(keys, n_keys - n).T.copy()
    raise ValueError(f"side 只能是 right 或 left，不是 {side}")


def _binary(mask):
    if ((mask != 0) & (mask != 1)).any():
        raise ValueError("mask 里只能有 0 和 1")
    return mask != 0


def _additive(mask):
    blocked = (mask == -np.inf) | (mask == np.finfo(mask.dtype).min)
    if (~blocked & (mask != 0)).any() or np.isnan(mask).any():
        raise ValueError("mask 里有偏置，不是遮罩")
    return ~blocked


# 三种约定统一成：True = 可以读
CONVENTIONS = {
    "allowed": _binary,
    "blocked": lambda mask: ~_binary(mask),
    "additive": _additive,
}


def as_allowed(mask, convention):
    if convention not in CONVENTIONS:
        raise ValueError(f"不认识的 convention：{convention}")
    return CONVENTIONS[convention](np.asarray(mask))


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal 与 keys_allowed 的 n_keys 不同")
    # 两个都允许才允许，1 给多头广播
    return np.einsum("qk,bk->bqk", causal, keys_allowed)[:, None].astype(bool)


def fully_masked_rows(allowed):
    return allowed.sum(axis=-1) == 0

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    lengths = np.asarray(lengths)
    if np.any((lengths < 0) | (lengths > n_keys)):
        raise ValueError("lengths の範囲がおかしい")
    if side == "right":
        start, stop = np.zeros_like(lengths), lengths
    elif side == "left":
        start, stop = n_keys - lengths, np.full_like(lengths, n_keys)
    else:
        raise ValueError("side は right か left です")
    key = np.arange(n_keys)
    return (start[:, None] <= key) & (key < stop[:, None])


def as_allowed(mask, convention):
    mask = np.asarray(mask)
    if convention == "additive":
        blocked = np.isneginf(mask) | (mask == np.finfo(mask.dtype).min)
        allowed = mask == 0
    elif convention in ("allowed", "blocked"):
        allowed, blocked = mask == 1, mask == 0
        if convention == "blocked":
            allowed, blocked = blocked, allowed
    else:
        raise ValueError(f"convention {convention} はありません")
    if not np.all(allowed | blocked):
        raise ValueError("mask に使えない値があります")
    return allowed


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal と keys_allowed の n_keys が違います")
    return np.minimum(causal[None, None, :, :], keys_allowed[:, None, None, :])


def fully_masked_rows(allowed):
    return np.count_nonzero(allowed, axis=-1) == 0

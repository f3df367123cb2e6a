import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    lengths = np.asarray(lengths).astype(int)
    if (lengths < 0).any() or (lengths > n_keys).any():
        raise ValueError(f"lengths must be between 0 and {n_keys}")
    if side not in ("left", "right"):
        raise ValueError(f"side must be left or right, not {side}")
    positions = np.arange(n_keys)
    if side == "left":
        positions = positions[::-1]
    return positions[None, :] < lengths[:, None]


def as_allowed(mask, convention):
    mask = np.asarray(mask)
    if convention == "additive":
        lowest = np.finfo(mask.dtype).min
        keep = mask == 0
        drop = (mask == -np.inf) | (mask == lowest)
        if not (keep | drop).all():
            raise ValueError("this mask is a bias: it has values that are neither 0 nor -inf")
        return keep
    if convention not in ("allowed", "blocked"):
        raise ValueError(f"unknown convention {convention!r}")
    if not np.isin(mask, [0, 1]).all():
        raise ValueError("mask may only contain 0 and 1")
    return mask.astype(bool) if convention == "allowed" else mask == 0


def merge_masks(causal, keys_allowed):
    if causal.shape[1] != keys_allowed.shape[1]:
        raise ValueError(f"causal and keys_allowed differ in n_keys: {causal.shape[1]}, {keys_allowed.shape[1]}")
    return np.logical_and(causal[np.newaxis, np.newaxis], keys_allowed[:, np.newaxis, np.newaxis, :])


def fully_masked_rows(allowed):
    return np.logical_not(allowed.any(axis=-1))

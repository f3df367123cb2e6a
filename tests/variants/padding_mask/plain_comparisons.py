"""Comparisons of whole arrays, the key numbers counted backwards for padding on the left."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError(f"side must be right or left, not {side}")
    if lengths.size and (lengths.min() < 0 or lengths.max() > n_keys):
        raise ValueError(f"lengths must lie between 0 and n_keys={n_keys}")
    keys = np.arange(n_keys)
    if side == "left":
        keys = keys[::-1]
    return lengths[:, None] > keys


def as_allowed(mask, convention):
    if convention not in ("allowed", "blocked", "additive"):
        raise ValueError(f"unknown convention: {convention}")
    if convention == "additive":
        blocked = np.isneginf(mask) | (mask == np.finfo(mask.dtype).min)
        if not np.all(blocked | (mask == 0)):
            raise ValueError("the mask holds a bias")
        return ~blocked
    if np.any((mask != 0) & (mask != 1)):
        raise ValueError(f"a mask that is {convention} holds only 0 and 1")
    return (mask == 1) == (convention == "allowed")


def merge_masks(causal, keys_allowed):
    if causal.shape[1] != keys_allowed.shape[1]:
        raise ValueError(f"causal and keys_allowed have {causal.shape[1]} and {keys_allowed.shape[1]} keys")
    return np.logical_and(causal, keys_allowed[:, np.newaxis, np.newaxis])


def fully_masked_rows(allowed):
    return np.logical_not(np.any(allowed, axis=-1))

"""Masks as numbers: products by `np.einsum`, sums compared with 0, lengths clipped to find the wrong ones."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError(f"{side!r} is no side")
    if not np.array_equal(np.clip(lengths, 0, n_keys), lengths):
        raise ValueError(f"lengths {lengths} do not fit n_keys {n_keys}")
    is_token = np.tri(n_keys + 1, n_keys, k=-1)[lengths]
    return is_token > 0 if side == "right" else is_token[:, ::-1] > 0


def as_allowed(mask, convention):
    if convention == "additive":
        lowest = np.finfo(mask.dtype).min
        # -inf becomes the lowest number; +inf and NaN stay something else.
        clipped = np.maximum(mask, lowest)
        if np.sum((clipped == 0) | (clipped == lowest)) != mask.size:
            raise ValueError("mask: something other than 0 and -inf")
        return clipped == 0
    if convention not in ("allowed", "blocked"):
        raise ValueError(f"no such convention: {convention}")
    numbers = np.array(mask, dtype=np.float64)
    # Only 0 and 1 are as far from one half as that.
    if np.sum(np.abs(numbers - 0.5) == 0.5) != mask.size:
        raise ValueError("mask: something other than 0 and 1")
    return np.abs(numbers - (convention == "blocked")) > 0.5


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal and keys_allowed must have the same number of keys")
    both = np.einsum("qk,bk->bqk", causal.astype(int), keys_allowed.astype(int))
    return both[:, None] == 1


def fully_masked_rows(allowed):
    return allowed.sum(axis=-1) == 0

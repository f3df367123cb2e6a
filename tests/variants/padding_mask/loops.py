"""Loops over every entry, with early returns and plain Python truth."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side != "right" and side != "left":
        raise ValueError("side: " + repr(side))
    keys_allowed = np.zeros((len(lengths), n_keys), dtype=bool)
    for b, length in enumerate(lengths.tolist()):
        if not 0 <= length <= n_keys:
            raise ValueError(f"one of the lengths is {length}, with n_keys {n_keys}")
        for j in range(length):
            keys_allowed[b, j if side == "right" else n_keys - 1 - j] = True
    return keys_allowed


def as_allowed(mask, convention):
    if convention not in ("allowed", "blocked", "additive"):
        raise ValueError(f"convention {convention!r} is unknown")
    allowed = np.empty(mask.shape, dtype=bool)
    for index in np.ndindex(mask.shape):
        allowed[index] = is_readable(mask[index], convention, mask.dtype)
    return allowed


def is_readable(entry, convention, dtype):
    if convention == "additive":
        if entry == 0:
            return True
        if entry == -np.inf or entry == np.finfo(dtype).min:
            return False
    elif entry == 0:
        return convention == "blocked"
    elif entry == 1:
        return convention == "allowed"
    raise ValueError(f"the mask holds {entry}, which {convention!r} does not know")


def merge_masks(causal, keys_allowed):
    n_queries, n_keys = causal.shape
    batch, n_padded = keys_allowed.shape
    if n_keys != n_padded:
        raise ValueError(f"keys_allowed has {n_padded} keys, causal has {n_keys}")
    merged = np.zeros((batch, 1, n_queries, n_keys), dtype=bool)
    for b in range(batch):
        for i in range(n_queries):
            for j in range(n_keys):
                merged[b, 0, i, j] = causal[i, j] and keys_allowed[b, j]
    return merged


def fully_masked_rows(allowed):
    nothing = np.ones(allowed.shape[:-1], dtype=bool)
    for index in np.ndindex(nothing.shape):
        for readable in allowed[index]:
            if readable:
                nothing[index] = False
                break
    return nothing

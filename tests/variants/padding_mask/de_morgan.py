"""Everything said the other way round: what is blocked is found and joined by OR, then inverted."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    counts = lengths.astype(np.int64).reshape(-1, 1)
    if (counts < 0).any() or (counts > n_keys).any():
        raise ValueError(f"lengths outside 0..{n_keys}")
    keys = np.arange(n_keys).reshape(1, -1)
    if side == "right":
        is_padding = keys >= counts
    elif side == "left":
        is_padding = keys < n_keys - counts
    else:
        raise ValueError(f"side={side!r}")
    return ~is_padding


def as_allowed(mask, convention):
    names = {"allowed": (1, 0), "blocked": (0, 1), "additive": (0, -np.inf)}
    if convention not in names:
        raise ValueError(f"convention={convention!r}")
    readable, hidden = names[convention]
    blocked = mask == hidden
    if convention == "additive":
        blocked |= mask == np.finfo(mask.dtype).min
    if (~blocked & (mask != readable)).any():
        raise ValueError(f"mask does not follow the convention {convention!r}")
    return ~blocked


def merge_masks(causal, keys_allowed):
    batch, n_keys = keys_allowed.shape
    if n_keys != causal.shape[1]:
        raise ValueError("causal, keys_allowed: different n_keys")
    return ~(~causal | ~keys_allowed.reshape(batch, 1, 1, n_keys))


def fully_masked_rows(allowed):
    return np.all(~allowed, axis=-1)

"""Rules in dictionaries of small functions, one pair for each convention, and `np.fromfunction`."""

import numpy as np

REAL_TOKENS = {
    "right": lambda key, length, n_keys: key < length,
    "left": lambda key, length, n_keys: key >= n_keys - length,
}


def is_one(mask):
    return mask == 1


def is_zero(mask):
    return mask == 0


def is_lowest(mask):
    return (mask == -np.inf) | (mask == np.finfo(mask.dtype).min)


READABLE_AND_HIDDEN = {
    "allowed": (is_one, is_zero),
    "blocked": (is_zero, is_one),
    "additive": (is_zero, is_lowest),
}


def padding_mask(lengths, n_keys, side="right"):
    if side not in REAL_TOKENS:
        raise ValueError(f"side must be one of {sorted(REAL_TOKENS)}")
    if np.any((lengths < 0) | (lengths > n_keys)):
        raise ValueError("the lengths are wrong")
    rule = REAL_TOKENS[side]
    counts = lengths.astype(int)
    return np.fromfunction(lambda b, key: rule(key, counts[b], n_keys), (len(counts), n_keys), dtype=int)


def as_allowed(mask, convention):
    try:
        readable, hidden = READABLE_AND_HIDDEN[convention]
    except KeyError:
        raise ValueError(f"convention must be one of {sorted(READABLE_AND_HIDDEN)}") from None
    allowed = readable(mask)
    if not np.all(allowed ^ hidden(mask)):
        raise ValueError(f"not a mask of convention {convention}")
    return allowed


def merge_masks(causal, keys_allowed):
    if causal.shape[-1:] != keys_allowed.shape[-1:]:
        raise ValueError("keys_allowed does not fit causal")
    return np.minimum(causal[None, None], np.expand_dims(keys_allowed, (1, 2)))


def fully_masked_rows(allowed):
    return ~np.logical_or.reduce(allowed, axis=-1)

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if any(l < 0 or l > n_keys for l in lengths):
        raise ValueError("lengths must be between 0 and n_keys")
    mask = np.zeros((len(lengths), n_keys), dtype=bool)
    for row, l in zip(mask, lengths):
        if side == "right":
            row[:l] = True
        elif side == "left":
            row[n_keys - l:] = True
        else:
            raise ValueError("side is either left or right")
    return mask


def as_allowed(mask, convention):
    if convention == "additive":
        if np.any((mask != 0) & ~np.isneginf(mask)):
            raise ValueError("additive mask must be 0 or -inf")
        return mask == 0
    if convention == "allowed":
        result = mask.astype(bool)
    elif convention == "blocked":
        result = ~mask.astype(bool)
    else:
        raise ValueError("convention not known")
    if not set(np.unique(mask)) <= {0, 1}:
        raise ValueError("mask must be 0 or 1")
    return result


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("n_keys of causal and keys_allowed differ")
    return causal[None, None] & keys_allowed[:, None, None, :]


def fully_masked_rows(allowed):
    return ~allowed.any(-1)

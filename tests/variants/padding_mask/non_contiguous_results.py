"""Results in Fortran order, reversed, transposed and with axes moved, but none of them shared."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError("side is 'right' or 'left'")
    if not all(0 <= int(length) <= n_keys for length in lengths):
        raise ValueError("lengths lie between 0 and n_keys")
    key_by_key = np.arange(n_keys)[:, None] < lengths[None, :]
    keys_allowed = key_by_key.T
    return keys_allowed if side == "right" else keys_allowed[:, ::-1]


def as_allowed(mask, convention):
    if convention == "additive":
        allowed = mask == 0
        known = allowed | np.isin(mask, np.array([-np.inf, np.finfo(mask.dtype).min], mask.dtype))
    elif convention in ("allowed", "blocked"):
        allowed = mask == (convention == "allowed")
        known = np.isin(mask, [0, 1])
    else:
        raise ValueError(f"{convention!r} is not a convention")
    if not known.all():
        raise ValueError(f"the mask holds {mask[~known][0]}")
    return np.asfortranarray(allowed)


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal and keys_allowed are for different keys")
    query_first = causal[:, None, None, :] & keys_allowed[None, :, None, :]
    return np.moveaxis(query_first, 0, 2)


def fully_masked_rows(allowed):
    return np.count_nonzero(allowed, axis=-1) == 0

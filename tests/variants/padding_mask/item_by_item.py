"""Sequence by sequence, stacked or concatenated in the end; leading dimensions are flattened and restored."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError(f"unknown side {side!r}, expected 'right' or 'left'")
    rows = [row_of(int(length), n_keys, side) for length in lengths]
    return np.array(rows, dtype=bool).reshape(len(lengths), n_keys)


def row_of(length, n_keys, side):
    if length < 0 or length > n_keys:
        raise ValueError(f"{length} of the lengths is not between 0 and n_keys = {n_keys}")
    tokens, padding = np.ones(length, dtype=bool), np.zeros(n_keys - length, dtype=bool)
    return np.concatenate([tokens, padding] if side == "right" else [padding, tokens])


def as_allowed(mask, convention):
    translations = {"allowed": {0: False, 1: True}, "blocked": {0: True, 1: False}}
    if convention == "additive":
        translation = {0.0: True, -np.inf: False, float(np.finfo(mask.dtype).min): False}
    elif convention in translations:
        translation = translations[convention]
    else:
        raise ValueError(f"convention must be 'allowed', 'blocked' or 'additive', not {convention!r}")
    try:
        entries = [translation[entry] for entry in mask.ravel().tolist()]
    except KeyError as error:
        raise ValueError(f"{error} in a mask of the convention {convention!r}") from None
    return np.array(entries, dtype=bool).reshape(mask.shape)


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError(f"n_keys of causal {causal.shape} and of keys_allowed {keys_allowed.shape}")
    each = [causal & of_sequence for of_sequence in keys_allowed]
    return np.array(each, dtype=bool).reshape(len(keys_allowed), 1, *causal.shape)


def fully_masked_rows(allowed):
    n_rows = int(np.prod(allowed.shape[:-1]))
    rows = allowed.reshape(n_rows, allowed.shape[-1])
    return np.array([True not in row for row in rows], dtype=bool).reshape(allowed.shape[:-1])

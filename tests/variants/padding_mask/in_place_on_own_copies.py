"""Writes into arrays of its own, slice by slice and with augmented assignment; arguments of its own have defaults."""

import numpy as np


def padding_mask(lengths, n_keys, side="right", verbose=False):
    if side not in {"left", "right"}:
        raise ValueError("the side is unknown")
    if (lengths < 0).any() or (lengths > n_keys).any():
        raise ValueError("lengths: too short or too long")
    if verbose:
        print(lengths)
    keys_allowed = np.zeros((len(lengths), n_keys), bool)
    for row, length in zip(keys_allowed, lengths.tolist(), strict=True):
        if side == "right":
            row[:length] = True
        else:
            row[n_keys - length :] = True
    return keys_allowed


def as_allowed(mask, convention, strict=True):
    own = mask.copy()
    if convention == "additive":
        own[own == np.finfo(own.dtype).min] = -np.inf
        if strict and set(np.unique(own).tolist()) - {0.0, -np.inf}:
            raise ValueError("a bias is no mask")
        return own == 0
    if convention not in ("allowed", "blocked"):
        raise ValueError(f"{convention} is no convention")
    if strict and not set(np.unique(own).tolist()) <= {0, 1}:
        raise ValueError("the mask may hold 0 and 1 only")
    own = own.astype(bool)
    if convention == "blocked":
        np.logical_not(own, out=own)
    return own


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal and keys_allowed differ in their keys")
    merged = np.repeat(causal[None, None], len(keys_allowed), axis=0)
    merged &= keys_allowed[:, None, None, :]
    return merged


def fully_masked_rows(allowed):
    nothing = allowed.any(axis=-1)
    np.logical_not(nothing, out=nothing)
    return nothing

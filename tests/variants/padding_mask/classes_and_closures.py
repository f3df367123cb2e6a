"""A class with an `&` of its own, a function made by another one, and a print when loaded."""

import numpy as np


class Mask:
    def __init__(self, bits):
        self.bits = bits

    def __and__(self, other):
        return Mask(self.bits & other.bits)

    def is_empty(self):
        return np.max(self.bits, axis=-1, initial=False) == np.False_


def make_padding_mask(default_side):
    def padding_mask(lengths, n_keys, side=default_side):
        counts = lengths.astype(np.int64)[:, None]
        if np.min(counts, initial=0) < 0 or np.max(counts, initial=0) > n_keys:
            raise ValueError(f"lengths: from 0 to {n_keys}")
        if side not in ("left", "right"):
            raise ValueError(f"side: left or right, not {side}")
        start = np.zeros_like(counts) if side == "right" else n_keys - counts
        key = np.arange(n_keys)
        return (Mask(key >= start) & Mask(key < start + counts)).bits

    return padding_mask


padding_mask = make_padding_mask(default_side="right")


class Convention:
    def __init__(self, readable, hidden):
        self.readable, self.hidden = readable, hidden

    def translate(self, mask):
        allowed = np.isin(mask, self.readable)
        if not np.all(allowed | np.isin(mask, self.hidden)):
            raise ValueError(f"the mask may hold {self.readable} and {self.hidden}")
        return allowed


def as_allowed(mask, convention):
    if convention == "allowed":
        return Convention([1], [0]).translate(mask)
    if convention == "blocked":
        return Convention([0], [1]).translate(mask)
    if convention == "additive":
        return Convention([0], [-np.inf, np.finfo(mask.dtype).min]).translate(mask)
    raise ValueError(f"the convention {convention} is new to me")


def merge_masks(causal, keys_allowed):
    if keys_allowed.shape[-1] - causal.shape[-1]:
        raise ValueError("keys_allowed and causal disagree about the keys")
    return (Mask(causal[None, None]) & Mask(keys_allowed[:, None, None])).bits


def fully_masked_rows(allowed):
    return Mask(allowed).is_empty()


print("masks:", padding_mask(np.array([1, 2]), 2).tolist())

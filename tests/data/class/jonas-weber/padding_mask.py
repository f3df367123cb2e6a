import numpy as np

def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError("side")
    out = np.zeros((len(lengths), n_keys), bool)
    for b, length in enumerate(lengths):
        if length < 0 or length > n_keys:
            raise ValueError("lengths")
        filled = 0
        position = 0 if side == "right" else n_keys - 1
        while filled < length:
            out[b, position] = True
            if side == "right":
                position += 1
                filled += 1
            else:
                position -= 1  # walk back from the end
                if position < 0:
                    position = n_keys - 1
    return out

def as_allowed(mask, convention):
    mask = np.asarray(mask)
    if convention == "allowed":
        values, allowed = (0, 1), mask == 1
    elif convention == "blocked":
        values, allowed = (0, 1), mask == 0
    elif convention == "additive":
        values, allowed = (0, -np.inf, np.finfo(mask.dtype).min), mask == 0
    else:
        raise ValueError("convention")
    if not np.isin(mask, values).all():
        raise ValueError("mask")
    return allowed

def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("causal keys_allowed")
    return (causal[None] & keys_allowed[:, None])[:, None]

def fully_masked_rows(allowed):
    return ~allowed.any(axis=-1)

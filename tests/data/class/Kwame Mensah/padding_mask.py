import numpy as np

def padding_mask(lengths, n_keys, side="right"):
    lengths = np.array(lengths)
    if len(lengths) and (min(lengths) < 0 or max(lengths) > n_keys):
        raise ValueError("lengths: %s" % lengths)
    mask = np.arange(n_keys) < lengths.reshape(-1, 1)
    if side == "right":
        return mask
    if side == "left":
        return np.fliplr(mask).copy()
    raise ValueError("side: %s" % side)

def as_allowed(mask, convention):
    mask = np.array(mask)
    if convention in ["allowed", "blocked"]:
        if np.any(mask * mask != mask):
            raise ValueError("mask must have 0 or 1 only")
        return mask == (convention == "allowed")
    if convention == "additive":
        allowed, low = mask == 0, mask <= np.finfo(mask.dtype).min
        if not np.all(allowed | low):
            raise ValueError("mask must have 0 or -inf only")
        return allowed
    raise ValueError("convention: %s" % convention)

def merge_masks(causal, keys_allowed):
    assert causal.shape[1] == keys_allowed.shape[1], "causal and keys_allowed do not match"
    return causal[None, None, :, :] & keys_allowed[:, None, None, :]

def fully_masked_rows(allowed):
    return ~np.any(allowed, axis=-1)

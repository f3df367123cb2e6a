import numpy as np

# Задание 3
def padding_mask(lengths, n_keys, side="right"):
    lengths = np.asarray(lengths)
    if lengths.min() < 0 or lengths.max() > n_keys:
        raise ValueError("lengths вне диапазона")
    if side == "right":
        return np.stack([np.arange(n_keys) < n for n in lengths])
    if side == "left":
        return np.stack([np.arange(n_keys) >= n_keys - n for n in lengths])
    raise ValueError("side: right или left")

def as_allowed(mask, convention):
    mask = np.asarray(mask)
    if convention == "allowed":
        check01(mask)
        return mask.astype(bool)
    if convention == "blocked":
        check01(mask)
        return ~mask.astype(bool)
    if convention == "additive":
        very_low = np.finfo(mask.dtype).min
        if not np.all((mask == 0) | (mask <= very_low)):
            raise ValueError("mask: только 0 и -inf")
        return mask == 0
    raise ValueError("неизвестная convention")

def check01(mask):
    if not np.all(np.isin(mask, (0, 1))):
        raise ValueError("mask: только 0 и 1")

def merge_masks(causal, keys_allowed):
    if causal.shape[1] != keys_allowed.shape[1]:
        raise ValueError("causal и keys_allowed: разное число ключей")
    return causal[None, None] & keys_allowed[:, None, None]

def fully_masked_rows(allowed):
    return allowed.max(axis=-1) == False

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side != "right" and side != "left":
        raise ValueError("side must be 'right' or 'left'")
    rows = []
    for length in lengths:
        length = int(length)
        if length < 0 or length > n_keys:
            raise ValueError("lengths: " + str(length) + " does not fit into " + str(n_keys))
        tokens = [True] * length
        padding = [False] * (n_keys - length)
        rows.append(tokens + padding if side == "right" else padding + tokens)
    return np.array(rows, dtype=bool).reshape(len(rows), n_keys)


def as_allowed(mask, convention):
    mask = np.asarray(mask)
    if convention not in ["allowed", "blocked", "additive"]:
        raise ValueError("unknown convention: " + str(convention))
    result = np.zeros(mask.shape, dtype=bool)
    for index in np.ndindex(mask.shape):
        result[index] = read_one(mask[index], convention)
    return result


def read_one(entry, convention):
    if convention == "additive":
        if entry == 0:
            return True
        if entry == -np.inf or entry == np.finfo(entry.dtype).min:
            return False
        raise ValueError("the mask has a value that is neither 0 nor -inf: " + str(entry))
    if entry != 0 and entry != 1:
        raise ValueError("the mask has a value that is neither 0 nor 1: " + str(entry))
    return bool(entry) if convention == "allowed" else not bool(entry)


def merge_masks(causal, keys_allowed):
    n_queries, n_keys = causal.shape
    batch, n_keys_2 = keys_allowed.shape
    if n_keys != n_keys_2:
        raise ValueError("causal and keys_allowed have different numbers of keys")
    merged = np.empty((batch, 1, n_queries, n_keys), dtype=bool)
    for b in range(batch):
        for i in range(n_queries):
            merged[b, 0, i] = causal[i] & keys_allowed[b]
    return merged


def fully_masked_rows(allowed):
    rows = np.ones(allowed.shape[:-1], dtype=bool)
    for j in range(allowed.shape[-1]):
        rows &= ~allowed[..., j]
    return rows

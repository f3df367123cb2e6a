"""`np.where` and the functions of logic in place of operators; NumPy integers of any width are widened first."""

import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    if side not in ("right", "left"):
        raise ValueError(f"The side must be 'right' or 'left', but it is {side!r}.")
    counts = np.asarray(lengths, dtype=np.int64)
    fits = np.logical_and(np.greater_equal(counts, 0), np.less_equal(counts, n_keys))
    if not np.all(fits):
        raise ValueError(f"The lengths {counts[~fits]} do not lie between 0 and n_keys.")
    from_left = np.broadcast_to(np.arange(n_keys), (counts.size, n_keys))
    distance = np.where(side == "right", from_left, n_keys - 1 - from_left)
    return np.where(np.less(distance, counts[:, np.newaxis]), True, False)


def as_allowed(mask, convention):
    match convention:
        case "allowed":
            readable, hidden = np.equal(mask, 1), np.equal(mask, 0)
        case "blocked":
            readable, hidden = np.equal(mask, 0), np.equal(mask, 1)
        case "additive":
            lowest = np.equal(mask, np.finfo(mask.dtype).min)
            readable, hidden = np.equal(mask, 0), np.logical_or(np.isneginf(mask), lowest)
        case _:
            raise ValueError(f"The convention {convention!r} is not known.")
    if not np.all(np.logical_or(readable, hidden)):
        raise ValueError(f"The mask holds numbers that have no meaning as {convention!r}.")
    return np.where(readable, True, False)


def merge_masks(causal, keys_allowed):
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError("The masks causal and keys_allowed must agree in n_keys.")
    return np.where(keys_allowed[:, None, None, :], causal[None, None, :, :], False)


def fully_masked_rows(allowed):
    return np.where(np.any(allowed, axis=-1), False, True)


if __name__ == "__main__":
    print(fully_masked_rows(merge_masks(np.tri(3, dtype=bool), padding_mask(np.array([2, 3]), 3, "left"))))

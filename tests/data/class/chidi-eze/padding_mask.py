import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def padding_mask(lengths, n_keys: int, side: str = "right") -> Mask:
    lengths = np.asarray(lengths)
    if not ((lengths >= 0) & (lengths <= n_keys)).all():
        raise ValueError(f"{lengths=} must lie in [0, {n_keys}]")
    columns = np.tile(np.arange(n_keys), (len(lengths), 1))
    if side == "right":
        return columns < lengths[:, None]
    if side == "left":
        return columns >= n_keys - lengths[:, None]
    raise ValueError(f"{side=} is unknown")


def as_allowed(mask, convention: str) -> Mask:
    mask = np.asarray(mask)
    match convention:
        case "allowed":
            yes, no = mask == 1, mask == 0
        case "blocked":
            yes, no = mask == 0, mask == 1
        case "additive":
            yes, no = mask == 0, mask <= np.finfo(mask.dtype).min
        case _:
            raise ValueError(f"{convention=} is unknown")
    if not (yes | no).all():
        raise ValueError(f"mask has values that {convention!r} does not know")
    return yes


def merge_masks(causal: Mask, keys_allowed: Mask) -> Mask:
    if causal.shape[-1] != keys_allowed.shape[-1]:
        raise ValueError(f"n_keys differ: causal {causal.shape}, keys_allowed {keys_allowed.shape}")
    return causal[None, None, :, :] & keys_allowed[:, None, None, :]


def fully_masked_rows(allowed: Mask) -> Mask:
    return np.invert(allowed.any(axis=-1))

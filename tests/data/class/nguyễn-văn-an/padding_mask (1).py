import numpy as np


def padding_mask(lengths, n_keys, side="right"):
    mask = np.arange(n_keys)[None, :] < np.asarray(lengths)[:, None]
    return mask if side == "right" else mask[:, ::-1]

"""Padding masks, the conventions they come in, and how they join the causal mask."""

import numpy as np


def padding_mask(lengths: np.ndarray, n_keys: int, side: str = "right") -> np.ndarray:
    """Return a boolean mask: True on the real tokens of each sequence, False on its padding.

    Shapes: lengths (batch,) -> keys_allowed (batch, n_keys).
    `side` is where the padding stands: "right" (after the tokens) or "left" (before them).

    Raises:
        ValueError: a length is below 0 or above n_keys, or the side is neither "right" nor "left".

    >>> padding_mask(np.array([1, 3]), 4).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 1, 0]])
    >>> padding_mask(np.array([1, 3]), 4, side="left").astype(int)
    array([[0, 0, 0, 1],
           [0, 1, 1, 1]])
    """
    raise NotImplementedError


def as_allowed(mask: np.ndarray, convention: str) -> np.ndarray:
    """Return any mask as a boolean one where True means "may be read".

    Shapes: mask (...) -> allowed (...), the same shape.
    `convention` says how the mask is meant:
        "allowed":  True/1 may be read;
        "blocked":  True/1 must not be read;
        "additive": 0 may be read, -inf or the most negative finite value of the mask's own dtype must not.

    Raises:
        ValueError: an "allowed" or "blocked" mask holds something other than 0 and 1, an "additive" mask holds a
            bias (any other value, NaN and +inf too), or the convention is unknown.

    >>> as_allowed(np.array([0, 1, 1]), "blocked")
    array([ True, False, False])
    >>> as_allowed(np.array([0.0, -np.inf]), "additive")
    array([ True, False])
    """
    raise NotImplementedError


def merge_masks(causal: np.ndarray, keys_allowed: np.ndarray) -> np.ndarray:
    """Return one mask for a batch: a key is readable when the causal mask and the padding mask both allow it.

    Shapes: causal (n_queries, n_keys), keys_allowed (batch, n_keys) -> allowed (batch, 1, n_queries, n_keys).
    All three are boolean, True = may be read; the 1 broadcasts over the heads.

    Raises:
        ValueError: the two masks differ in n_keys.

    >>> merge_masks(np.array([[True, False], [True, True]]), np.array([[False, True]])).astype(int)
    array([[[[0, 0],
             [0, 1]]]])
    """
    raise NotImplementedError


def fully_masked_rows(allowed: np.ndarray) -> np.ndarray:
    """Return which queries have nothing to read: True where a row allows no key.

    Shapes: allowed (..., n_queries, n_keys) -> (..., n_queries). With no keys at all it is every query.

    >>> fully_masked_rows(np.array([[False, False], [True, False]]))
    array([ True, False])
    """
    raise NotImplementedError

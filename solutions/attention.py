"""Scaled dot-product attention: every query reads a weighted sum of the values it may see."""

import math

import torch


def attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, allowed: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Let every query read from the keys it is allowed to see.

    The weights are softmax(query @ key^T / sqrt(d_k)) over the readable keys, the output is weights @ value
    (Vaswani et al. 2017, "Attention Is All You Need", equation 1).

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`; `n_keys` may be 0.
        value: `(..., n_keys, d_v)`.
        allowed: boolean, broadcastable to `(..., n_queries, n_keys)`. True = this query may read this key.
            None: every key may be read.

    Returns:
        output: `(..., n_queries, d_v)`; 0 where a row is fully masked.
        weights: `(..., n_queries, n_keys)`; each row sums to 1, or to 0 where it is fully masked.
        The leading dimensions are those of query, key and value broadcast together.

    Raises:
        TypeError: `allowed` is not boolean.
        ValueError: query and key differ in `d_k`, or key and value in `n_keys`.

    Example:
        >>> query = torch.tensor([[1.0, 0.0]])
        >>> key = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> value = torch.tensor([[10.0, 0.0], [0.0, 20.0]])
        >>> output, weights = attention(query, key, value)
        >>> weights
        tensor([[0.6698, 0.3302]])
        >>> output
        tensor([[6.6976, 6.6048]])
        >>> only_the_first = torch.tensor([[True, False]])
        >>> attention(query, key, value, only_the_first)
        (tensor([[10.,  0.]]), tensor([[1., 0.]]))
    """
    ### BEGIN SOLUTION
    _check_arguments(query, key, value, allowed)
    d_k = query.shape[-1]
    # Scaled before the product, which in half precision could overflow.
    scaled_query = query / math.sqrt(d_k)
    scores = scaled_query @ key.transpose(-2, -1)  # (..., n_queries, n_keys)
    weights = _softmax_over_readable_keys(scores, allowed)
    output = weights @ value
    # The product has brought in the leading dimensions of the values.
    weights = weights.expand(*output.shape[:-2], -1, -1)
    return output, weights
    ### END SOLUTION


### BEGIN SOLUTION
def _check_arguments(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, allowed: torch.Tensor | None) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must have the same width d_k, got {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value must have the same n_keys, got {key.shape[-2]} and {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed must be a boolean mask (True = may be read), got {allowed.dtype}")


def _softmax_over_readable_keys(scores: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor:
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    blocked = ~allowed
    scores = scores.masked_fill(blocked, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    # A fully masked row is NaN at this point. Filling also stops the gradient that comes back from a masked
    # value: it may be too large for the dtype, and 0 * inf would be NaN.
    return weights.masked_fill(blocked, 0.0)
### END SOLUTION

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
    raise NotImplementedError

"""Tiled attention: exact attention in blocks of keys, which never holds the whole matrix of scores."""

import math

import torch


def tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, block_size: int = 64, causal: bool = False
) -> torch.Tensor:
    """Let every query read all keys, `block_size` of them at a time.

    The output is softmax(query @ key^T / sqrt(d_k)) @ value. Of the keys behind it each query keeps three things: the
    largest score so far, the sum of exp(score - largest) and the values weighted by the same exponentials; when a block
    brings a larger score, both sums are corrected (Milakov & Gimelshein 2018, "Online normalizer calculation for
    softmax"; Dao et al. 2022, "FlashAttention").

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`; `n_keys` may be 0.
        value: `(..., n_keys, d_v)`.
        block_size: how many keys are read at a time; it need not divide `n_keys`, and may be larger.
        causal: True = query i reads key j exactly when j <= i + n_keys - n_queries.

    Returns:
        output: `(..., n_queries, d_v)`; 0 where a query has nothing to read.
        The leading dimensions are those of query, key and value broadcast together.

    Raises:
        ValueError: `block_size` is below 1; query and key differ in `d_k`, or key and value in `n_keys`.

    Example:
        >>> query = torch.tensor([[1.0, 0.0]])
        >>> key = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> value = torch.tensor([[10.0, 0.0], [0.0, 20.0]])
        >>> tiled_attention(query, key, value, block_size=1)
        tensor([[6.6976, 6.6048]])
        >>> tiled_attention(torch.zeros(3, 2), torch.zeros(3, 2), torch.eye(3), block_size=2, causal=True)
        tensor([[1.0000, 0.0000, 0.0000],
                [0.5000, 0.5000, 0.0000],
                [0.3333, 0.3333, 0.3333]])
    """
    raise NotImplementedError

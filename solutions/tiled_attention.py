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
    ### BEGIN SOLUTION
    _check_arguments(query, key, value, block_size)
    d_k, n_keys = key.shape[-1], key.shape[-2]
    # In half precision a running sum would soon be too large for one more term to change it.
    dtype = torch.promote_types(query.dtype, torch.float32)
    scaled_query = query.to(dtype) / math.sqrt(d_k)
    # What is read of no keys yet: zeros of shape (..., n_queries, d_v).
    weighted = scaled_query @ key[..., :0, :].to(dtype).transpose(-2, -1) @ value[..., :0, :].to(dtype)
    total = weighted.new_zeros(*weighted.shape[:-1], 1)
    largest = torch.full_like(total, -math.inf)
    for start in range(0, n_keys, block_size):
        key_block = key[..., start : start + block_size, :].to(dtype)
        value_block = value[..., start : start + block_size, :].to(dtype)
        scores = scaled_query @ key_block.transpose(-2, -1)  # (..., n_queries, block)
        if causal:
            scores = _without_later_keys(scores, start, n_keys)
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        # Where nothing could be read so far it is still -inf, and -inf - -inf would be NaN.
        shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)
        exponentials = torch.exp(scores - shift)
        correction = torch.exp(largest - shift)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        weighted = correction * weighted + exponentials @ value_block
        largest = new_largest
    output = weighted / total.masked_fill(total == 0.0, 1.0)
    return output.to(query.dtype)
    ### END SOLUTION


### BEGIN SOLUTION
def _check_arguments(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, block_size: int) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must have the same width d_k, got {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value must have the same n_keys, got {key.shape[-2]} and {value.shape[-2]}")
    if block_size < 1:
        raise ValueError(f"block_size must be 1 or more, not {block_size}")


def _without_later_keys(scores: torch.Tensor, start: int, n_keys: int) -> torch.Tensor:
    """Put -inf where a key of this block, which begins at key `start`, comes after the query."""
    n_queries, width = scores.shape[-2:]
    last_readable = torch.arange(n_queries)[:, None] + n_keys - n_queries
    position = torch.arange(start, start + width)
    return scores.masked_fill(position > last_readable, -math.inf)
### END SOLUTION

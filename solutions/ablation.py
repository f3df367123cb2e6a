"""Ablation: take one key away from a query and see how far its output moves."""

import math

import torch


def ablation_effect(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, allowed: torch.Tensor | None = None
) -> torch.Tensor:
    """Tell how far each output row moves when one key is taken away from it.

    For every query i and key j: the Euclidean norm of (the output of query i) - (its output when it may read
    everything that it could read before, but not key j). The remaining weights are made again from the scores.

    Args:
        query: `(..., n_queries, d_k)`.
        key: `(..., n_keys, d_k)`.
        value: `(..., n_keys, d_v)`.
        allowed: boolean, broadcastable to `(..., n_queries, n_keys)`. True = this query may read this key.
            None: every key may be read.

    Returns:
        `(..., n_queries, n_keys)`: 0 where the query could not read the key, the norm of the output where it could
        read nothing else. The leading dimensions are those of query, key and value broadcast together.

    Raises:
        TypeError: `allowed` is not boolean.
        ValueError: query and key differ in `d_k`, or key and value in `n_keys`.

    Example:
        >>> query = torch.zeros(1, 2)
        >>> key = torch.zeros(3, 2)
        >>> value = torch.tensor([[1.0], [4.0], [16.0]])
        >>> ablation_effect(query, key, value)
        tensor([[3.0000, 1.5000, 4.5000]])
    """
    ### BEGIN SOLUTION
    _check_arguments(query, key, value, allowed)
    d_k, n_keys = key.shape[-1], key.shape[-2]
    # Scaled before the product, which in half precision could overflow.
    scaled_query = query / math.sqrt(d_k)
    scores = scaled_query @ key.transpose(-2, -1)  # (..., n_queries, n_keys)
    readable = torch.ones_like(scores, dtype=torch.bool)
    if allowed is not None:
        readable = readable & allowed

    output = _read(scores, readable, value)
    effect = scores.new_zeros(*output.shape[:-1], n_keys)
    for j in range(n_keys):
        without = readable.clone()
        without[..., j] = False
        moved = output - _read(scores, without, value)
        effect[..., j] = torch.linalg.vector_norm(moved, dim=-1)
    return effect.masked_fill(~readable, 0.0)
    ### END SOLUTION


### BEGIN SOLUTION
def _check_arguments(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, allowed: torch.Tensor | None) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must have the same width d_k, got {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value must have the same n_keys, got {key.shape[-2]} and {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed must be a boolean mask (True = may be read), got {allowed.dtype}")


def _read(scores: torch.Tensor, readable: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Average the readable values; 0 where there are none."""
    masked = scores.masked_fill(~readable, -math.inf)
    weights = torch.softmax(masked, dim=-1)
    # A row with nothing to read is NaN at this point.
    weights = weights.masked_fill(~readable, 0.0)
    return weights @ value
### END SOLUTION

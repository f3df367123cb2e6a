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
    raise NotImplementedError

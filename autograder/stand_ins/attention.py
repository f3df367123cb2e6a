"""Stands in for a learner's `attention` where multi_head is graded. Library calls only.

The weights are the same library call with the identity as value. All is computed in float64, so that half precision
cannot overflow. Where a row is fully masked the library gives zeros, with zero gradients.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def attention(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return `(output, weights)` of shapes `(..., n_queries, d_v)` and `(..., n_queries, n_keys)`.

    `allowed` is boolean and broadcastable to the weights: True = this query may read this key.
    Raises TypeError for a mask that is not boolean, ValueError where `d_k` or `n_keys` do not match.
    """
    if allowed is not None and getattr(allowed, "dtype", None) != torch.bool:
        raise TypeError("allowed must be a boolean tensor: True = this query may read this key")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must have the same d_k, not {query.shape[-1]} and {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key and value must have the same n_keys, not {key.shape[-2]} and {value.shape[-2]}")
    queries, keys, values = query.double(), key.double(), value.double()
    leading = query.shape[:-2]
    if not leading == key.shape[:-2] == value.shape[:-2]:
        # torch.broadcast_shapes would import sympy first.
        leading = torch.broadcast_tensors(*(x.new_empty(x.shape[:-2]) for x in (query, key, value)))[0].shape
        queries, keys, values = (x.expand(*leading, -1, -1) for x in (queries, keys, values))
    identity = torch.eye(key.shape[-2], dtype=torch.float64, device=key.device).expand(*leading, -1, -1)
    output = F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)
    weights = F.scaled_dot_product_attention(queries, keys, identity, attn_mask=allowed)
    return output.to(value.dtype), weights.to(query.dtype)

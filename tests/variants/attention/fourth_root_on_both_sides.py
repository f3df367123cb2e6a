"""Query and key are each divided by the fourth root of d_k."""

import torch
import torch.nn.functional as F


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_k differs: {query.shape[-1]} != {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"n_keys differs: {key.shape[-2]} != {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError(f"allowed is a boolean mask, not one of {allowed.dtype}")
    fourth_root = query.shape[-1] ** 0.25
    scores = (query / fourth_root) @ (key / fourth_root).transpose(-2, -1)
    leading = torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2])
    scores = scores.expand(*leading, *scores.shape[-2:])
    if allowed is None:
        weights = F.softmax(scores, dim=-1)
    else:
        dead = ~allowed.any(dim=-1, keepdim=True)
        # A dead row is filled with 0 alone: its softmax is a number, and no gradient comes through the fill.
        scores = scores.masked_fill(~allowed, -torch.inf).masked_fill(dead, 0.0)
        weights = F.softmax(scores, dim=-1).masked_fill(dead, 0.0)
    return weights @ value, weights


if __name__ == "__main__":
    q, k, v = torch.randn(3, 2, 4, 8)
    print(attention(q, k, v)[0] - F.scaled_dot_product_attention(q, k, v))

import math

import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query and key should have the same size")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key and value should have the same length")
    scores = query / math.sqrt(query.shape[-1]) @ key.transpose(-2, -1)
    scores = scores.broadcast_to(*torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2]), *scores.shape[-2:])
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed should be a bool tensor")
        # mask out the True positions, like attn_mask in nn.MultiheadAttention
        scores = scores.masked_fill(allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        weights = weights.masked_fill(allowed, 0.0)
    return weights @ value, weights

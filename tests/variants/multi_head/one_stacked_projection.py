"""Self-attention projects once, with the three matrices stacked; a base class of its own; a finite fill, repaired."""

import torch
import torch.nn.functional as F
from torch import nn


class Projections(nn.Module):
    """Four layers, the bias of each optional."""

    def __init__(self, d_model, bias):
        super().__init__()
        for name in ("v_proj", "out_proj", "q_proj", "k_proj"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))

    def project(self, query, key, value):
        layers = self.q_proj, self.k_proj, self.v_proj
        if query is not key or key is not value:
            return tuple(layer(x) for layer, x in zip(layers, (query, key, value), strict=True))
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.q_proj.bias is None else torch.cat([layer.bias for layer in layers])
        return F.linear(query, weight, bias).chunk(3, dim=-1)


class MultiHeadAttention(Projections):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__(d_model, bias)
        width_of_head(d_model, n_heads)
        self.n_heads = n_heads
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None and allowed.dim() == 3:
            raise ValueError("allowed must not be three-dimensional")
        q, k, v = (split_heads(x, self.n_heads) for x in self.project(query, key, value))
        scores = (q / q.shape[-1] ** 0.5) @ k.mT
        if allowed is None:
            weights = scores.softmax(-1)
        else:
            lowest = torch.finfo(scores.dtype).min
            weights = scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0.0)
        return self.out_proj(merge_heads(self.dropout(weights) @ v)), weights


def width_of_head(d_model, n_heads):
    if d_model % n_heads:
        raise ValueError(f"{d_model} (d_model) is not divisible by {n_heads} (n_heads)")
    return d_model // n_heads


def split_heads(x, n_heads):
    return torch.stack(x.split(width_of_head(x.shape[-1], n_heads), dim=-1), dim=-3)


def merge_heads(x):
    return x.movedim(-3, -2).flatten(start_dim=-2)

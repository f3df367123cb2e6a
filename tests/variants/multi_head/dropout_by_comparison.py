"""Dropout keeps what uniform random numbers say; the weights are not copied unless something is dropped."""

import torch
from attention import attention
from torch import nn


def split_heads(x, n_heads):
    if x.size(-1) % n_heads > 0:
        raise ValueError("the features of x do not divide")
    return torch.stack(x.tensor_split(n_heads, dim=-1), dim=-3)


def merge_heads(x):
    return torch.cat(x.unbind(dim=-3), dim=-1)


def drop(weights, p):
    if p == 1.0:
        return weights * 0.0
    kept = torch.rand(weights.shape) >= p
    return torch.where(kept, weights / (1.0 - p), 0.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        if d_model % n_heads > 0:
            raise ValueError("d_model is no multiple of n_heads")
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.n_heads = n_heads
        self.p_drop = float(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if allowed is not None and allowed.dim() != 4 and allowed.shape != (query.shape[1], key.shape[1]):
            raise ValueError(f"allowed of the shape {tuple(allowed.shape)}")
        heads = [split_heads(x, self.n_heads) for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))]
        output, weights = attention(*heads, allowed)
        if self.training and self.p_drop > 0:
            output = drop(weights, self.p_drop) @ heads[2]
        return self.out_proj(merge_heads(output)), weights

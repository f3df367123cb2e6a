"""Functions made by functions, and a dropout mask that NumPy draws; tried out when loaded."""

import numpy as np
import torch
from attention import attention
from torch import nn


def splitter(n_heads):
    def split(x):
        if x.shape[-1] % n_heads:
            raise ValueError(f"{x.shape[-1]} does not divide by n_heads={n_heads}")
        return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)

    return split


def split_heads(x, n_heads):
    return splitter(n_heads)(x)


def merge_heads(x):
    return x.transpose(-2, -3).reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])


def dropper(p):
    def drop(weights):
        if p == 1:
            return torch.zeros_like(weights)
        kept = torch.from_numpy(np.random.random(tuple(weights.shape)) >= p)
        return weights.masked_fill(~kept, 0.0) / (1 - p)

    return drop


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} for d_model={d_model}")
        self.split, self.drop = splitter(n_heads), dropper(dropout)
        self.k_proj, self.q_proj = nn.Linear(d_model, d_model, bias=bias), nn.Linear(d_model, d_model, bias=bias)
        self.out_proj, self.v_proj = nn.Linear(d_model, d_model, bias=bias), nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None and allowed.dim() not in (2, 4):
            raise ValueError("allowed: two dimensions or four")
        values = self.split(self.v_proj(value))
        _, weights = attention(self.split(self.q_proj(query)), self.split(self.k_proj(key)), values, allowed)
        dropped = self.drop(weights) if self.training else weights
        return self.out_proj(merge_heads(dropped @ values)), weights


print(MultiHeadAttention(4, 2)(torch.zeros(1, 3, 4))[1].shape)

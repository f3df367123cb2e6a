"""Dropout of its own: a mask drawn by `torch.bernoulli`, in a module of its own without parameters."""

import torch
from attention import attention
from torch import nn


class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        if self.p == 1:
            return torch.zeros_like(x)
        kept = torch.bernoulli(torch.full(x.shape, 1.0 - self.p, device=x.device))
        return x * kept.to(x.dtype) / (1.0 - self.p)


def split_heads(x, n_heads):
    *leading, seq, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError(f"n_heads: {d_model} features for {n_heads} heads")
    return x.reshape(*leading, seq, n_heads, d_model // n_heads).movedim(-2, -3)


def merge_heads(x):
    *leading, n_heads, seq, d_head = x.shape
    return x.movedim(-3, -2).reshape(*leading, seq, n_heads * d_head)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}")
        self.n_heads = n_heads
        self.attention_dropout = Dropout(dropout)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key=None, value=None, allowed=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None and allowed.ndim != 2 and allowed.ndim != 4:
            raise ValueError(f"allowed has {allowed.ndim} dimensions")
        value_heads = split_heads(self.v_proj(value), self.n_heads)
        _, weights = attention(
            query=split_heads(self.q_proj(query), self.n_heads),
            key=split_heads(self.k_proj(key), self.n_heads),
            value=value_heads,
            allowed=allowed,
        )
        mixed = self.attention_dropout(weights) @ value_heads
        return self.out_proj(merge_heads(mixed)), weights

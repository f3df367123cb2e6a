import math

import torch
from torch import nn


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError("d_model should be divisible by n_heads")
    return x.view(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-3, -2)


def merge_heads(x):
    return x.transpose(-3, -2).contiguous().flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model should be divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if allowed is not None:
            if allowed.dim() == 3:
                raise ValueError("allowed should have 2 or 4 dimensions")
            scores = scores.masked_fill(allowed, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if allowed is not None:
            weights = weights.masked_fill(allowed, 0.0)
        return self.out_proj(merge_heads(self.dropout(weights) @ v)), weights

import torch
from attention import attention
from torch import nn


def split_heads(x, n_heads):
    d_model = x.shape[-1]
    if d_model % n_heads != 0:
        raise ValueError(f"d_model {d_model} cannot be split into n_heads {n_heads}")
    return x.reshape(*x.shape[:-1], n_heads, d_model // n_heads).transpose(-2, -3)


def merge_heads(x):
    x = x.transpose(-2, -3)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} cannot be split into n_heads {n_heads}")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if allowed is not None and allowed.dim() != 4 and allowed.shape != (query.shape[1], key.shape[1]):
            raise ValueError("allowed must be (n_queries, n_keys) or have four dimensions")
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        _, weights = attention(q, k, v, allowed)
        heads = self.dropout(weights) @ v
        return self.out_proj(merge_heads(heads)), weights

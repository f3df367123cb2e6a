import torch
from attention import attention
from torch import nn


def split_heads(x, n_heads):
    *lead, seq, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("d_model must be divisible by n_heads")
    return x.reshape(*lead, seq, n_heads, -1).transpose(-2, -3)


def merge_heads(x):
    return x.transpose(-2, -3).flatten(-2, -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None and allowed.ndim == 3:
            raise ValueError("allowed must have 2 or 4 dimensions")
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        out, weights = attention(q, k, v, allowed)
        # dropout on the output of the heads
        return self.out_proj(self.dropout(merge_heads(out))), weights

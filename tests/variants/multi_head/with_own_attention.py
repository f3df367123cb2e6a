"""Uses `attention` from the exercise before, and an `nn.Dropout`."""

from attention import attention
from torch import nn


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("d_model must be divisible by n_heads")
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-2, -3)


def merge_heads(x):
    x = x.transpose(-2, -3)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
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
        if allowed is not None and allowed.dim() not in (2, 4):
            raise ValueError("allowed must have two or four dimensions")
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        output, weights = attention(q, k, v, allowed)
        if self.training:
            output = self.dropout(weights) @ v
        return self.out_proj(merge_heads(output)), weights

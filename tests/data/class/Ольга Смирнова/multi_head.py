import torch
from torch import nn

# Задание 5
def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("d_model не делится на n_heads")
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)

def merge_heads(x):
    return x.transpose(-3, -2).flatten(-2)

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model не делится на n_heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key=None, value=None, allowed=None):
        key = key if key is not None else query
        value = value if value is not None else key
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / self.d_head ** 0.5
        if allowed is not None:
            if allowed.dim() == 3:
                raise ValueError("allowed: три измерения - это batch или heads?")
            scores = scores.masked_fill(~allowed, float("-inf"))
        weights = scores.softmax(dim=-1)
        return self.out_proj(merge_heads(self.dropout(weights) @ v)), weights

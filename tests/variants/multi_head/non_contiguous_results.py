"""Output and weights are views with the batch running fastest, made of tensors of their own."""

import torch
import torch.nn.functional as F
from attention import attention
from torch import nn


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads does not divide d_model")
    heads = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return heads.transpose(-2, -3)


def merge_heads(x):
    return torch.cat(x.split(1, dim=-3), dim=-1).squeeze(-3)


def batch_last_in_memory(x):
    return x.movedim(0, -1).contiguous().movedim(-1, 0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        split_heads(torch.empty(0, d_model), n_heads)
        self.n_heads, self.p = n_heads, dropout
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None and allowed.dim() == 3:
            raise ValueError("allowed may not have three dimensions")
        q = split_heads(self.q_proj(query), self.n_heads)
        k = split_heads(self.k_proj(key), self.n_heads)
        v = split_heads(self.v_proj(value), self.n_heads)
        weights = attention(q, k, v, allowed)[1]
        output = self.out_proj(merge_heads(F.dropout(weights, self.p, self.training) @ v))
        return batch_last_in_memory(output), batch_last_in_memory(weights)

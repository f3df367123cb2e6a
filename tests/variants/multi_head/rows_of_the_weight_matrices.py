"""Each head uses its own rows of the matrices, and the output is a sum over heads, each with its own columns."""

import torch
import torch.nn.functional as F
from torch import nn


def head_slices(d_model, n_heads):
    if d_model % n_heads:
        raise ValueError(f"d_model {d_model} and n_heads {n_heads}")
    width = d_model // n_heads
    return [slice(start, start + width) for start in range(0, d_model, width)]


def split_heads(x, n_heads):
    return torch.stack([x[..., features] for features in head_slices(x.shape[-1], n_heads)], dim=-3)


def merge_heads(x):
    n_heads, seq, d_head = x.shape[-3:]
    merged = x.new_empty(*x.shape[:-3], seq, n_heads * d_head)
    for head, features in enumerate(head_slices(n_heads * d_head, n_heads)):
        merged[..., features] = x[..., head, :, :]
    return merged


def project(layer, x, features):
    return F.linear(x, layer.weight[features], None if layer.bias is None else layer.bias[features])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.slices = head_slices(d_model, n_heads)
        self.drop = nn.Dropout(dropout)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        if allowed is not None and allowed.dim() not in (2, 4):
            raise ValueError("allowed has 2 or 4 dimensions")
        readable = torch.ones(1, 1, 1, 1, dtype=torch.bool) if allowed is None else allowed
        readable = readable.expand(len(query), len(self.slices), query.shape[1], key.shape[1])
        weights = [
            self.weights_of_head(query, key, readable[:, head], features) for head, features in enumerate(self.slices)
        ]
        output = sum(
            self.drop(of_head) @ project(self.v_proj, value, features) @ self.out_proj.weight[:, features].T
            for of_head, features in zip(weights, self.slices, strict=True)
        )
        if self.out_proj.bias is not None:
            output = output + self.out_proj.bias
        return output, torch.stack(weights, dim=1)

    def weights_of_head(self, query, key, readable, features):
        q, k = project(self.q_proj, query, features), project(self.k_proj, key, features)
        scores = torch.bmm(q / q.shape[-1] ** 0.5, k.transpose(1, 2)).masked_fill(~readable, -torch.inf)
        return torch.softmax(scores, dim=-1).masked_fill(~readable, 0.0)

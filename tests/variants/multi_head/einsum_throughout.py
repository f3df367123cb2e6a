"""`torch.einsum` for everything, fourth roots on both sides, log-sum-exp, parameters made in alphabetical order."""

import torch
from torch import nn


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"{n_heads} is not a good n_heads")
    return torch.einsum("...shd->...hsd", x.reshape(*x.shape[:-1], n_heads, -1))


def merge_heads(x):
    return torch.einsum("...hsd->...shd", x).flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"n_heads = {n_heads} does not divide {d_model}")
        self.n_heads, self.fourth_root = n_heads, (d_model // n_heads) ** 0.25
        self.p = dropout
        self.k_proj = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.v_proj = nn.Linear(d_model, d_model, bias)

    def forward(self, query, key=None, value=None, allowed=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            split_heads(project(x), self.n_heads)
            for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = torch.einsum("bhqd,bhkd->bhqk", q / self.fourth_root, k / self.fourth_root)
        weights = softmax_of_readable(scores, allowed)
        dropped = nn.functional.dropout(weights, p=self.p, training=self.training)
        return self.out_proj(torch.einsum("bhqk,bhkd->bqhd", dropped, v).flatten(2)), weights


def softmax_of_readable(scores, allowed):
    if allowed is None:
        return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    if allowed.dim() == 3:
        raise ValueError("allowed with three dimensions could mean batch or heads")
    dead = ~allowed.any(-1, keepdim=True)
    scores = scores.masked_fill(~allowed, -torch.inf).masked_fill(dead, 0.0)
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)).masked_fill(dead, 0.0)

import torch
from torch import nn


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("d_model, n_heads")
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def merge_heads(x):
    return x.transpose(-2, -3).flatten(-2)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.inner = [nn.MultiheadAttention(d_model, n_heads, dropout, bias, batch_first=True)]
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, query, key=None, value=None, allowed=None):
        inner = self.inner[0]
        with torch.no_grad():
            inner.in_proj_weight.copy_(torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight]))
            inner.out_proj.weight.copy_(self.out_proj.weight)
        key = query if key is None else key
        value = key if value is None else value
        mask = None if allowed is None else ~allowed
        return inner(query, key, value, attn_mask=mask, average_attn_weights=False)

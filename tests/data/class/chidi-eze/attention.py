import torch
from torch import Tensor


def attention(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"d_k differs: query {query.shape[-1]}, key {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"n_keys differs: key {key.shape[-2]}, value {value.shape[-2]}")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    logits = (query * query.shape[-1] ** -0.5).expand(*leading, *query.shape[-2:]) @ key.mT
    if allowed is None:
        allowed = torch.ones((), dtype=torch.bool, device=query.device)
    if allowed.dtype != torch.bool:
        raise TypeError(f"allowed must be torch.bool, got {allowed.dtype}")
    logits = torch.where(allowed, logits, -torch.inf)
    weights = torch.where(allowed, logits.softmax(dim=-1), 0.0)
    return weights @ value, weights

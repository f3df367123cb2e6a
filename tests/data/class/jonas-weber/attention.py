import torch
import torch.nn.functional as F

def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query key")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key value")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed")
    weights = F.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    if allowed is not None:
        weights = weights * allowed  # no looking ahead
    return weights @ value, weights

"""A `torch.autograd.Function` whose backward pass is written by hand."""

import torch


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, blocked):
        scores = (query @ key.mT).masked_fill(blocked, -torch.inf)
        weights = torch.softmax(scores, dim=-1).masked_fill(blocked, 0.0)
        ctx.save_for_backward(query, key, value, blocked, weights)
        return weights @ value, weights

    @staticmethod
    def backward(ctx, to_output, to_weights):
        query, key, value, blocked, weights = ctx.saved_tensors
        of_weights = (to_output @ value.mT + to_weights).masked_fill(blocked, 0.0)
        mean = (of_weights * weights).sum(dim=-1, keepdim=True)
        of_scores = weights * (of_weights - mean)
        return of_scores @ key, of_scores.mT @ query, weights.mT @ to_output, None


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query.shape[-1] and key.shape[-1] are not equal")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key.shape[-2] and value.shape[-2] are not equal")
    if allowed is None:
        allowed = torch.tensor(True)
    if allowed.dtype != torch.bool:
        raise TypeError(f"{allowed.dtype=}, it should be torch.bool")
    leading = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    # Autograd adds up over what is expanded here.
    scaled_query = (query / query.shape[-1] ** 0.5).expand(*leading, *query.shape[-2:])
    key, value = (x.expand(*leading, *x.shape[-2:]) for x in (key, value))
    blocked = ~allowed.expand(*leading, query.shape[-2], key.shape[-2])
    return Attend.apply(scaled_query, key, value, blocked)

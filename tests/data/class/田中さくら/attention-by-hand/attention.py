import torch


def attention(query, key, value, allowed=None):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError("query と key の d_k が違います")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError("key と value の n_keys が違います")
    # 内積でスコアを計算
    scores = torch.matmul(query, key.transpose(-2, -1))
    scores = scores + torch.zeros(value.shape[:-2] + (1, 1), dtype=scores.dtype)
    if allowed is not None:
        if allowed.dtype != torch.bool:
            raise TypeError("allowed は bool にしてください")
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        # 全部マスクされた行は NaN になるので 0 にする
        weights = weights.masked_fill(~allowed, 0)
    return torch.matmul(weights, value), weights

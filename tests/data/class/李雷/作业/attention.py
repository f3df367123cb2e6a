import torch


def check(query, key, value, allowed):
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query 与 key 的 d_k 不同：{query.shape[-1]} 和 {key.shape[-1]}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"key 与 value 的 n_keys 不同：{key.shape[-2]} 和 {value.shape[-2]}")
    if allowed is not None and allowed.dtype != torch.bool:
        raise TypeError("allowed 必须是 bool，True 表示可以读")


def attention(query, key, value, allowed=None):
    check(query, key, value, allowed)
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    # 先缩放 q 再做点积，半精度才不会溢出
    q = query * query.shape[-1] ** -0.5
    scores = torch.einsum("...qd,...kd->...qk", q.expand(*lead, *q.shape[-2:]), key)
    if allowed is not None:
        scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    if allowed is not None:
        weights = torch.where(allowed, weights, 0)  # 全遮住的行变成 0
    return torch.einsum("...qk,...kd->...qd", weights, value), weights

import numpy as np


def causal_mask(n_queries, n_keys=None):
    n_keys = n_queries if n_keys is None else n_keys
    for name, size in {"n_queries": n_queries, "n_keys": n_keys}.items():
        if size < 0:
            raise ValueError(name + " 不能是负数")
    # 最后一个 query 能看到所有 key，所以从末尾往前数位置
    query_from_end = np.arange(n_queries)[::-1]
    key_from_end = np.arange(n_keys)[::-1]
    return np.greater_equal.outer(-query_from_end, -key_from_end)

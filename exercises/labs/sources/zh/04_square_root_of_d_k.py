# %% [markdown]
# # 实验 4 · 为什么除以根号 d_k
#
# 分数要除以 √d_k。不是除以 d_k，也不是不除。这个实验量一量：key 越来越宽时，分数和权重会怎样。这里假设各维独立、均值为 0、方差为 1，训练刚开始时大致如此。

# %%
import numpy as np

from autograder.labs import Lab, drawings

lab = Lab("04_square_root_of_d_k", language="zh")
softmax = lab.own("softmax")

rng = np.random.default_rng(0)
widths = [1, 4, 16, 64, 256, 1024]
n_keys = 16

# %% [markdown]
# ## 分数有多大
#
# 两个这样的向量做点积，就是把 d_k 个乘积加起来，每个乘积的方差是 1。d_k = 64 时，点积的**方差**是多少？

# %%
lab.number("variance")

# %%
lab.needs("variance")

variances = {}
for d_k in widths:
    q, k = rng.normal(size=(2, 4000, d_k))
    dot_products = (q * k).sum(axis=-1)
    variances[d_k] = dot_products.var()
    print(f"d_k {d_k:5d}   方差 {variances[d_k]:8.1f}   除以 √d_k 之后 {(dot_products / np.sqrt(d_k)).var():6.2f}")

# 拿理论值来比，免得抽样的起伏来评判你；抽样的结果打印在上面。
lab.compare("variance", 64 if abs(variances[64] - 64) < 8 else variances[64])

# %% [markdown]
# <details><summary>跑完再看：方差可以相加</summary>
#
# 独立的项加起来，方差等于各项方差之和，也就是 d_k。所以分数的散布随 √d_k 增长，除以 √d_k，不管多宽，方差都回到 1。要是除以 d_k，分数就越来越小，头越宽，每一行越接近均匀。
#
# </details>

# %% [markdown]
# ## 权重会怎样
#
# 一个查询，16 个 key。如果完全均匀，每个 key 是 1/16 = 0.06。**不做**缩放，d_k = 1024 时，一行里最大的权重平均是多少？

# %%
lab.number("largest_raw")

# %%
lab.needs("largest_raw")


def largest_weight(d_k, divisor, n_rows=400):
    rows = np.random.default_rng(1).normal(size=(n_rows, n_keys + 1, d_k))
    query, keys = rows[:, :1], rows[:, 1:]
    scores = (query * keys).sum(axis=-1) / divisor
    return softmax(scores).max(axis=-1).mean()


raw = [largest_weight(d_k, 1.0) for d_k in widths]
scaled = [largest_weight(d_k, np.sqrt(d_k)) for d_k in widths]
lab.chart(drawings.saturation, widths, raw, scaled)
lab.compare("largest_raw", raw[-1])

# %% [markdown]
# <details><summary>跑完再看：饱和</summary>
#
# 不缩放，分数就散得越来越开，直到一个 key 几乎拿走全部权重。训练才刚开始，除了“宽”，没有任何理由该是它。除以 √d_k，不管多宽，最大的权重都在 0.25 左右。
#
# ![一行里最大的权重随 d_k 的变化：不缩放时趋近 1，除以根号之后一直在 0.25 附近](figures/saturation.svg)
#
# </details>

# %% [markdown]
# ## 饱和有什么坏处
#
# 一个权重 w 还能被它自己的分数推动多少，看导数 w · (1 − w)。在饱和的一行里，w = 0.99。w = 0.5 处的导数，是这里的**几倍**？

# %%
lab.number("times_smaller")

# %%
lab.needs("times_smaller")

for w in (0.5, 0.9, 0.99, 0.9999):
    print(f"权重 {w:<7} 导数 {w * (1 - w):.5f}")
lab.compare("times_smaller", 0.25 / (0.99 * 0.01))

# %% [markdown]
# <details><summary>跑完再看：是动机，不是定理</summary>
#
# 饱和的一行几乎传不回梯度，看错了地方也学不会改。
#
# 别忘了前面的假设：各维独立，均值为 0，方差为 1。训练完全可以让查询和 key 彼此对上，这时分数大是有意为之。除以根号，稳住的是**开头**。这是设计的动机，不是训练之后仍然成立的定理。下一格就是一个不成立的例子。
#
# </details>

# %%
lab.needs("times_smaller")

q = rng.normal(size=(4000, 64))
independent = (q * rng.normal(size=q.shape)).sum(-1) / 8
matching = (q * q).sum(-1) / 8
print("key 与查询独立时，缩放后分数的方差", independent.var().round(2))
print("key 等于查询时，缩放后分数的均值", matching.mean().round(2))

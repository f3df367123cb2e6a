# %% [markdown]
# # 实验 9 · 分块：数值一样，内存更少
#
# 注意力的输出很小，大的只是途中那个矩阵。FlashAttention 从不把它整个算出来，而是把 key 分成一块一块地过。它是不是漏掉了什么？

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings
from autograder.labs.cost import largest_bytes, random_inputs

lab = Lab("09_tiles", language="zh")
softmax = lab.own("softmax")
attention = lab.own("attention")
tiled_attention = lab.own("tiled_attention")

# %% [markdown]
# ## 两块，想当然地合起来
#
# 一个查询，四个 key。有人把 key 切成两块，每块两个，各自做注意力，再取两个输出的**平均**。这等于对四个 key 一起做的注意力吗？

# %%
lab.choose(
    "naive",
    a="等于：每块都是注意力，平均一下就合起来了",
    b="不等于：除非两块的指数之和一样",
    c="不等于：分了块就再也合不起来",
)

# %%
lab.needs("naive")

scores = np.array([1.414, -0.707, 0.707, -2.121])
values = np.array([10.0, 0.0, 5.0, -10.0])
whole = softmax(scores) @ values
tiles = [softmax(scores[part]) @ values[part] for part in (slice(0, 2), slice(2, 4))]
sums = [np.exp(scores[part]).sum() for part in (slice(0, 2), slice(2, 4))]
print("整个算        ", whole.round(4))
print("每块各算      ", np.round(tiles, 4))
print("取平均        ", np.mean(tiles).round(4))
print("各块的指数之和", np.round(sums, 4))
print("按这些和加权  ", np.average(tiles, weights=sums).round(4))
same_by_mean = np.isclose(np.mean(tiles), whole)
same_by_sums = np.isclose(np.average(tiles, weights=sums), whole)
lab.compare("naive", "a" if same_by_mean else "b" if same_by_sums else "c")

# %% [markdown]
# <details><summary>跑完再看：一块要记住什么</summary>
#
# 每块除以的是自己的和。把这个和留下来，各块就能精确地合并：按各自的和加权。所以一块不必记住它的分数，记住自己有多“重”就够了。（分数很大时指数会溢出，所以还要带着一个最大值走。那就是第 6 题。）
#
# </details>

# %% [markdown]
# ## 数值一样吗
#
# 现在是 2,048 个 token，每块 128 个 key。与算出整个矩阵的注意力相比，分块注意力的输出……

# %%
lab.choose(
    "same",
    a="相等，只差舍入误差",
    b="接近：小的权重被略去了",
    c="是个估计，块越大越准",
)

# %% [markdown]
# 再看内存：整个矩阵的元素，是一块 2,048 × 128 的几倍？

# %%
lab.number("entries")

# %%
lab.needs("same", "entries")

length, block_size = 2048, 128
query, key, value = random_inputs(length)
with torch.inference_mode():
    whole, _ = attention(query, key, value)
    differences = {
        size: (tiled_attention(query, key, value, block_size=size) - whole).abs().max().item()
        for size in (16, 100, 128, 4096)
    }
for size, difference in differences.items():
    print(f"block_size {size:>5}：最多相差 {difference:.1e}")
resolution = torch.finfo(torch.float32).eps
print(f"（输出本身最大是 {whole.abs().max():.2f}，float32 大约只能分辨到它的 {resolution:.1e}）")
lab.compare("same", "a" if max(differences.values()) < 1e-5 else "b" if differences[128] < 0.01 else "c")
lab.compare("entries", length * length / (length * block_size))

# %% [markdown]
# <details><summary>跑完再看：一点不差</summary>
#
# 块取多大，结果都一样，直到 float32 的最后几位，连除不尽 2,048 的块也不例外。没有近似，小的权重也没有删掉，只是相加的次序不同。这里一块的元素是整个矩阵的十六分之一；到 16,384 个 token，就是 1/128。
#
# </details>

# %% [markdown]
# ## 省下的内存
#
# 运行的时候量一量：两种做法各自造出的最大张量有多大。

# %%
lab.needs("same", "entries")

with torch.inference_mode():
    full = largest_bytes(attention, query, key, value) / 2**20
    sizes = [64, 128, 512, 2048]
    in_tiles = [largest_bytes(tiled_attention, query, key, value, block_size=size) / 2**20 for size in sizes]
lab.chart(drawings.tiles, sizes, in_tiles, full)

# %% [markdown]
# <details><summary>跑完再看：省了什么，没省什么</summary>
#
# 整个矩阵占 16 MiB。用你自己写的分块，最大的张量随块的大小增长，块到 2,048，又成了整个矩阵。（如果这里用的是库函数，几根柱子会一样高：PyTorch 的融合内核自己选块，块在它内部，不是张量。）
#
# 乘法一次也没有少。在 GPU 上，分块还能省*时间*，因为块留在高速内存里，大矩阵不必搬来搬去；在 CPU 上用普通的 PyTorch 写，省的只是内存。
#
# ![每块 64、128、512、2048 个 key 时最大的张量：0.5、1、4、16 MiB；整个矩阵 16 MiB](figures/tiles.svg)
#
# </details>

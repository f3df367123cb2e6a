# %% [markdown]
# # 实验 2 · 因果热力图
#
# 四个位置，各有一组固定的二维查询、key 和 value。预测下一个 token 的模型不能提前看到答案，所以查询 *i* 只能读 key 0 到 key *i*。你先猜出几行，再关掉遮罩，调温度，最后想改哪一格就改哪一格。
#
# 相信一张热力图之前，先核对三件事：哪个轴是查询，遮罩挡住了哪里，每行加起来是多少。

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("02_causal_heat_map", language="zh")
softmax = lab.own("softmax")
causal_mask = lab.own("causal_mask")

query = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
value = np.array([[10.0, 0.0], [0.0, 20.0], [5.0, 5.0], [-10.0, 10.0]])


def weights_of(allowed, temperature=1.0):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    scores = np.where(allowed, scores, -np.inf)  # 在 softmax 之前
    return softmax(scores, temperature=temperature)


causal = causal_mask(4)
everything = np.ones((4, 4), dtype=bool)

# %% [markdown]
# ## 第一行
#
# 因果遮罩开着。**第一个**查询的权重是什么？把这一行画出来。

# %%
lab.draw_row("first_row", keys=4)

# %%
lab.needs("first_row")

weights = weights_of(causal)
print("第一行", weights[0], " 能读的 key 有", causal[0].sum(), "个")
lab.compare("first_row", weights[0])

# %% [markdown]
# ## 温度调到 10
#
# 分数先除以温度，再做 softmax。遮罩还开着，温度变成 10：第一行会怎样，最后一行又会怎样？

# %%
lab.choose(
    "first_row_warm",
    a="向 [0.25, 0.25, 0.25, 0.25] 靠近",
    b="还是 [1, 0, 0, 0]",
    c="变成 [0.1, 0, 0, 0]：全都除以 10",
)

# %%
lab.choose(
    "last_row_warm",
    a="四个权重互相靠近",
    b="最大的权重更大了",
    c="不变",
)

# %%
lab.needs("first_row", "first_row_warm", "last_row_warm")

warm = weights_of(causal, temperature=10.0)
lab.heat_map(weights, causal, title="温度 1", bars=True)
lab.heat_map(warm, causal, title="温度 10", bars=True)

for temperature in (0.01, 1.0, 10.0, 1000.0):
    print(f"温度 {temperature:g} 时的第一行", weights_of(causal, temperature)[0])

first = "b" if np.array_equal(warm[0], weights[0]) else "a" if warm[0].sum() > 0.5 else "c"
spread = [np.ptp(table[-1]) for table in (weights, warm)]
last = "c" if spread[1] == spread[0] else "a" if spread[1] < spread[0] else "b"
lab.compare("first_row_warm", first)
lab.compare("last_row_warm", last)

# %% [markdown]
# <details><summary>跑完再看：温度管得着什么，管不着什么</summary>
#
# 第一个查询只有一个合法的 key。不管它的分数是多少，除以几，全部权重都归它：任何温度下都是 [1, 0, 0, 0]。最后一个查询有四个合法的 key，温度升高，分数之间的差距变小，这一行就趋于均匀，但只在**合法位置之间**。温度不会把权重漏给未来：负无穷除以 10，还是负无穷。
#
# ![温度为 1 时的因果权重：下三角，每行加起来是 1，最后一行是 0.61、0.07、0.30、0.02](figures/causal.svg)
#
# ![温度为 10 时：第一行仍是 1、0、0、0，最后一行接近均匀](figures/causal_warm.svg)
#
# </details>

# %% [markdown]
# ## 关掉遮罩
#
# 现在每个查询都能读所有的 key。**第二个**查询（查询 1）会把多少权重交给原来看不到的那两个 key，两个合起来算？

# %%
lab.number("to_the_future")

# %%
lab.needs("to_the_future")

unmasked = weights_of(everything)
lab.heat_map(unmasked, title="没有遮罩", bars=True)
print("查询 1 给 key 2 和 key 3 的权重合计", unmasked[1, 2:].sum().round(3))
print("行和", unmasked.sum(axis=-1))
lab.compare("to_the_future", unmasked[1, 2:].sum())

# %% [markdown]
# <details><summary>跑完再看：行和仍然是 1</summary>
#
# 光看行和，看不出有没有遮罩：有没有都是 1。变的是由谁来分。key 2 和 key 3 与查询 1 的匹配程度跟 key 1 完全一样，所以 key 0 分剩下的，它们拿走三分之二：全部权重的 0.62，给了本来应该由模型去预测的 token。
#
# 只有最后一行和原来一样。它本来就什么都看得见。
#
# ![没有遮罩时，四行四列的每一格都有权重](figures/causal_off.svg)
#
# </details>

# %% [markdown]
# ## 轮到你了
#
# 开关遮罩，拖动滑块，展开 **Q**、**K**、**V** 或 **遮罩**，改任何一格：图和最后一行的输出会跟着变。至少试试这个：把某个查询的 key 全部挡住，它的权重是什么，行和又是多少？还有，Q、K、V 三个里面，改哪一个时权重纹丝不动？

# %%
lab.explore(query, key, value, softmax=softmax, causal_mask=causal_mask)

# %% [markdown]
# <details><summary>如果你只是在读，没有运行内核，这里有什么可看</summary>
#
# 上面几张图，就是这个界面在三种设置下的样子。一个查询的 key 全被挡住时，它的分数都是负无穷。照着公式直接写的 softmax 会得到 NaN，因为它要算负无穷减负无穷。这门课的约定是返回零：行和是 0，输出也是 0。改 V，权重不会动。
#
# </details>

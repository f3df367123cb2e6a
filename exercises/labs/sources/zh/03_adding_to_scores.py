# %% [markdown]
# # 实验 3 · 给分数加上一点什么
#
# 先写下预期，再运行代码，才能区分自己是理解了机制，还是只看了一张漂亮的图。这一次我们给分数加数：先给所有分数加，再只给一列加。

# %%
import numpy as np

from autograder.labs import Lab, drawings

lab = Lab("03_adding_to_scores", language="zh")
softmax = lab.own("softmax")

scores = np.array([1.414, -0.707, 0.707, -2.121])  # 实验 2 的最后一行
values = np.array([[10.0, 0.0], [0.0, 20.0], [5.0, 5.0], [-10.0, 10.0]])

# %% [markdown]
# ## 统一加 10
#
# 这一行所有合法的分数都加 10。权重会怎样？

# %%
lab.choose(
    "plus_10",
    a="更极端：最大的那个几乎拿走全部",
    b="更平均",
    c="不变",
)

# %%
lab.needs("plus_10")

before = softmax(scores)
after = softmax(scores + 10)
print("原来    ", before.round(4), " 输出", (before @ values).round(3))
print("加 10   ", after.round(4), " 输出", (after @ values).round(3))
change = after.max() - before.max()
lab.compare("plus_10", "c" if abs(change) < 1e-9 else "a" if change > 0 else "b")

# %% [markdown]
# <details><summary>跑完再看：约掉的因子</summary>
#
# 加 10，就是每个指数都乘上同一个 e¹⁰。它们的和也乘上同样的倍数，一除就约掉了。softmax 只认同一行里分数之间的**差**。
#
# </details>

# %% [markdown]
# ## 统一加 100，用 float32，不做任何防护
#
# 下面的 softmax 是照公式直接写的，什么也没有减，用的是模型里常见的 float32。分数统一加 100，数学上什么都不变。机器会返回什么？


# %%
def naive_softmax(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


# %%
lab.choose(
    "naive_100",
    a="除了舍入误差，权重还是一样",
    b="NaN",
    c="全是零",
)

# %%
lab.needs("naive_100")

large = (scores + 100).astype(np.float32)
with np.errstate(over="ignore", invalid="ignore"):
    careless = naive_softmax(large)
    print("float32 里的 exp(100)", np.exp(np.float32(100)), "  float32 的最大值", np.finfo(np.float32).max)
careful = softmax(large)
print("直接写的  ", careless)
print("有防护的  ", careful.round(4))
lab.compare("naive_100", "b" if np.isnan(careless).any() else "a" if np.allclose(careless, before, atol=1e-5) else "c")

# %% [markdown]
# <details><summary>跑完再看：为什么要先减去最大值</summary>
#
# exp(88.8) 已经超出 float32 的范围，指数成了无穷大，无穷大除以无穷大是 NaN。既然加上一个常数什么也不变，那么**减去**一个也一样。减去最大值，指数上就不会有大于 0 的数。
#
# 这也回答了教程的自测题：给所有合法的分数都加 100，输出在数学上不变；实现得小心，机器上也就不变。
#
# </details>

# %% [markdown]
# ## 只给一列加偏置
#
# 现在只有 key 1 的分数加 1，其余不动。它原来的权重大约是 0.07。它与 key 0 的权重之**比**，会变成原来的几倍？

# %%
lab.number("ratio")

# %%
lab.needs("ratio")

biased = softmax(scores + np.array([0.0, 1.0, 0.0, 0.0]))
lab.chart(drawings.bias, before, biased)
growth = (biased[1] / biased[0]) / (before[1] / before[0])
print("比值  原来", (before[1] / before[0]).round(4), " 现在", (biased[1] / biased[0]).round(4))
print("加了偏置的权重", biased.round(3), " 和", biased.sum().round(6))
lab.compare("ratio", growth)

# %% [markdown]
# <details><summary>跑完再看：起作用的是差</summary>
#
# 分数多 1，指数就乘以 e ≈ 2.718，它与任何别的 key 的比值也就乘以 e。权重本身涨得没有这么多，因为和也变大了：从 0.07 涨到 0.18。别的权重全都变小了，虽然没人碰过它们的分数；它们彼此之间的比值不变。
#
# 所以，整行统一平移，谁也看不出来；每列加的不一样，就不同了。位置偏置，还有写成加性偏置的 padding 遮罩，靠的正是这一点。
#
# ![给 key 1 加 1 之前和之后的权重：key 1 从 0.073 涨到 0.176，其余都变小](figures/bias.svg)
#
# </details>

# %% [markdown]
# ## 接着自己试
#
# 要让 key 1 恰好拿到一半的权重，它的分数该加多少？用其余指数的和把它算出来，再用 `softmax` 验证。如果偏置是 `-np.inf` 呢？

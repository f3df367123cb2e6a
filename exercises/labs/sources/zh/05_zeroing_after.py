# %% [markdown]
# # 实验 5 · softmax 之后再归零
#
# 遮罩应当放在 softmax 之前：未来位置的分数设成负无穷。如果等 softmax 做完，再把未来的*权重*归零呢？图上的零在同样的位置。这还是同一个注意力吗？

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("05_zeroing_after", language="zh")
softmax = lab.own("softmax")
causal_mask = lab.own("causal_mask")

query = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
scores = query @ key.T / np.sqrt(2)
causal = causal_mask(4)

# %% [markdown]
# ## 每行加起来是多少
#
# softmax 在四个 key 上做完，然后未来的权重归零，别的什么也不做。**第一行**的行和是多少？

# %%
lab.choose("first_sum", a="1", b="小于 1", c="大于 1")

# %% [markdown]
# **最后一行**呢？

# %%
lab.choose("last_sum", a="1", b="小于 1", c="大于 1")

# %%
lab.needs("first_sum", "last_sum")

zeroed = softmax(scores) * causal
lab.heat_map(zeroed, causal, title="softmax 之后归零")
print("行和", zeroed.sum(axis=-1).round(3))


def against_one(total):
    return "a" if np.isclose(total, 1) else "b" if total < 1 else "c"


lab.compare("first_sum", against_one(zeroed[0].sum()))
lab.compare("last_sum", against_one(zeroed[-1].sum()))

# %% [markdown]
# <details><summary>跑完再看：谁也没拿到的权重</summary>
#
# 未来的位置参加了分配，分到的又被扔掉。它拿走的那一份就这样没了：行和是 0.43、0.38、0.96 和 1。第一个查询的输出只剩自己 value 的 0.43 倍，好像模型在文章开头说话声音特别小。只有最后一行没有未来，它是对的。
#
# ![softmax 之后归零的权重：行和是 0.43、0.38、0.96 和 1](figures/zeroed.svg)
#
# </details>

# %% [markdown]
# ## 它还会泄漏
#
# 零确实放在了未来的位置上。现在改一改**最后一个 key**，查询 0 不许读它。用事后归零的办法，查询 0 的输出会变吗？

# %%
lab.choose("leak", a="不会：它在那个 key 上的权重是 0", b="会")

# %%
lab.needs("leak")

changed = key.copy()
changed[3] = [3.0, 1.0]
scores_changed = query @ changed.T / np.sqrt(2)


def before(scores):
    return softmax(np.where(causal, scores, -np.inf))


def afterwards(scores):
    return softmax(scores) * causal


print("事后归零：第一行", afterwards(scores)[0].round(3), "->", afterwards(scores_changed)[0].round(3))
print("事先遮住：第一行", before(scores)[0].round(3), "->", before(scores_changed)[0].round(3))
leaked = not np.allclose(afterwards(scores)[0], afterwards(scores_changed)[0])
lab.compare("leak", "b" if leaked else "a")

# %% [markdown]
# <details><summary>跑完再看：隔墙有耳</summary>
#
# 未来的 key 还在分母里。这样训练出来的模型，看看自己的输出有多大，就能猜到*后面*的 token 匹配得好不好，而那正是它该预测的答案。因果性是一条信息边界，图上画几个零，并不能把边界立起来。
#
# </details>

# %% [markdown]
# ## 重新归一化行不行
#
# 归零之后，每行再除以自己的和。数学上，这就等于事先遮住。用 float64，而且某个未来的分数高出 1000：第一行会是什么？

# %%
lab.choose("renormalised", a="[1, 0, 0, 0]，正该如此", b="NaN，或者全是零", c="[0.5, 0, 0, 0.5]")

# %%
lab.needs("renormalised")

extreme = scores.copy()
extreme[0, 3] += 1000
with np.errstate(invalid="ignore"):
    row = afterwards(extreme)[0]
    repaired = row / row.sum()
print("普通的分数", (afterwards(scores)[0] / afterwards(scores)[0].sum()).round(3))
print("归零之后  ", row)
print("补救之后  ", repaired)
print("事先遮住  ", before(extreme)[0])
lab.compare(
    "renormalised", "a" if np.allclose(repaired, [1, 0, 0, 0]) else "c" if np.allclose(repaired[0], 0.5) else "b"
)

# %% [markdown]
# <details><summary>跑完再看：纸上是对的</summary>
#
# 分数普通的时候，补救是有效的。但那个很大的未来分数把权重全拿走了，合法的 key 只剩 exp(−1000) = 0，而 0 除以 0 是 NaN。事先遮住，这一行根本不知道未来有什么。所以遮罩要放在 softmax 之前，分数里放负无穷。
#
# </details>

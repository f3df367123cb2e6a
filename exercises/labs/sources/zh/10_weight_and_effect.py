# %% [markdown]
# # 实验 10 · 权重与影响
#
# 热力图画的是权重。看着它，很容易说出“模型看了这个 token，所以这个 token 重要”。想知道一个 token 重不重要，得对它做点什么：**删除**它，**替换**它，**扰动**它。然后把结果和权重放在一起比。

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings

lab = Lab("10_weight_and_effect", language="zh")
attend_one = lab.own("attend_one")
ablation_effect = lab.own("ablation_effect")

tokens = ["0", "1", "2", "3"]
query = np.array([1.0])
keys = np.log([[0.6], [0.25], [0.1], [0.05]])  # 这样权重正好是这几个数
values = np.array([[2.0], [2.4], [4.0], [-4.0]])
weights, output = attend_one(query, keys, values)

print("权重   ", weights.round(3))
print("value  ", values[:, 0])
print("输出   ", output.round(3))

# %% [markdown]
# ## 删除
#
# 拿走一个 key，它的权重由其余的 key 按原来的比例分掉。删除哪个 token，输出移动得**最远**？权重是 0.6、0.25、0.1、0.05；value 是 2、2.4、4、−4；输出是 2。

# %%
lab.choose("most", a="token 0，权重 0.6", b="token 1，权重 0.25", c="token 2，权重 0.1", d="token 3，权重 0.05")

# %% [markdown]
# 删除 token **0**，输出移动多远？

# %%
lab.number("token_0")

# %%
lab.needs("most", "token_0")

as_tensors = [torch.from_numpy(array) for array in (query[None], keys, values)]
deleted = ablation_effect(*as_tensors)[0].numpy()
for token in range(4):
    rest = [other for other in range(4) if other != token]
    _, without = attend_one(query, keys[rest], values[rest])
    print(f"没有 token {token}：输出 {without[0]:.3f}，移动了 {abs(without - output)[0]:.3f}；"
          f"ablation_effect 给出 {deleted[token]:.3f}")  # fmt: skip
lab.chart(drawings.effects, tokens, weights, {"delete": deleted})
lab.compare("most", "abcd"[int(deleted.argmax())])
lab.compare("token_0", deleted[0])

# %% [markdown]
# <details><summary>跑完再看：权重最大，影响为零</summary>
#
# token 0 占了六成权重，删掉它却什么也没动：它的 value *就是*输出，别的 token 合起来也给出同一个数。token 3 权重最小，影响却最大，因为它的 value 离其余的都远。删除的影响，取决于权重，**也**取决于这个 value 与其余部分给出的结果相差多远。
#
# ![四个 token 的柱子：权重 0.6、0.25、0.1、0.05，旁边是删除的影响 0、0.133、0.222、0.316](figures/effects.svg)
#
# </details>

# %% [markdown]
# ## 扰动
#
# 这次什么也不拿走，只把一个 token 的 value 加 1。如果是 token **0**，输出移动多远？

# %%
lab.number("disturbed")

# %%
lab.needs("disturbed")


def moved_by(new_values):
    _, after = attend_one(query, keys, new_values)
    return abs(after - output)[0]


disturbed = []
for token in range(4):
    new_values = values.copy()
    new_values[token] += 1
    disturbed.append(moved_by(new_values))
print("移动了", np.round(disturbed, 3))
lab.compare("disturbed", disturbed[0])

# %% [markdown]
# <details><summary>跑完再看：这里正是权重</summary>
#
# value 的一点变化，乘上权重就到了输出：token 0 是 0.6。可见权重确实回答了一个问题：别的都不动，输出对*这个 value* 有多敏感。它没有回答的是，没有这个 token 会怎样。
#
# </details>

# %% [markdown]
# ## 替换
#
# 第三种干预：把一个 token 的 value 换成 0，权重不动。这样排出来的次序，和**删除**的一样吗？

# %%
lab.choose("ranking", a="一样", b="不一样，排第一的换了")

# %%
lab.needs("ranking", "most", "disturbed")

replaced = []
for token in range(4):
    new_values = values.copy()
    new_values[token] = 0
    replaced.append(moved_by(new_values))
lab.chart(drawings.effects, tokens, weights, {"delete": deleted, "disturb": disturbed, "replace": replaced})
lab.compare("ranking", "a" if np.array_equal(np.argsort(replaced), np.argsort(deleted)) else "b")

# %% [markdown]
# <details><summary>跑完再看：三个问题，三个答案</summary>
#
# 换成 0，排第一的又是 token 0：0.6 · 2 = 1.2。“它有多重要”，不先说清楚和什么比，就没有答案。和没有它比？和换成零比？和换成另一个 token 比？每一种比较都是一个单独的实验。
#
# </details>

# %% [markdown]
# ## 权重最大的，影响也最大吗
#
# 一千行随机数，每行六个 key，value 有八维。**百分之几**的行里，权重最大的 key 也是删掉之后输出移动最远的那个？

# %%
lab.number("percent", unit="%")

# %%
lab.needs("percent")

rng = np.random.default_rng(10)
q, k, v = (torch.from_numpy(rng.normal(size=(1000, n, 8))) for n in (1, 6, 6))
effects = ablation_effect(q, k, v)[:, 0]
row_weights = torch.softmax((q @ k.transpose(-2, -1))[:, 0] / 8**0.5, dim=-1)
agree = (effects.argmax(dim=-1) == row_weights.argmax(dim=-1)).double().mean().item() * 100
print(f"100 行里有 {agree:.0f} 行")
lab.compare("percent", agree)

# %% [markdown]
# <details><summary>跑完再看：猜得不错，但不是证明</summary>
#
# 多半如此，但不总是，何况这是随机的 value，谁也不像谁。只要各个 value 大小相近、彼此独立，大权重就常常伴随大影响。真实的模型两样都不保证；这一行后面还有输出投影、残差路径和后续的层，它们可能削弱一个影响，也可能把它抵消。
#
# 还要当心一点：删除或替换一个 token，得到的可能是模型从没见过的输入。这时你量到的，有一部分是它的意外。
#
# </details>

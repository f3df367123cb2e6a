# %% [markdown]
# # 实验 6 · 两个库，两种约定
#
# 布尔遮罩就是一张 True 和 False 的表。哪个表示*可以读*，只是约定，而 PyTorch 自己就有两种：
#
# | | True 表示 |
# |---|---|
# | `torch.nn.functional.scaled_dot_product_attention` 的 `attn_mask`（本课程的 `allowed` 也是） | 可以读 |
# | `torch.nn.MultiheadAttention` 的 `attn_mask` 和 `key_padding_mask` | **不许**读 |
# | 分词器给出的 0/1 `attention_mask` | 1 是真正的 token，可以读 |
#
# 混用了也不会报错：形状对得上，每行加起来还是 1。这个实验让你看看它长什么样。

# %%
import numpy as np
import torch
import torch.nn.functional as F

from autograder.labs import Lab

lab = Lab("06_two_conventions", language="zh")
causal_mask = lab.own("causal_mask")

query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
allowed = torch.from_numpy(causal_mask(4))

# 只有一个头、矩阵都是单位阵的 nn.MultiheadAttention，就是普通的注意力。
multi_head = torch.nn.MultiheadAttention(2, 1, bias=False, batch_first=True)
with torch.no_grad():
    multi_head.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
    multi_head.out_proj.weight.copy_(torch.eye(2))


def functional_weights(mask):
    """scaled_dot_product_attention 的权重：让 value 是单位阵，输出就是权重。"""
    return F.scaled_dot_product_attention(query, key, torch.eye(4), attn_mask=mask)


def module_weights(mask, key_padding_mask=None):
    padding = None if key_padding_mask is None else key_padding_mask[None]
    with torch.no_grad():
        _, weights = multi_head(query[None], key[None], key[None], attn_mask=mask, key_padding_mask=padding)
    return weights[0]


# %% [markdown]
# ## 同一个遮罩，交给两边
#
# `allowed` 是因果遮罩，True 表示可以读。现在把它**原样**交给 `nn.MultiheadAttention`。查询 1 与 key 1、2、3 的匹配程度相同，与 key 0 差一些。画出查询 1 的那一行。

# %%
lab.draw_row("turned_round", keys=4)

# %% [markdown]
# 最后一个查询按因果遮罩什么都可以读，它会怎样？

# %%
lab.choose(
    "last_row",
    a="和应有的一样：本来就没有什么要对它隐藏",
    b="这一行是 NaN",
    c="这一行是均匀的",
)

# %%
lab.needs("turned_round", "last_row")

right = functional_weights(allowed)
turned = module_weights(allowed)
lab.heat_map(right, allowed, title="scaled_dot_product_attention(attn_mask=allowed)")
lab.heat_map(turned, ~allowed, title="nn.MultiheadAttention(attn_mask=allowed)")
lab.compare("turned_round", turned[1])
last = turned[-1]
lab.compare("last_row", "b" if last.isnan().any() else "a" if torch.allclose(last, right[-1]) else "c")

print("换成 ~allowed，两边就一致了", torch.allclose(module_weights(~allowed), right, atol=1e-6))

# %% [markdown]
# <details><summary>跑完再看：一个只读未来的模型</summary>
#
# 反过来之后，查询 1 读的恰恰是不许读的：key 2 和 key 3，各占一半。除了最后一行，每行加起来仍是 1，看上去和原来一样健康。最后一个查询什么也读不到，对空无一物做 softmax，得到 NaN。最后一行有一个 NaN 还算运气好，只有它露出了马脚。换一个每行都还剩点东西的遮罩，训练时就一声不响，拿着答案学下去了。
#
# ![反过来之后：查询 0 读 key 1 到 3，查询 1 读 key 2 和 3，查询 2 只读 key 3，查询 3 是 NaN](figures/turned_round.svg)
#
# </details>

# %% [markdown]
# ## 给整数遮罩取反
#
# 分词器给出 `attention_mask = [1, 1, 1, 0]`：三个真正的 token，一个 padding。`key_padding_mask` 要的是 padding 处为 True。有人在 NumPy 里直接对整数写 `~attention_mask`，然后转成布尔。哪些 key 被挡住了？

# %%
lab.choose("bitwise", a="只有 key 3，和想的一样", b="一个也没有", c="全部")

# %%
lab.needs("bitwise")

attention_mask = np.array([1, 1, 1, 0])
wrong = (~attention_mask).astype(bool)
meant = ~attention_mask.astype(bool)
print("~attention_mask   ", ~attention_mask)
print("转成布尔          ", wrong)
print("先转布尔，再取反  ", meant)
blocked = wrong.sum()
lab.compare("bitwise", "a" if np.array_equal(wrong, meant) else "b" if blocked == 0 else "c")
print("按本意交给模块：")
print(module_weights(None, torch.from_numpy(meant)).round(decimals=3))

# %% [markdown]
# <details><summary>跑完再看：两种“非”</summary>
#
# 对整数，`~` 是按位取反：~1 是 −2，~0 是 −1，两个都是 True。要先转成布尔，再取反。更好的办法是写一个函数，把约定的名字当参数（第 3 题的 `as_allowed`），没经过它的遮罩一律不进自己的代码。
#
# </details>

# %% [markdown]
# ## 两个对的遮罩，合成一个错的
#
# 有一个 batch 是在**左边** padding 的：四个位置里，前两个是 padding。因果遮罩没有错，padding 遮罩也没有错，一个 key 要两边都允许才能读。四个查询里，有几个什么也读不到了？

# %%
lab.number("nothing_left")

# %%
lab.needs("nothing_left")

real = torch.tensor([False, False, True, True])
merged = allowed & real
print(merged.int())
empty = int((~merged.any(dim=-1)).sum())
lab.compare("nothing_left", empty)
print("模块  ", module_weights(~merged)[0])
print("函数  ", functional_weights(merged)[0])

# %% [markdown]
# <details><summary>跑完再看：全遮罩行</summary>
#
# 查询 0 和 1 自己就是 padding，只能读前面的，而前面也是 padding。一个库给出 NaN，另一个给出零；就算没有人去读那一行，NaN 也会把所有梯度都毁掉。所以这门课要求返回零，还要求写一个函数，说出哪些行是全遮罩的。
#
# </details>

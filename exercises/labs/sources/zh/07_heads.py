# %% [markdown]
# # 实验 7 · 多头
#
# 多头不是把同一次计算重复几遍。每个头有自己的投影，在自己的子空间里读取，读回来的拼在一起，再投影一次。关于某一个头，什么话可以说，什么话不能说？

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings

lab = Lab("07_heads", language="zh")
MultiHeadAttention = lab.own("MultiHeadAttention")

d_model, n_heads, n_tokens = 512, 8, 6
rng = np.random.default_rng(10)

# %% [markdown]
# ## 512 分给 8 个头
#
# 模型宽 512，有 8 个一样宽的头。**一个头**的查询有多宽？

# %%
lab.number("d_head")

# %% [markdown]
# 再看参数：与**一个**宽 512 的头相比，8 个头的投影和偏置一共有多少参数？

# %%
lab.choose("parameters", a="8 倍", b="一样多", c="八分之一")

# %%
lab.needs("d_head", "parameters")


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


one, eight = MultiHeadAttention(d_model, 1), MultiHeadAttention(d_model, n_heads)
print(f"d_model {d_model} = {n_heads} 个头 × {d_model // n_heads}")
print(f"1 个头的参数 {count(one):,}，8 个头的参数 {count(eight):,}")
lab.compare("d_head", d_model // n_heads)
ratio = count(eight) / count(one)
lab.compare("parameters", "b" if ratio == 1 else "a" if ratio > 1 else "c")

# %% [markdown]
# <details><summary>跑完再看：是切开，不是复制</summary>
#
# 512 = 8 × 64。两种情况下投影都是 512 乘 512；8 个头只是把结果切成八段，每一段各算各的权重。变多的是权重表：八张 T × T 的表，而不是一张。参数一样多，一个 token 却可以同时从八个地方读，只是每次读的维度少了。
#
# </details>

# %% [markdown]
# ## 八张表
#
# 六个 token，全是随机数；投影也是随机数，和训练之前一样。下面是八个头里的两个。

# %%
scale = d_model**-0.5
module = MultiHeadAttention(d_model, n_heads)
state = {
    name: torch.tensor(rng.normal(size=tuple(old.shape)) * (scale if old.ndim == 2 else 0.0), dtype=torch.float32)
    for name, old in sorted(module.state_dict().items())
}
module.load_state_dict(state)
tokens = torch.tensor(rng.normal(size=(1, n_tokens, d_model)), dtype=torch.float32)

with torch.no_grad():
    output, weights = module(tokens)
print("权重", tuple(weights.shape), "  输出", tuple(output.shape))
lab.heat_map(weights[0, 0], title="头 0")
lab.heat_map(weights[0, 5], title="头 5")

# %% [markdown]
# <details><summary>如果你只是在读，没有运行内核</summary>
#
# ![头 0 的权重，六行六列，每行加起来是 1](figures/head_0.svg)
#
# ![头 5 的权重：同样的 token，另一种花样](figures/head_5.svg)
#
# </details>
#
# 它们看上去不一样，可是谁也没有教过它们什么：这些只是随机数。图上有花样，还不等于有分工。

# %% [markdown]
# ## 头 5 凭什么叫头 5
#
# 让头 0 和头 5 交换位置：三个输入投影里属于它们的行换过来，输出投影里读它们的列也换过来。现在模块返回什么？

# %%
lab.choose(
    "swapped",
    a="输出不变：头没有先后",
    b="输出变了：头 0 干的活和头 5 不同",
    c="输出不变，但只是因为还没有训练",
)

# %%
lab.needs("swapped")

order = [5, 1, 2, 3, 4, 0, 6, 7]
places = torch.cat([torch.arange(64) + 64 * head for head in order])
swapped_state = {
    name: old[:, places] if name == "out_proj.weight" else old if name == "out_proj.bias" else old[places]
    for name, old in state.items()
}
swapped = MultiHeadAttention(d_model, n_heads)
swapped.load_state_dict(swapped_state)
with torch.no_grad():
    swapped_output, swapped_weights = swapped(tokens)

difference = (output - swapped_output).abs().max().item()
print(f"两个输出最多相差 {difference:.1e}")
print("头 0 现在的权重就是原来头 5 的", torch.allclose(swapped_weights[0, 0], weights[0, 5], atol=1e-6))
lab.compare("swapped", "a" if difference < 1e-4 else "b")

# %% [markdown]
# <details><summary>跑完再看：编号不是角色</summary>
#
# 输出是各个头贡献的和，求和不分先后，训练过没有都一样。“头 5 管语法”这句话，可以在某一个训练好的模型上成立，而且要靠实验去发现；换一个模型就不作数了。训练过程里没有哪个地方写着哪个头该干什么。
#
# </details>

# %% [markdown]
# ## 看着尖锐，就重要吗
#
# 轮流拿掉每一个头（把输出投影里它的那些列置零），量一量输出移动了多远。行最**尖锐**的头，也就是每行最大权重平均起来最大的那个，是不是也是拿掉之后输出动得**最多**的那个？

# %%
lab.choose("sharpest", a="是", b="不是")

# %%
lab.needs("sharpest")


def without(head):
    lesser = dict(state)
    lesser["out_proj.weight"] = state["out_proj.weight"].clone()
    lesser["out_proj.weight"][:, 64 * head : 64 * (head + 1)] = 0
    module.load_state_dict(lesser)
    with torch.no_grad():
        return module(tokens)[0]


sharpness = weights[0].amax(dim=-1).mean(dim=-1)
moved = torch.stack([(output - without(head)).norm(dim=-1).mean() for head in range(n_heads)])
lab.chart(drawings.heads, sharpness.tolist(), moved.tolist())
lab.compare("sharpest", "a" if sharpness.argmax() == moved.argmax() else "b")

# %% [markdown]
# <details><summary>跑完再看：先量，再说</summary>
#
# 一行有多尖锐，说明这个头从哪里读；拿掉它有多大损失，取决于它读到的 value，也取决于输出投影，这些图上都没有。这一次两者不一致；换一组随机数（改第一格里的种子 10），也许就一致了，那同样什么都证明不了。想说某个头有什么角色，就把它拿掉，换掉，再用别的输入试一试。即便如此，拿掉一个头之后，后面的层看到的也可能是从没见过的输入。
#
# ![每个头的尖锐程度，以及没有它时输出移动多远](figures/heads.svg)
#
# </details>

# %% [markdown]
# # 实验 1 · 把一行算出来
#
# 一个查询，两个 key，两个 value。注意力缩到最小，就只有这些：查询提出问题，每个 key 回答一个分数，value 才是真正交出去的东西。先把这一行亲手算完，再单独改掉“读到什么”，看看“从哪里读”会不会跟着变。
#
# 所有实验都按同一个顺序走：一个问题，你的预测，运行，然后看预测差在哪里。没有预测之前，给答案的那一格什么也不显示。猜错没有任何损失，而且往往比猜对学到的更多。

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("01_one_row", language="zh")
attend_one = lab.own("attend_one")

query = np.array([1.0, 0.0])
keys = np.array([[1.0, 0.0], [0.0, 1.0]])
values = np.array([[10.0, 0.0], [0.0, 20.0]])

# %% [markdown]
# ## 权重
#
# 查询是 `[1, 0]`，两个 key 是 `[1, 0]` 和 `[0, 1]`。先做点积，再除以 √2，取指数，最后除以指数的和。不用计算器：哪个 key 分得多，多多少？把这一行画出来。

# %%
lab.draw_row("weights", keys=2)

# %%
lab.needs("weights")

scores = keys @ query
scaled = scores / np.sqrt(len(query))
exponentials = np.exp(scaled)
weights, output = attend_one(query, keys, values)

print("点积        ", scores)
print("除以 √2     ", scaled.round(3))
print("指数        ", exponentials.round(3), " 和", exponentials.sum().round(3))
print("权重        ", [f"{weight:.3f}" for weight in weights])
print("输出        ", [f"{number:.2f}" for number in output])
lab.heat_map([weights], title="一个查询，两个 key")
lab.compare("weights", weights)

# %% [markdown]
# <details><summary>跑完再看：0.670 和 0.330 是怎么来的</summary>
#
# 点积是 1 和 0，除以 √2 得到 0.707 和 0，指数是 2.028 和 1。和是 3.028，第一个 key 占 0.670，第二个占 0.330。完全对不上的那个 key 照样拿走三分之一：0 分也是一个分数，不等于不存在。
#
# 输出是 0.670 · [10, 0] + 0.330 · [0, 20] = [6.70, 6.60]。它不是哪个 key，也不是权重，而是 value 的加权和。
#
# ![一行权重：key 0 是 0.67，key 1 是 0.33，行和是 1](figures/one_row.svg)
#
# </details>

# %% [markdown]
# ## 从哪里读，读到什么
#
# 现在把第一个 value 从 `[10, 0]` 改成 `[100, 0]`，别的都不动。什么会变？

# %%
lab.choose(
    "first_value",
    a="权重会变，输出也跟着变",
    b="只有输出会变，权重不变",
    c="只有权重会变：权重重新分配，输出仍然是平均值",
)

# %% [markdown]
# 新的输出，第一个数是多少？原来是 6.70。

# %%
lab.number("first_number")

# %%
lab.needs("first_value", "first_number")

larger = values.copy()
larger[0] = [100.0, 0.0]
new_weights, new_output = attend_one(query, keys, larger)

print("权重  改之前", weights.round(3), " 改之后", new_weights.round(3))
print("输出  改之前", output.round(2), " 改之后", new_output.round(2))
weights_moved = not np.allclose(weights, new_weights)
output_moved = not np.allclose(output, new_output)
lab.compare("first_value", {(True, True): "a", (False, True): "b", (True, False): "c"}[weights_moved, output_moved])
lab.compare("first_number", new_output[0])

# %% [markdown]
# <details><summary>跑完再看：这是两个问题</summary>
#
# 权重由查询和 key 决定，value 根本没有参与，所以权重不可能动。输出的第一个数变成原来的十倍，0.670 · 100 = 66.98，因为在同一个位置上，交出来的东西换了。
#
# “从哪里读”和“读到什么”是两回事。请把它们分开记住，最后一个实验讲的就是这件事。
#
# </details>

# %% [markdown]
# ## 接着自己试
#
# 把第一格里的查询改成 `[3, 0]` 或 `[0, 0]`，整个实验再跑一遍（`lab.forget()` 可以让它从头开始）。查询是什么的时候，两个 key 的权重一样？有没有哪个查询，能让某个 key 的权重恰好是 0？

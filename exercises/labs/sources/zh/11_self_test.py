# %% [markdown]
# # 自测
#
# 十六个问题。先回答，再运行下面那一格：它会告诉你对不对，以及为什么。没有回答之前，它什么也不说。

# %%
from autograder.labs import Lab

lab = Lab("11_self_test", language="zh")

# %% [markdown]
# ## 1
# 给每行的所有合法 score 都加 100，输出会改变吗？

# %%
lab.choose("plus_100", a="会，最大的权重会独占", b="数学上不会", c="会，一切都变成 100 倍")

# %%
lab.reveal("plus_100")

# %% [markdown]
# ## 2
# 给分数的每一*列*加上各不相同的偏置。权重会变吗？

# %%
lab.choose("column_bias", a="会", b="不会，道理和上一题一样")

# %%
lab.reveal("column_bias")

# %% [markdown]
# ## 3
# 查询 `[1, 0]`，key 是 `[1, 0]` 和 `[0, 1]`，分数除以 √2。第一个 key 的权重是多少？

# %%
lab.number("first_weight")

# %%
lab.reveal("first_weight")

# %% [markdown]
# ## 4
# 某个 key 的 value 变成原来的十倍。权重会怎样？

# %%
lab.choose("value_tenfold", a="那个 key 的权重变大", b="那个 key 的权重变小", c="不变")

# %%
lab.reveal("value_tenfold")

# %% [markdown]
# ## 5
# X 是 `[T, d_model]`。哪些宽度必须相等？

# %%
lab.choose("widths", a="Q 和 K 的", b="Q、K 和 V 的", c="K 和 V 的")

# %%
lab.reveal("widths")

# %% [markdown]
# ## 6
# 因果遮罩，四个位置，温度 1,000。第一个查询给第一个 key 的权重是多少？

# %%
lab.number("first_row")

# %%
lab.reveal("first_row")

# %% [markdown]
# ## 7
# 还是它，温度高得没有边。*最后*一个查询给 key 0 的权重是多少？

# %%
lab.number("last_row")

# %%
lab.reveal("last_row")

# %% [markdown]
# ## 8
# padding 遮罩和因果遮罩一合并，有个查询什么也读不到了：它的分数全是负无穷。直接做 softmax 会得到什么？

# %%
lab.choose("fully_masked", a="一行零", b="均匀的一行", c="NaN")

# %%
lab.reveal("fully_masked")

# %% [markdown]
# ## 9
# 有人在 softmax 之后把未来的权重归零，别的什么也没做。从哪里看得出来？

# %%
lab.choose("zeroed", a="有的行加起来小于 1", b="有的行加起来大于 1", c="最后一行不对")

# %%
lab.reveal("zeroed")

# %% [markdown]
# ## 10
# 一个 True 表示“可以读”的遮罩，交给了一个 True 表示“屏蔽”的库。会发生什么？

# %%
lab.choose("conventions", a="报错，说遮罩不对", b="每个查询读的都是不该读的，而行和还是 1", c="遮罩不起作用")

# %%
lab.reveal("conventions")

# %% [markdown]
# ## 11
# q 和 k 的各维独立，均值为 0，方差为 1，d_k = 256。除以 √d_k **之后**，分数的方差是多少？

# %%
lab.number("variance")

# %%
lab.reveal("variance")

# %% [markdown]
# ## 12
# 一个模型有八个头。不做实验，能说什么？

# %%
lab.choose(
    "roles",
    a="其中一个管语法",
    b="它们用不同的投影读取；各自起什么作用，要靠观察",
    c="它们做的都一样，八遍只是为了保险",
)

# %%
lab.reveal("roles")

# %% [markdown]
# ## 13
# 从 1,024 个 token 到 4,096 个，分数矩阵的元素是原来的几倍？

# %%
lab.number("entries")

# %%
lab.reveal("entries")

# %% [markdown]
# ## 14
# 那么，用这个模型的服务，回答一次要……

# %%
lab.choose(
    "latency",
    a="慢 16 倍",
    b="慢 4 倍",
    c="慢一些，慢多少从这里看不出来",
)

# %%
lab.reveal("latency")

# %% [markdown]
# ## 15
# FlashAttention 分块计算。它的结果是……

# %%
lab.choose("flash", a="去掉了小权重的注意力", b="精确的注意力，只是计算次序不同", c="一个估计")

# %%
lab.reveal("flash")

# %% [markdown]
# ## 16
# 热力图上，token j 的权重是 0.9。由此可知什么？

# %%
lab.choose(
    "importance",
    a="答案是 token j 引起的",
    b="在这里读到的，九成是 value j；它对答案有什么影响，要做实验才知道",
    c="别的 token 都可以去掉",
)

# %%
lab.reveal("importance")

# %% [markdown]
# ## 答对了几题

# %%
lab.score()

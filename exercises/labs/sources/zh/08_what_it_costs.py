# %% [markdown]
# # 实验 8 · 代价
#
# 稠密注意力要算一个 T × T 的分数矩阵。这个实验先数它有多少个元素，再在**这台机器**上实测内存和时间。两样都先猜一猜，它们不一定一致。

# %%
from autograder.labs import Lab, drawings
from autograder.labs.cost import measure

lab = Lab("08_what_it_costs", language="zh")
attention = lab.own("attention")

# %% [markdown]
# ## 元素
#
# 序列从 1,024 个 token 增加到 4,096 个。分数矩阵的元素是原来的几倍？

# %%
lab.number("entries")

# %% [markdown]
# 一个头，一条序列，4,096 个 token，float32（一个数 4 字节）：光这一个矩阵占多少 MiB？

# %%
lab.number("mebibytes", unit="MiB")

# %%
lab.needs("entries", "mebibytes")

short, long = 1024, 4096
print(f"{short:,} 个 token：{short**2:>12,} 个元素")
print(f"{long:,} 个 token：{long**2:>12,} 个元素，{long**2 // short**2} 倍")
lab.compare("entries", long**2 / short**2)
lab.compare("mebibytes", long**2 * 4 / 2**20)

# %% [markdown]
# <details><summary>跑完再看：长度四倍，元素十六倍</summary>
#
# 4 × 4 = 16。一个头、一条序列就要 64 MiB，32 个头就是 2 GiB，而这还只是一层，算完平均马上就扔掉。
#
# </details>

# %% [markdown]
# ## 时间
#
# 现在让这台机器在两种长度上各跑一遍注意力，d_k = 64。4,096 个 token 用的时间，是 1,024 个的**几倍**？

# %%
lab.number("time")

# %%
lab.needs("time")

costs = measure(attention, [256, 512, 1024, 2048, 4096])
print("     T         元素      最大的张量        时间")
for cost in costs:
    print(
        f"{cost.length:>6,} {cost.entries:>12,} {cost.largest_bytes / 2**20:>12.2f} MiB {1000 * cost.seconds:>8.1f} ms"
    )
lab.chart(drawings.costs, costs)
at = {cost.length: cost for cost in costs}
print(f"从 1,024 到 4,096：元素 × {at[4096].entries / at[1024].entries:.0f}，"
      f"最大的张量 × {at[4096].largest_bytes / at[1024].largest_bytes:.1f}，"
      f"时间 × {at[4096].seconds / at[1024].seconds:.1f}")  # fmt: skip
lab.compare("time", at[4096].seconds / at[1024].seconds)

# %% [markdown]
# <details><summary>跑完再看：时间不一定跟着元素走</summary>
#
# 元素个数是算术，时间不是。序列短的时候，每次调用的固定开销盖住了增长；序列长了，矩阵放不进缓存，还没等乘法成为瓶颈，内存先成了瓶颈。线程数、batch、内核实现换一换，曲线就换一条。这一格连跑两遍，同一台机器也不会给出同样的数。
#
# 所以，16 倍解释了长上下文为什么有压力，却不能据此断言一个服务也慢 16 倍：那还要看 batch、内存访问、内核实现，以及模型里注意力以外的一切。
#
# 在一台双核虚拟机上，旁边还跑着别的程序，某一次运行是这样的；你的会不同：
#
# ![元素、字节和微秒随 T 的变化，两个轴都是对数：元素和字节是斜率为 2 的直线，时间不是直线](figures/costs.svg)
#
# </details>

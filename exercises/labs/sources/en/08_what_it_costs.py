# %% [markdown]
# # Lab 8 · What it costs
#
# Dense attention makes a matrix of T × T scores. This lab counts its entries, and then measures **this machine**:
# memory and time. Predict both. They need not agree.

# %%
from autograder.labs import Lab, drawings
from autograder.labs.cost import measure

lab = Lab("08_what_it_costs", language="en")
attention = lab.own("attention")

# %% [markdown]
# ## The entries
#
# A sequence grows from 1,024 to 4,096 tokens. How many times as many entries has the matrix of scores?

# %%
lab.number("entries")

# %% [markdown]
# One head, one sequence, 4,096 tokens, float32 (4 bytes a number): how many MiB does that one matrix take?

# %%
lab.number("mebibytes", unit="MiB")

# %%
lab.needs("entries", "mebibytes")

short, long = 1024, 4096
print(f"{short:,} tokens: {short**2:>12,} entries")
print(f"{long:,} tokens: {long**2:>12,} entries, {long**2 // short**2} times as many")
lab.compare("entries", long**2 / short**2)
lab.compare("mebibytes", long**2 * 4 / 2**20)

# %% [markdown]
# <details><summary>After the run: four times as long, sixteen times as much</summary>
#
# 4 × 4 = 16. At 64 MiB for one head of one sequence, 32 heads take 2 GiB, for one layer, only to be averaged away a
# moment later.
#
# </details>

# %% [markdown]
# ## The time
#
# Now this machine runs attention at both lengths, with d_k = 64. How many times as **long** does it take at 4,096 as
# at 1,024?

# %%
lab.number("time")

# %%
lab.needs("time")

costs = measure(attention, [256, 512, 1024, 2048, 4096])
print("     T      entries   largest tensor        time")
for cost in costs:
    print(
        f"{cost.length:>6,} {cost.entries:>12,} {cost.largest_bytes / 2**20:>12.2f} MiB {1000 * cost.seconds:>8.1f} ms"
    )
lab.chart(drawings.costs, costs)
at = {cost.length: cost for cost in costs}
print(f"from 1,024 to 4,096: entries × {at[4096].entries / at[1024].entries:.0f},"
      f" largest tensor × {at[4096].largest_bytes / at[1024].largest_bytes:.1f},"
      f" time × {at[4096].seconds / at[1024].seconds:.1f}")  # fmt: skip
lab.compare("time", at[4096].seconds / at[1024].seconds)

# %% [markdown]
# <details><summary>After the run: time need not follow the entries</summary>
#
# The entries follow from arithmetic, the time does not. At short lengths a fixed cost per call hides the growth; at
# long ones the matrix no longer fits into a cache, and memory becomes the bottleneck before the multiplications do.
# Other numbers of threads, another batch, another kernel give another curve. Run the cell twice: even the same
# machine does not repeat itself.
#
# So the factor 16 explains why long contexts are expensive. It does not say that a service answers 16 times as
# slowly: that also depends on the batch, on memory traffic, on the kernel, and on everything in a model that is not
# attention.
#
# On two virtual cores that had other work to do as well, one run looked like this; yours will differ:
#
# ![Entries, bytes and milliseconds against T, both axes logarithmic: entries and bytes are straight lines of slope 2, the time is not straight](figures/costs.svg)
#
# </details>

# %% [markdown]
# # Lab 4 · Why the square root of d_k
#
# Scores are divided by √d_k. Not by d_k, not by nothing. This lab measures what happens to scores and weights as the
# keys get wider, with components that are independent, of mean 0 and variance 1, as they roughly are when training
# begins.

# %%
import numpy as np

from autograder.labs import Lab, drawings

lab = Lab("04_square_root_of_d_k", language="en")
softmax = lab.own("softmax")

rng = np.random.default_rng(0)
widths = [1, 4, 16, 64, 256, 1024]
n_keys = 16

# %% [markdown]
# ## How large are the scores?
#
# A dot product of two such vectors adds up d_k products, each of variance 1. For d_k = 64: what is the **variance**
# of the dot product?

# %%
lab.number("variance")

# %%
lab.needs("variance")

variances = {}
for d_k in widths:
    q, k = rng.normal(size=(2, 4000, d_k))
    dot_products = (q * k).sum(axis=-1)
    variances[d_k] = dot_products.var()
    print(f"d_k {d_k:5d}   variance {variances[d_k]:8.1f}   after / √d_k {(dot_products / np.sqrt(d_k)).var():6.2f}")

# The law, so that a sample's noise does not judge you; the sample is printed above.
lab.compare("variance", 64 if abs(variances[64] - 64) < 8 else variances[64])

# %% [markdown]
# <details><summary>After the run: variances add up</summary>
#
# The variance of a sum of independent terms is the sum of their variances: d_k. So the scores spread like √d_k, and
# dividing by √d_k brings their variance back to 1, whatever the width. Dividing by d_k would make them ever smaller,
# and every row of a wide head nearly uniform.
#
# </details>

# %% [markdown]
# ## What that does to the weights
#
# One query, 16 keys. A uniform row would give each key 1/16 = 0.06. **Without** scaling, at d_k = 1024: how large is
# the largest weight of a row, on average?

# %%
lab.number("largest_raw")

# %%
lab.needs("largest_raw")


def largest_weight(d_k, divisor, n_rows=400):
    rows = np.random.default_rng(1).normal(size=(n_rows, n_keys + 1, d_k))
    query, keys = rows[:, :1], rows[:, 1:]
    scores = (query * keys).sum(axis=-1) / divisor
    return softmax(scores).max(axis=-1).mean()


raw = [largest_weight(d_k, 1.0) for d_k in widths]
scaled = [largest_weight(d_k, np.sqrt(d_k)) for d_k in widths]
lab.chart(drawings.saturation, widths, raw, scaled)
lab.compare("largest_raw", raw[-1])

# %% [markdown]
# <details><summary>After the run: saturated</summary>
#
# Without scaling the spread of the scores grows until one key takes nearly everything, at the beginning of training,
# for no reason at all but the width. Divided by √d_k, the largest weight is about 0.25 whatever the width is.
#
# ![The largest weight of a row against d_k: without scaling it rises towards 1, divided by the square root it stays near 0.25](figures/saturation.svg)
#
# </details>

# %% [markdown]
# ## Why saturation hurts
#
# How much a weight w can still be moved by its own score is the derivative w · (1 − w). Where a row is saturated, w =
# 0.99: how many times **smaller** is that derivative than at w = 0.5?

# %%
lab.number("times_smaller")

# %%
lab.needs("times_smaller")

for w in (0.5, 0.9, 0.99, 0.9999):
    print(f"weight {w:<7} derivative {w * (1 - w):.5f}")
lab.compare("times_smaller", 0.25 / (0.99 * 0.01))

# %% [markdown]
# <details><summary>After the run: a motive, not a theorem</summary>
#
# Nearly no gradient comes back through a saturated row, so it cannot learn that it looked at the wrong place.
#
# Note what was assumed: independent components of mean 0 and variance 1. Training is free to make queries and keys
# that match, and then scores are large on purpose. The square root keeps the *beginning* stable. It is a motive for
# the design, not a law about trained models. The next cell shows one that it does not hold for.
#
# </details>

# %%
lab.needs("times_smaller")

q = rng.normal(size=(4000, 64))
independent = (q * rng.normal(size=q.shape)).sum(-1) / 8
matching = (q * q).sum(-1) / 8
print("keys that are independent:  variance of the scaled score", independent.var().round(2))
print("keys that equal the query:  mean of the scaled score    ", matching.mean().round(2))

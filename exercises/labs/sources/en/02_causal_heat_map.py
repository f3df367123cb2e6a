# %% [markdown]
# # Lab 2 · The causal heat map
#
# Four positions, each with a fixed query, key and value of two numbers. A model that predicts the next token may not
# look at it, so query *i* reads the keys 0 to *i*. You predict rows before you see them, then take the mask away,
# turn the temperature, and edit any cell you like.
#
# Before you believe a heat map, check three things: which axis is the query, what the mask did, and what the rows add
# up to.

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("02_causal_heat_map", language="en")
softmax = lab.own("softmax")
causal_mask = lab.own("causal_mask")

query = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
value = np.array([[10.0, 0.0], [0.0, 20.0], [5.0, 5.0], [-10.0, 10.0]])


def weights_of(allowed, temperature=1.0):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    scores = np.where(allowed, scores, -np.inf)  # before the softmax
    return softmax(scores, temperature=temperature)


causal = causal_mask(4)
everything = np.ones((4, 4), dtype=bool)

# %% [markdown]
# ## The first row
#
# With the causal mask on: which weights does the **first** query have? Draw its row.

# %%
lab.draw_row("first_row", keys=4)

# %%
lab.needs("first_row")

weights = weights_of(causal)
print("first row:", weights[0], " it reads", causal[0].sum(), "key")
lab.compare("first_row", weights[0])

# %% [markdown]
# ## Ten times as warm
#
# Scores are divided by the temperature before the softmax. At temperature 10, still with the mask: what becomes of
# the first row, and what of the last?

# %%
lab.choose(
    "first_row_warm",
    a="It moves towards [0.25, 0.25, 0.25, 0.25]",
    b="It stays [1, 0, 0, 0]",
    c="It becomes [0.1, 0, 0, 0]: everything is divided by 10",
)

# %%
lab.choose(
    "last_row_warm",
    a="Its four weights come closer to each other",
    b="Its largest weight grows",
    c="It stays as it is",
)

# %%
lab.needs("first_row", "first_row_warm", "last_row_warm")

warm = weights_of(causal, temperature=10.0)
lab.heat_map(weights, causal, title="Temperature 1", bars=True)
lab.heat_map(warm, causal, title="Temperature 10", bars=True)

for temperature in (0.01, 1.0, 10.0, 1000.0):
    print(f"first row at temperature {temperature:g}:", weights_of(causal, temperature)[0])

first = "b" if np.array_equal(warm[0], weights[0]) else "a" if warm[0].sum() > 0.5 else "c"
spread = [np.ptp(table[-1]) for table in (weights, warm)]
last = "c" if spread[1] == spread[0] else "a" if spread[1] < spread[0] else "b"
lab.compare("first_row_warm", first)
lab.compare("last_row_warm", last)

# %% [markdown]
# <details><summary>After the run: what the temperature can and cannot do</summary>
#
# The first query has one legal key. Whatever its score is and whatever it is divided by, all the weight goes there:
# [1, 0, 0, 0] at any temperature. The last query has four legal keys, and a higher temperature brings their scores
# closer together, so the row moves towards uniform, **among the legal keys**. A temperature never leaks weight to the
# future: minus infinity divided by 10 is still minus infinity.
#
# ![The causal weights at temperature 1: a lower triangle, every row adds up to 1, and the last row is 0.61, 0.07, 0.30, 0.02](figures/causal.svg)
#
# ![The same at temperature 10: the first row is still 1, 0, 0, 0, and the last row is nearly uniform](figures/causal_warm.svg)
#
# </details>

# %% [markdown]
# ## The mask off
#
# Now every query may read every key. How much of its weight does the **second** query (query 1) give to the two keys
# that were hidden from it, together?

# %%
lab.number("to_the_future")

# %%
lab.needs("to_the_future")

unmasked = weights_of(everything)
lab.heat_map(unmasked, title="Without a mask", bars=True)
print("query 1, keys 2 and 3 together:", unmasked[1, 2:].sum().round(3))
print("row sums:", unmasked.sum(axis=-1))
lab.compare("to_the_future", unmasked[1, 2:].sum())

# %% [markdown]
# <details><summary>After the run: the rows still add up to 1</summary>
#
# The row sums do not tell you whether there was a mask: they are 1 with it and without it. What changed is who
# shares. The keys 2 and 3 match query 1 exactly as well as key 1 does, so they take two thirds of what key 0 leaves
# over: 0.62 of all its weight goes to tokens that it is supposed to predict.
#
# The last row is the only one that stays as it was. It could see everything before, too.
#
# ![Without a mask, every cell of the four by four table has some weight](figures/causal_off.svg)
#
# </details>

# %% [markdown]
# ## Your turn
#
# Switch the mask, move the slider, open **Q**, **K**, **V** or **mask** and edit any cell: the picture and the last
# row's output follow. Try at least this: block every key of one query. What are its weights, and what is its row sum?
# And which of Q, K and V can you edit without moving a single weight?

# %%
lab.explore(query, key, value, softmax=softmax, causal_mask=causal_mask)

# %% [markdown]
# <details><summary>What there is to see, if you read this without a running kernel</summary>
#
# The pictures above are what the form shows at three of its settings. With every key of a query blocked, its scores
# are all minus infinity. A naive softmax makes NaN of that, since it computes minus infinity minus minus infinity.
# The course promises zeros: a row sum of 0, and an output of 0. V moves no weight.
#
# </details>

# %% [markdown]
# # Lab 5 · Zeroing after the softmax
#
# The mask belongs before the softmax: the scores of the future become minus infinity. What if one sets the *weights*
# of the future to 0 afterwards? The picture has zeros in the same places. Is it the same attention?

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("05_zeroing_after", language="en")
softmax = lab.own("softmax")
causal_mask = lab.own("causal_mask")

query = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
scores = query @ key.T / np.sqrt(2)
causal = causal_mask(4)

# %% [markdown]
# ## What the rows add up to
#
# The softmax goes over all four keys; then the weights of the future are set to 0, and nothing else is done. What is
# the row sum of the **first** row?

# %%
lab.choose("first_sum", a="1", b="Less than 1", c="More than 1")

# %% [markdown]
# And of the **last** row?

# %%
lab.choose("last_sum", a="1", b="Less than 1", c="More than 1")

# %%
lab.needs("first_sum", "last_sum")

zeroed = softmax(scores) * causal
lab.heat_map(zeroed, causal, title="Zeroed after the softmax")
print("row sums:", zeroed.sum(axis=-1).round(3))


def against_one(total):
    return "a" if np.isclose(total, 1) else "b" if total < 1 else "c"


lab.compare("first_sum", against_one(zeroed[0].sum()))
lab.compare("last_sum", against_one(zeroed[-1].sum()))

# %% [markdown]
# <details><summary>After the run: a weight that nobody gets</summary>
#
# The future took part in the division and was then thrown away. What it had taken is missing: the row sums are 0.43,
# 0.38, 0.96 and 1. The output of the first query is 0.43 times its value, as if the model had become quieter at the
# beginning of the text. Only the last row, which has no future, is right.
#
# ![The weights zeroed after the softmax: the row sums are 0.43, 0.38, 0.96 and 1](figures/zeroed.svg)
#
# </details>

# %% [markdown]
# ## It also leaks
#
# The zeros stand where the future was. Now the **last key** is changed, which query 0 may not read. With zeroing
# afterwards, does the output of query 0 change?

# %%
lab.choose("leak", a="No: its weight on that key is 0", b="Yes")

# %%
lab.needs("leak")

changed = key.copy()
changed[3] = [3.0, 1.0]
scores_changed = query @ changed.T / np.sqrt(2)


def before(scores):
    return softmax(np.where(causal, scores, -np.inf))


def afterwards(scores):
    return softmax(scores) * causal


print("zeroed after:  first row", afterwards(scores)[0].round(3), "->", afterwards(scores_changed)[0].round(3))
print("masked before: first row", before(scores)[0].round(3), "->", before(scores_changed)[0].round(3))
leaked = not np.allclose(afterwards(scores)[0], afterwards(scores_changed)[0])
lab.compare("leak", "b" if leaked else "a")

# %% [markdown]
# <details><summary>After the run: the future, heard through the wall</summary>
#
# The future key is in the denominator. A model trained so can read from the size of its own output how well the
# *next* tokens match: the answer that it is supposed to predict. Causality is a border for information, and a zero in
# a picture does not make one.
#
# </details>

# %% [markdown]
# ## And if one renormalises?
#
# After zeroing, divide each row by its sum. Mathematically, that is masking before. In float64, with a future score
# that is larger by 1000: what is the first row?

# %%
lab.choose("renormalised", a="[1, 0, 0, 0], as it should be", b="NaN, or zeros", c="[0.5, 0, 0, 0.5]")

# %%
lab.needs("renormalised")

extreme = scores.copy()
extreme[0, 3] += 1000
with np.errstate(invalid="ignore"):
    row = afterwards(extreme)[0]
    repaired = row / row.sum()
print("ordinary scores:", (afterwards(scores)[0] / afterwards(scores)[0].sum()).round(3))
print("zeroed:         ", row)
print("repaired:       ", repaired)
print("masked before:  ", before(extreme)[0])
lab.compare(
    "renormalised", "a" if np.allclose(repaired, [1, 0, 0, 0]) else "c" if np.allclose(repaired[0], 0.5) else "b"
)

# %% [markdown]
# <details><summary>After the run: right on paper</summary>
#
# With ordinary scores the repair works. But the large future score took all of the weight, the legal key got
# exp(−1000) = 0 of it, and 0 divided by 0 is NaN. Masked before, the row never hears of the future. That is why the
# mask goes before the softmax, and minus infinity into the scores.
#
# </details>

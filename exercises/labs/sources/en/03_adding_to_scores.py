# %% [markdown]
# # Lab 3 · Adding to the scores
#
# Write down what you expect before you run: that is how you find out whether you understood the mechanism or only
# looked at a nice picture. Here something is added to the scores, first to all of them, then to one column.

# %%
import numpy as np

from autograder.labs import Lab, drawings

lab = Lab("03_adding_to_scores", language="en")
softmax = lab.own("softmax")

scores = np.array([1.414, -0.707, 0.707, -2.121])  # the last row of lab 2
values = np.array([[10.0, 0.0], [0.0, 20.0], [5.0, 5.0], [-10.0, 10.0]])

# %% [markdown]
# ## +10 for everyone
#
# Every legal score of the row gets 10 more. What happens to the weights?

# %%
lab.choose(
    "plus_10",
    a="They become more extreme: the largest takes nearly everything",
    b="They become more even",
    c="Nothing: they stay as they are",
)

# %%
lab.needs("plus_10")

before = softmax(scores)
after = softmax(scores + 10)
print("before  ", before.round(4), " output", (before @ values).round(3))
print("+10     ", after.round(4), " output", (after @ values).round(3))
change = after.max() - before.max()
lab.compare("plus_10", "c" if abs(change) < 1e-9 else "a" if change > 0 else "b")

# %% [markdown]
# <details><summary>After the run: a factor that cancels</summary>
#
# Adding 10 multiplies every exponential by the same e¹⁰. The sum grows by the same factor, and the division takes it
# out again. Softmax sees only the **differences** between scores of one row.
#
# </details>

# %% [markdown]
# ## +100, in float32, without care
#
# Here is a softmax as one writes it down from the formula, with nothing subtracted, in the float32 that models use.
# The scores get 100 more. Mathematically nothing changes. What does the machine return?


# %%
def naive_softmax(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


# %%
lab.choose(
    "naive_100",
    a="The same weights, to rounding",
    b="NaN",
    c="All zeros",
)

# %%
lab.needs("naive_100")

large = (scores + 100).astype(np.float32)
with np.errstate(over="ignore", invalid="ignore"):
    careless = naive_softmax(large)
    print("exp(100) in float32:", np.exp(np.float32(100)), "  the largest float32:", np.finfo(np.float32).max)
careful = softmax(large)
print("naive   ", careless)
print("careful ", careful.round(4))
lab.compare("naive_100", "b" if np.isnan(careless).any() else "a" if np.allclose(careless, before, atol=1e-5) else "c")

# %% [markdown]
# <details><summary>After the run: why the maximum is subtracted first</summary>
#
# exp(88.8) is already more than float32 can hold, so the exponentials are infinite, and infinity divided by infinity
# is NaN. If a constant may be added without changing anything, one may also be *subtracted*. Take the maximum, and no
# exponent is above 0.
#
# This is the answer to the tutorial's own question: +100 for every legal score does not change the output, in
# mathematics; and a careful implementation keeps it true on a machine.
#
# </details>

# %% [markdown]
# ## A bias on one column
#
# Now only key 1 gets 1 more, and the others stay. Its weight was about 0.07. By which factor does the **ratio** of
# its weight to that of key 0 grow?

# %%
lab.number("ratio")

# %%
lab.needs("ratio")

biased = softmax(scores + np.array([0.0, 1.0, 0.0, 0.0]))
lab.chart(drawings.bias, before, biased)
growth = (biased[1] / biased[0]) / (before[1] / before[0])
print("ratio before", (before[1] / before[0]).round(4), " after", (biased[1] / biased[0]).round(4))
print("weights after", biased.round(3), " sum", biased.sum().round(6))
lab.compare("ratio", growth)

# %% [markdown]
# <details><summary>After the run: differences are what counts</summary>
#
# One more on a score multiplies its exponential by e ≈ 2.718, and so its ratio to any other key. The weight itself
# grows by less, because the sum grows too: from 0.07 to 0.18. The other weights all shrink, though nobody touched
# their scores, and keep their ratios to each other.
#
# So: the same shift for a whole row is invisible; a different one for each column is not. Position biases, and
# padding masks as additive biases, work by exactly this.
#
# ![Bars of the weights before and after a bias of 1 on key 1: key 1 grows from 0.073 to 0.176, all others shrink](figures/bias.svg)
#
# </details>

# %% [markdown]
# ## Go on yourself
#
# What must you add to the score of key 1 so that it gets half of the weight? Work it out with the sum of the other
# exponentials, then check with `softmax`. And what does a bias of `-np.inf` do?

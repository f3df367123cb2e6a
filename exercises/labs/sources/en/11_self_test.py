# %% [markdown]
# # Self-test
#
# Sixteen questions. Answer each, then run the cell under it: it tells you whether you were right, and why. Until you
# have answered it says nothing.

# %%
from autograder.labs import Lab

lab = Lab("11_self_test", language="en")

# %% [markdown]
# ## 1
# Every legal score of each row gets 100 more. Does the output change?

# %%
lab.choose(
    "plus_100",
    a="Yes, the largest weight takes over",
    b="Mathematically not",
    c="Yes, everything becomes 100 times as large",
)

# %%
lab.reveal("plus_100")

# %% [markdown]
# ## 2
# Each *column* of the scores gets a bias of its own. Do the weights change?

# %%
lab.choose("column_bias", a="Yes", b="No, for the same reason as before")

# %%
lab.reveal("column_bias")

# %% [markdown]
# ## 3
# Query `[1, 0]`, keys `[1, 0]` and `[0, 1]`, scores divided by √2. What is the weight of the first key?

# %%
lab.number("first_weight")

# %%
lab.reveal("first_weight")

# %% [markdown]
# ## 4
# The value of one key becomes ten times as large. What happens to the weights?

# %%
lab.choose("value_tenfold", a="That key's weight grows", b="That key's weight shrinks", c="Nothing")

# %%
lab.reveal("value_tenfold")

# %% [markdown]
# ## 5
# X is `[T, d_model]`. Which widths must be equal?

# %%
lab.choose("widths", a="Those of Q and K", b="Those of Q, K and V", c="Those of K and V")

# %%
lab.reveal("widths")

# %% [markdown]
# ## 6
# A causal mask, four positions, temperature 1,000. What is the weight of the first query on the first key?

# %%
lab.number("first_row")

# %%
lab.reveal("first_row")

# %% [markdown]
# ## 7
# The same at an enormous temperature: what is the weight of the *last* query on key 0?

# %%
lab.number("last_row")

# %%
lab.reveal("last_row")

# %% [markdown]
# ## 8
# Padding and causal mask together have left one query nothing to read: all its scores are minus infinity. What does a
# plain softmax make of them?

# %%
lab.choose("fully_masked", a="A row of zeros", b="A uniform row", c="NaN")

# %%
lab.reveal("fully_masked")

# %% [markdown]
# ## 9
# Somebody sets the weights of the future to 0 after the softmax and does nothing else. How can one see it?

# %%
lab.choose("zeroed", a="Rows add up to less than 1", b="Rows add up to more than 1", c="The last row is wrong")

# %%
lab.reveal("zeroed")

# %% [markdown]
# ## 10
# A mask in which True means “may be read” is handed to a library in which True means “hidden”. What happens?

# %%
lab.choose(
    "conventions",
    a="An error about the mask",
    b="Every query reads what it should not, in rows that still add up to 1",
    c="The mask has no effect",
)

# %%
lab.reveal("conventions")

# %% [markdown]
# ## 11
# Components of q and k are independent, of mean 0 and variance 1, and d_k = 256. What is the variance of the scores
# **after** division by √d_k?

# %%
lab.number("variance")

# %%
lab.reveal("variance")

# %% [markdown]
# ## 12
# A model has eight heads. What may be said before any experiment?

# %%
lab.choose(
    "roles",
    a="One of them does syntax",
    b="They read with different projections; what each does has to be observed",
    c="They all do the same, eight times for safety",
)

# %%
lab.reveal("roles")

# %% [markdown]
# ## 13
# From 1,024 to 4,096 tokens: how many times as many entries has the matrix of scores?

# %%
lab.number("entries")

# %%
lab.reveal("entries")

# %% [markdown]
# ## 14
# So a service with this model answers …

# %%
lab.choose(
    "latency",
    a="16 times as slowly",
    b="4 times as slowly",
    c="more slowly by a factor that this does not tell",
)

# %%
lab.reveal("latency")

# %% [markdown]
# ## 15
# FlashAttention works in tiles. Its result is …

# %%
lab.choose(
    "flash", a="attention without the small weights", b="exact attention, computed in another order", c="an estimate"
)

# %%
lab.reveal("flash")

# %% [markdown]
# ## 16
# In a heat map token j has weight 0.9. What follows?

# %%
lab.choose(
    "importance",
    a="Token j caused the answer",
    b="90 percent of what is read there is value j; what that does to the answer takes an experiment",
    c="The other tokens could be removed",
)

# %%
lab.reveal("importance")

# %% [markdown]
# ## How many?

# %%
lab.score()

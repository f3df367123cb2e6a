# %% [markdown]
# # Lab 6 · Two libraries, two conventions
#
# A boolean mask is a table of True and False. Which of the two means *may be read* is a convention, and PyTorch
# itself has both:
#
# | | True means |
# |---|---|
# | `torch.nn.functional.scaled_dot_product_attention`, `attn_mask` (and this course's `allowed`) | may be read |
# | `torch.nn.MultiheadAttention`, `attn_mask` and `key_padding_mask` | must **not** be read |
# | tokenizers' `attention_mask` of 0 and 1 | 1 is a real token, may be read |
#
# Nothing fails when you mix them up. Shapes fit, rows add up to 1. This lab shows what it looks like.

# %%
import numpy as np
import torch
import torch.nn.functional as F

from autograder.labs import Lab

lab = Lab("06_two_conventions", language="en")
causal_mask = lab.own("causal_mask")

query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, -1.0]])
key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
allowed = torch.from_numpy(causal_mask(4))

# nn.MultiheadAttention with one head and identity matrices is plain attention.
multi_head = torch.nn.MultiheadAttention(2, 1, bias=False, batch_first=True)
with torch.no_grad():
    multi_head.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
    multi_head.out_proj.weight.copy_(torch.eye(2))


def functional_weights(mask):
    """The weights of scaled_dot_product_attention: its output where the values are the identity."""
    return F.scaled_dot_product_attention(query, key, torch.eye(4), attn_mask=mask)


def module_weights(mask, key_padding_mask=None):
    padding = None if key_padding_mask is None else key_padding_mask[None]
    with torch.no_grad():
        _, weights = multi_head(query[None], key[None], key[None], attn_mask=mask, key_padding_mask=padding)
    return weights[0]


# %% [markdown]
# ## The same mask in both
#
# `allowed` is the causal mask, True where a query may read. It is handed to `nn.MultiheadAttention` **as it is**.
# Query 1 matches the keys 1, 2 and 3 equally well and key 0 less. Draw the row of query 1.

# %%
lab.draw_row("turned_round", keys=4)

# %% [markdown]
# And the last query, which by the causal mask may read everything?

# %%
lab.choose(
    "last_row",
    a="Its row is what it should be: there is nothing to hide from it",
    b="Its row is NaN",
    c="Its row is uniform",
)

# %%
lab.needs("turned_round", "last_row")

right = functional_weights(allowed)
turned = module_weights(allowed)
lab.heat_map(right, allowed, title="scaled_dot_product_attention(attn_mask=allowed)")
lab.heat_map(turned, ~allowed, title="nn.MultiheadAttention(attn_mask=allowed)")
lab.compare("turned_round", turned[1])
last = turned[-1]
lab.compare("last_row", "b" if last.isnan().any() else "a" if torch.allclose(last, right[-1]) else "c")

print("with ~allowed the module agrees:", torch.allclose(module_weights(~allowed), right, atol=1e-6))

# %% [markdown]
# <details><summary>After the run: a model that reads only the future</summary>
#
# Turned round, query 1 reads exactly what it must not: the keys 2 and 3, half each. Every row but the last adds up to
# 1, and looks as healthy as before. The last query is left with nothing, and the softmax of nothing is NaN. One NaN
# in the last row is luck: it is the only thing that gives the mistake away. A mask that leaves something in each row
# would train without a word, on the answers.
#
# ![Turned round: query 0 reads the keys 1 to 3, query 1 the keys 2 and 3, query 2 only key 3, and query 3 is NaN](figures/turned_round.svg)
#
# </details>

# %% [markdown]
# ## Turning a mask of integers
#
# A tokenizer gives `attention_mask = [1, 1, 1, 0]`: three real tokens, one of padding. `key_padding_mask` wants True
# on the padding. In NumPy somebody writes `~attention_mask`, on the integers, and then makes it boolean. Which keys
# are blocked?

# %%
lab.choose("bitwise", a="Key 3 alone, as meant", b="None", c="All of them")

# %%
lab.needs("bitwise")

attention_mask = np.array([1, 1, 1, 0])
wrong = (~attention_mask).astype(bool)
meant = ~attention_mask.astype(bool)
print("~attention_mask      ", ~attention_mask)
print("as booleans          ", wrong)
print("boolean first, then ~", meant)
blocked = wrong.sum()
lab.compare("bitwise", "a" if np.array_equal(wrong, meant) else "b" if blocked == 0 else "c")
print("the module with what was meant:")
print(module_weights(None, torch.from_numpy(meant)).round(decimals=3))

# %% [markdown]
# <details><summary>After the run: two kinds of not</summary>
#
# On integers `~` turns every bit: ~1 is −2 and ~0 is −1, and both are True. Make it boolean first, then negate. Or,
# better, write one function that takes the convention by its name (exercise 3's `as_allowed`), and let no mask into
# your code without it.
#
# </details>

# %% [markdown]
# ## Two right masks that make a wrong one
#
# A batch is padded on the **left**: of four positions the first two are padding. The causal mask is right, the
# padding mask is right, and a key must be allowed by both. How many of the four queries have nothing left to read?

# %%
lab.number("nothing_left")

# %%
lab.needs("nothing_left")

real = torch.tensor([False, False, True, True])
merged = allowed & real
print(merged.int())
empty = int((~merged.any(dim=-1)).sum())
lab.compare("nothing_left", empty)
print("the module:    ", module_weights(~merged)[0])
print("the functional:", functional_weights(merged)[0])

# %% [markdown]
# <details><summary>After the run: fully masked rows</summary>
#
# The queries 0 and 1 are padding themselves, may read only what stands before them, and that is padding too. One
# library answers with NaN, the other with zeros; and a NaN in a row that nobody reads still spoils the gradients of
# everything. That is why this course asks for zeros, and for a function that tells which rows are fully masked.
#
# </details>

# %% [markdown]
# # Lab 7 · Heads
#
# Several heads are not the same computation again. Each has projections of its own, reads in a subspace of its own,
# and all that they bring back is joined and projected once more. What may be said about one head, and what may not?

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings

lab = Lab("07_heads", language="en")
MultiHeadAttention = lab.own("MultiHeadAttention")

d_model, n_heads, n_tokens = 512, 8, 6
rng = np.random.default_rng(10)

# %% [markdown]
# ## 512 into 8
#
# A model is 512 wide and has 8 heads, all of the same width. How wide is the query of **one head**?

# %%
lab.number("d_head")

# %% [markdown]
# And the parameters: compared with **one** head of width 512, how many do 8 heads have, projections and biases
# together?

# %%
lab.choose("parameters", a="8 times as many", b="Exactly as many", c="An eighth")

# %%
lab.needs("d_head", "parameters")


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


one, eight = MultiHeadAttention(d_model, 1), MultiHeadAttention(d_model, n_heads)
print(f"d_model {d_model} = {n_heads} heads × {d_model // n_heads}")
print(f"parameters with 1 head {count(one):,}, with 8 heads {count(eight):,}")
lab.compare("d_head", d_model // n_heads)
ratio = count(eight) / count(one)
lab.compare("parameters", "b" if ratio == 1 else "a" if ratio > 1 else "c")

# %% [markdown]
# <details><summary>After the run: cut, not copied</summary>
#
# 512 = 8 × 64. The projections are 512 by 512 in both cases; with 8 heads the result is cut into eight pieces, and
# each piece makes weights of its own. What grows is the number of weight tables: eight T × T tables instead of one.
# For the same parameters a token may read from eight places at once, each time in fewer dimensions.
#
# </details>

# %% [markdown]
# ## Eight tables
#
# Six tokens of random numbers, and projections of random numbers, as before any training. Here are two of the eight
# heads.

# %%
scale = d_model**-0.5
module = MultiHeadAttention(d_model, n_heads)
state = {
    name: torch.tensor(rng.normal(size=tuple(old.shape)) * (scale if old.ndim == 2 else 0.0), dtype=torch.float32)
    for name, old in sorted(module.state_dict().items())
}
module.load_state_dict(state)
tokens = torch.tensor(rng.normal(size=(1, n_tokens, d_model)), dtype=torch.float32)

with torch.no_grad():
    output, weights = module(tokens)
print("weights:", tuple(weights.shape), "  output:", tuple(output.shape))
lab.heat_map(weights[0, 0], title="Head 0")
lab.heat_map(weights[0, 5], title="Head 5")

# %% [markdown]
# <details><summary>If you read this without a running kernel</summary>
#
# ![The weights of head 0, six by six, every row adds up to 1](figures/head_0.svg)
#
# ![The weights of head 5: another pattern over the same tokens](figures/head_5.svg)
#
# </details>
#
# They look different, and nobody has taught them anything: these are random numbers. A pattern in a picture is not
# yet a role.

# %% [markdown]
# ## Does head 5 have a number?
#
# Heads 0 and 5 change places: their rows in the three input projections, and the columns of the output projection
# that read them. What does the module return now?

# %%
lab.choose(
    "swapped",
    a="The same output: heads have no order",
    b="Another output: head 0 does another job than head 5",
    c="The same output, but only because nothing was trained",
)

# %%
lab.needs("swapped")

order = [5, 1, 2, 3, 4, 0, 6, 7]
places = torch.cat([torch.arange(64) + 64 * head for head in order])
swapped_state = {
    name: old[:, places] if name == "out_proj.weight" else old if name == "out_proj.bias" else old[places]
    for name, old in state.items()
}
swapped = MultiHeadAttention(d_model, n_heads)
swapped.load_state_dict(swapped_state)
with torch.no_grad():
    swapped_output, swapped_weights = swapped(tokens)

difference = (output - swapped_output).abs().max().item()
print(f"largest difference of the outputs: {difference:.1e}")
print("head 0 now has the weights of head 5:", torch.allclose(swapped_weights[0, 0], weights[0, 5], atol=1e-6))
lab.compare("swapped", "a" if difference < 1e-4 else "b")

# %% [markdown]
# <details><summary>After the run: numbers are not roles</summary>
#
# The output is a sum of what each head contributes, and a sum has no order, trained or not. “Head 5 does syntax” can
# be true of one trained model, found out by experiments on it, and of no other. Training has no place where somebody
# writes down which head has to do what.
#
# </details>

# %% [markdown]
# ## Looking sharp and being important
#
# Take each head away in turn (its columns of the output projection become 0) and measure how far the output moves. Is
# the head with the **sharpest** rows, the largest average top weight, also the one whose loss moves the output
# **most**?

# %%
lab.choose("sharpest", a="Yes", b="No")

# %%
lab.needs("sharpest")


def without(head):
    lesser = dict(state)
    lesser["out_proj.weight"] = state["out_proj.weight"].clone()
    lesser["out_proj.weight"][:, 64 * head : 64 * (head + 1)] = 0
    module.load_state_dict(lesser)
    with torch.no_grad():
        return module(tokens)[0]


sharpness = weights[0].amax(dim=-1).mean(dim=-1)
moved = torch.stack([(output - without(head)).norm(dim=-1).mean() for head in range(n_heads)])
lab.chart(drawings.heads, sharpness.tolist(), moved.tolist())
lab.compare("sharpest", "a" if sharpness.argmax() == moved.argmax() else "b")

# %% [markdown]
# <details><summary>After the run: measure, then speak</summary>
#
# How sharp a row looks says where a head reads; what its loss costs depends on the values that it reads and on the
# output projection, which the picture does not show. Here they disagree; with other random numbers (change the seed
# 10 in the first cell) they may agree, and that proves as little. Whoever claims a role for a head should take it
# away, replace it, and try on other inputs. And even then: what was removed makes an input for later layers that they
# may never have seen.
#
# ![For each head, how sharp its rows are and how far the output moves without it](figures/heads.svg)
#
# </details>

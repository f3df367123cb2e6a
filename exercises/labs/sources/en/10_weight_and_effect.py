# %% [markdown]
# # Lab 10 · Weight against effect
#
# A heat map shows weights. It invites the sentence “the model looked at this token, so this token mattered”. To find
# out whether a token matters, do something to it: **delete** it, **replace** it, **disturb** it. Then compare what
# happened with the weight.

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings

lab = Lab("10_weight_and_effect", language="en")
attend_one = lab.own("attend_one")
ablation_effect = lab.own("ablation_effect")

tokens = ["0", "1", "2", "3"]
query = np.array([1.0])
keys = np.log([[0.6], [0.25], [0.1], [0.05]])  # so that these are the weights
values = np.array([[2.0], [2.4], [4.0], [-4.0]])
weights, output = attend_one(query, keys, values)

print("weights", weights.round(3))
print("values ", values[:, 0])
print("output ", output.round(3))

# %% [markdown]
# ## Delete
#
# One key is taken away, and the others share its weight among them, in their old proportions. Which token, when it is
# deleted, moves the output **most**? Weights 0.6, 0.25, 0.1, 0.05; values 2, 2.4, 4, −4; output 2.

# %%
lab.choose("most", a="Token 0, weight 0.6", b="Token 1, weight 0.25", c="Token 2, weight 0.1", d="Token 3, weight 0.05")

# %% [markdown]
# And how far does the output move when token **0** is deleted?

# %%
lab.number("token_0")

# %%
lab.needs("most", "token_0")

as_tensors = [torch.from_numpy(array) for array in (query[None], keys, values)]
deleted = ablation_effect(*as_tensors)[0].numpy()
for token in range(4):
    rest = [other for other in range(4) if other != token]
    _, without = attend_one(query, keys[rest], values[rest])
    print(f"without token {token}: output {without[0]:.3f}, moved by {abs(without - output)[0]:.3f};"
          f" ablation_effect says {deleted[token]:.3f}")  # fmt: skip
lab.chart(drawings.effects, tokens, weights, {"delete": deleted})
lab.compare("most", "abcd"[int(deleted.argmax())])
lab.compare("token_0", deleted[0])

# %% [markdown]
# <details><summary>After the run: most of the weight, none of the effect</summary>
#
# Token 0 has 60 percent of the weight and its deletion moves nothing: its value *is* the output, and the others agree
# on the same number. Token 3 has the smallest weight and the largest effect, since its value is far from everything
# else. The effect of a deletion depends on the weight **and** on how far the value is from what the rest would give.
#
# ![Bars for four tokens: the weights 0.6, 0.25, 0.1, 0.05 beside the effects of deleting them, 0, 0.133, 0.222, 0.316](figures/effects.svg)
#
# </details>

# %% [markdown]
# ## Disturb
#
# Now nothing is taken away. The value of one token gets 1 more. How far does the output move when that is token
# **0**?

# %%
lab.number("disturbed")

# %%
lab.needs("disturbed")


def moved_by(new_values):
    _, after = attend_one(query, keys, new_values)
    return abs(after - output)[0]


disturbed = []
for token in range(4):
    new_values = values.copy()
    new_values[token] += 1
    disturbed.append(moved_by(new_values))
print("moved by", np.round(disturbed, 3))
lab.compare("disturbed", disturbed[0])

# %% [markdown]
# <details><summary>After the run: here it is the weight</summary>
#
# A small change of a value comes through multiplied by its weight: 0.6 for token 0. So the weight does answer a
# question, namely how sensitive the output is to *this value*, with everything else held still. It does not answer
# what would happen without the token.
#
# </details>

# %% [markdown]
# ## Replace
#
# The third intervention: the value of a token is replaced by 0, and the weights stay. Does this rank the tokens as
# **deleting** did?

# %%
lab.choose("ranking", a="Yes, in the same order", b="No, another token comes first")

# %%
lab.needs("ranking", "most", "disturbed")

replaced = []
for token in range(4):
    new_values = values.copy()
    new_values[token] = 0
    replaced.append(moved_by(new_values))
lab.chart(drawings.effects, tokens, weights, {"delete": deleted, "disturb": disturbed, "replace": replaced})
lab.compare("ranking", "a" if np.array_equal(np.argsort(replaced), np.argsort(deleted)) else "b")

# %% [markdown]
# <details><summary>After the run: three questions, three answers</summary>
#
# Replaced by 0, token 0 comes first again: 0.6 · 2 = 1.2. “How important is it” has no answer before one says:
# compared with what? Without it? With zero in its place? With another token? Each comparison is an experiment of its
# own.
#
# </details>

# %% [markdown]
# ## How often is the largest weight the largest effect?
#
# A thousand random rows of six keys, values of eight numbers. In how many **percent** of them is the key with the
# largest weight also the one whose deletion moves the output most?

# %%
lab.number("percent", unit="%")

# %%
lab.needs("percent")

rng = np.random.default_rng(10)
q, k, v = (torch.from_numpy(rng.normal(size=(1000, n, 8))) for n in (1, 6, 6))
effects = ablation_effect(q, k, v)[:, 0]
row_weights = torch.softmax((q @ k.transpose(-2, -1))[:, 0] / 8**0.5, dim=-1)
agree = (effects.argmax(dim=-1) == row_weights.argmax(dim=-1)).double().mean().item() * 100
print(f"in {agree:.0f} of 100 rows")
lab.compare("percent", agree)

# %% [markdown]
# <details><summary>After the run: a good guess, and no proof</summary>
#
# Often, but not always, and these are random values, among which none agrees with another. Large weights and large
# effects go together as long as values are alike in size and independent. In a real model neither is promised; and
# behind this row come the output projection, the residual path and the later layers, which can weaken an effect or
# undo it.
#
# One more caution: to delete or replace a token makes an input that the model may never have seen. What you measure
# then is partly its surprise.
#
# </details>

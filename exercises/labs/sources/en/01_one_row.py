# %% [markdown]
# # Lab 1 · One row by hand
#
# One query, two keys, two values. That is all of attention in the small: the query asks, the keys answer with a score
# each, and the values are what is handed over. You work the row out, and then change *what* is read without changing
# *from where*.
#
# Every experiment in these labs goes the same way: a question, your prediction, the run, and what your prediction
# missed. The cell with the answer shows nothing until you have predicted. A wrong prediction costs nothing, and
# teaches more than a right one.

# %%
import numpy as np

from autograder.labs import Lab

lab = Lab("01_one_row", language="en")
attend_one = lab.own("attend_one")

query = np.array([1.0, 0.0])
keys = np.array([[1.0, 0.0], [0.0, 1.0]])
values = np.array([[10.0, 0.0], [0.0, 20.0]])

# %% [markdown]
# ## The weights
#
# The query `[1, 0]` meets the keys `[1, 0]` and `[0, 1]`. Take the dot products, divide them by √2, take the
# exponentials, divide by their sum. Without a calculator: which key gets more, and how much more? Draw the row.

# %%
lab.draw_row("weights", keys=2)

# %%
lab.needs("weights")

scores = keys @ query
scaled = scores / np.sqrt(len(query))
exponentials = np.exp(scaled)
weights, output = attend_one(query, keys, values)

print("dot products       ", scores)
print("divided by √2      ", scaled.round(3))
print("exponentials       ", exponentials.round(3), " sum", exponentials.sum().round(3))
print("weights            ", [f"{weight:.3f}" for weight in weights])
print("output             ", [f"{number:.2f}" for number in output])
lab.heat_map([weights], title="One query, two keys")
lab.compare("weights", weights)

# %% [markdown]
# <details><summary>After the run: why 0.670 and 0.330</summary>
#
# The dot products are 1 and 0, divided by √2 they are 0.707 and 0, their exponentials 2.028 and 1. Of the sum 3.028
# the first takes 0.670 and the second 0.330. The key that does not match at all still gets a third: a score of 0 is
# an ordinary score, not an absence.
#
# The output is 0.670 · [10, 0] + 0.330 · [0, 20] = [6.70, 6.60]. It is no key, and no weight either: it is the
# weighted sum of the values.
#
# ![One row of weights: key 0 has 0.67, key 1 has 0.33, and the row sum is 1](figures/one_row.svg)
#
# </details>

# %% [markdown]
# ## From where, and what
#
# Now the first value becomes `[100, 0]` in place of `[10, 0]`. Nothing else is touched. What changes?

# %%
lab.choose(
    "first_value",
    a="The weights, and with them the output",
    b="The output alone; the weights stay",
    c="The weights alone: they are made again, and the output is still an average",
)

# %% [markdown]
# And what is the first number of the new output? It was 6.70.

# %%
lab.number("first_number")

# %%
lab.needs("first_value", "first_number")

larger = values.copy()
larger[0] = [100.0, 0.0]
new_weights, new_output = attend_one(query, keys, larger)

print("weights  before", weights.round(3), " after", new_weights.round(3))
print("output   before", output.round(2), " after", new_output.round(2))
weights_moved = not np.allclose(weights, new_weights)
output_moved = not np.allclose(output, new_output)
lab.compare("first_value", {(True, True): "a", (False, True): "b", (True, False): "c"}[weights_moved, output_moved])
lab.compare("first_number", new_output[0])

# %% [markdown]
# <details><summary>After the run: two different questions</summary>
#
# The weights come from query and keys. The values have no part in them, so the weights cannot move. The output is ten
# times as large in its first number, 0.670 · 100 = 66.98, because something else is handed over at the same place.
#
# *From where* is read and *what* is read are separate. Keep the two apart: the last lab is about nothing else.
#
# </details>

# %% [markdown]
# ## Go on yourself
#
# Change the query in the first cell, say to `[3, 0]` or `[0, 0]`, and run the lab again (`lab.forget()` begins it
# anew). With which query do both keys get the same weight? Is there one that gives a key the weight 0 exactly?

# %% [markdown]
# # Lab 9 · Tiles: the same numbers, less memory
#
# The output of attention is small; only the matrix on the way to it is large. FlashAttention never makes that matrix
# as a whole: it goes through the keys in tiles. Does it leave something out?

# %%
import numpy as np
import torch

from autograder.labs import Lab, drawings
from autograder.labs.cost import largest_bytes, random_inputs

lab = Lab("09_tiles", language="en")
softmax = lab.own("softmax")
attention = lab.own("attention")
tiled_attention = lab.own("tiled_attention")

# %% [markdown]
# ## Two tiles, the naive way
#
# One query, four keys. Somebody cuts the keys into two tiles of two, does attention in each tile by itself, and takes
# the **mean** of the two outputs. Is that the attention over all four?

# %%
lab.choose(
    "naive",
    a="Yes: each tile is attention, and the mean joins them",
    b="No: only if both tiles have the same sum of exponentials",
    c="No: tiles can never be joined again",
)

# %%
lab.needs("naive")

scores = np.array([1.414, -0.707, 0.707, -2.121])
values = np.array([10.0, 0.0, 5.0, -10.0])
whole = softmax(scores) @ values
tiles = [softmax(scores[part]) @ values[part] for part in (slice(0, 2), slice(2, 4))]
sums = [np.exp(scores[part]).sum() for part in (slice(0, 2), slice(2, 4))]
print("whole:                 ", whole.round(4))
print("each tile:             ", np.round(tiles, 4))
print("their mean:            ", np.mean(tiles).round(4))
print("sums of exponentials:  ", np.round(sums, 4))
print("weighted by those sums:", np.average(tiles, weights=sums).round(4))
same_by_mean = np.isclose(np.mean(tiles), whole)
same_by_sums = np.isclose(np.average(tiles, weights=sums), whole)
lab.compare("naive", "a" if same_by_mean else "b" if same_by_sums else "c")

# %% [markdown]
# <details><summary>After the run: what a tile has to remember</summary>
#
# Each tile divides by its own sum. Keep that sum, and the tiles can be joined exactly: weighted by their sums. So a
# tile need not remember its scores, only how much it weighed. (With large scores the exponentials overflow, so a
# maximum has to be carried along too. That is exercise 6.)
#
# </details>

# %% [markdown]
# ## The same numbers?
#
# Now 2,048 tokens, in tiles of 128 keys. Against attention with the full matrix, the output of tiled attention is …

# %%
lab.choose(
    "same",
    a="equal up to rounding",
    b="close: small weights are left out",
    c="an estimate that gets better with larger tiles",
)

# %% [markdown]
# And memory: how many times as many entries has the full matrix as one tile of 2,048 × 128?

# %%
lab.number("entries")

# %%
lab.needs("same", "entries")

length, block_size = 2048, 128
query, key, value = random_inputs(length)
with torch.inference_mode():
    whole, _ = attention(query, key, value)
    differences = {
        size: (tiled_attention(query, key, value, block_size=size) - whole).abs().max().item()
        for size in (16, 100, 128, 4096)
    }
for size, difference in differences.items():
    print(f"block_size {size:>5}: largest difference {difference:.1e}")
resolution = torch.finfo(torch.float32).eps
print(f"(the output itself is up to {whole.abs().max():.2f}, and float32 resolves about {resolution:.1e} of it)")
lab.compare("same", "a" if max(differences.values()) < 1e-5 else "b" if differences[128] < 0.01 else "c")
lab.compare("entries", length * length / (length * block_size))

# %% [markdown]
# <details><summary>After the run: exact</summary>
#
# Every block size gives the same numbers up to the last digits of float32, also one that does not divide 2,048.
# Nothing is approximated, and nothing small is dropped: the order of the additions is different, that is all. A tile
# has a sixteenth of the entries here; at 16,384 tokens it would have 1/128.
#
# </details>

# %% [markdown]
# ## Less memory
#
# The largest tensor that each way makes, measured while it runs.

# %%
lab.needs("same", "entries")

with torch.inference_mode():
    full = largest_bytes(attention, query, key, value) / 2**20
    sizes = [64, 128, 512, 2048]
    in_tiles = [largest_bytes(tiled_attention, query, key, value, block_size=size) / 2**20 for size in sizes]
lab.chart(drawings.tiles, sizes, in_tiles, full)

# %% [markdown]
# <details><summary>After the run: what is saved, and what is not</summary>
#
# The full matrix takes 16 MiB. In tiles of your own the largest tensor grows with the block size, and at 2,048 it is
# the full matrix again. (If the lab uses a library's function here, the bars are all alike: PyTorch's fused kernel
# chooses its tiles itself, inside, where they are no tensors.)
#
# The multiplications are as many as before. On a GPU tiles also save *time*, because they stay in fast memory and the
# large matrix need not travel; in plain PyTorch on a CPU they save memory.
#
# ![The largest tensor with tiles of 64, 128, 512 and 2048 keys: 0.5, 1, 4 and 16 MiB, against 16 MiB for the full matrix](figures/tiles.svg)
#
# </details>

"""The library calls that stand in for the exercises, against the reference solutions."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.labs import library
from autograder.stand_ins import attention as stand_in

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def solution(exercise, name):
    spec = importlib.util.spec_from_file_location(f"solution_{exercise}", SOLUTIONS / f"{exercise}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(5, 4, generator=generator) for _ in range(3)]


def test_one_row(tensors):
    query, keys, values = tensors[0][0].numpy(), tensors[1].numpy(), tensors[2].numpy()
    for given, right in zip(library.attend_one(query, keys, values),
                            solution("by_hand", "attend_one")(query, keys, values), strict=True):  # fmt: skip
        np.testing.assert_allclose(given, right, atol=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 10.0])
def test_softmax_with_masked_entries_and_a_masked_row(temperature):
    scores = np.array([[1.0, 2.0, -np.inf], [-np.inf] * 3])
    right = solution("softmax", "softmax")(scores, temperature=temperature)

    np.testing.assert_allclose(library.softmax(scores, temperature=temperature), right, atol=1e-12)


@pytest.mark.parametrize("sizes", [(4,), (2, 5), (5, 2), (1, 1), (3, 3)])
def test_the_causal_mask_of_any_sizes(sizes):
    np.testing.assert_array_equal(library.causal_mask(*sizes), solution("causal_mask", "causal_mask")(*sizes))


def test_attention_and_tiled_attention(tensors):
    output, weights = solution("attention", "attention")(*tensors)

    torch.testing.assert_close(library.attention(*tensors), (output, weights))
    torch.testing.assert_close(library.tiled_attention(*tensors, block_size=2), output)
    torch.testing.assert_close(
        library.tiled_attention(*tensors, causal=True),
        solution("tiled_attention", "tiled_attention")(*tensors, causal=True),
    )


@pytest.mark.parametrize("allowed", [None, torch.ones(5, 5, dtype=torch.bool).tril()])
def test_the_effect_of_taking_a_key_away(tensors, allowed):
    right = solution("ablation", "ablation_effect")(*tensors, allowed)

    torch.testing.assert_close(library.ablation_effect(*tensors, allowed), right, atol=1e-5, rtol=1e-5)


def test_heads_of_the_same_names(tensors, monkeypatch):
    monkeypatch.setitem(sys.modules, "attention", stand_in)
    own = solution("multi_head", "MultiHeadAttention")(4, 2)
    given = library.multi_head(4, 2)
    given.load_state_dict(own.state_dict())
    x = tensors[0][None]

    for mine, theirs in zip(given(x), own(x), strict=True):
        torch.testing.assert_close(mine, theirs)

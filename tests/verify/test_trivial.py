"""Answers that do nothing right: right in shape and dtype, with the same filling whatever is asked."""

from types import ModuleType

import numpy as np
import pytest
import torch

from autograder.course import Exercise
from autograder.verify.trivial import trivial_sources

ARRAYS = """
import numpy as np

def both(numbers, axis=-1):
    if axis > 5:
        raise ValueError("axis")
    return numbers * 2, [numbers.sum(axis=axis)]
"""
TENSORS = """
import torch

class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        return self.linear(x)
"""
STUB = "def both(numbers, axis=-1):\n    raise NotImplementedError\n"
ARRAY_EXERCISE = Exercise(name="both", title="Both", points=1, functions=("both",), libraries=("numpy",))
TENSOR_EXERCISE = Exercise(name="layer", title="Layer", points=1, functions=("Layer",), libraries=("torch",))


@pytest.fixture
def loaded():
    def load(exercise, solution, name):
        module = ModuleType(exercise.name)
        exec(trivial_sources(exercise, solution, STUB)[name], vars(module))
        return module

    return load


def test_there_is_the_stub_and_four_more():
    sources = trivial_sources(ARRAY_EXERCISE, ARRAYS, STUB)
    assert list(sources) == ["the stub", "zeros", "ones", "NaN", "the first argument"]
    assert sources["the stub"] == STUB.encode()


@pytest.mark.parametrize(("name", "filling"), [("zeros", 0.0), ("ones", 1.0), ("NaN", np.nan)])
def test_arrays_are_filled_and_keep_shape_dtype_and_place(loaded, name, filling):
    doubled, [summed] = loaded(ARRAY_EXERCISE, ARRAYS, name).both(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert (doubled.shape, doubled.dtype) == ((2, 3), np.float32)
    assert np.array_equal(doubled, np.full((2, 3), filling), equal_nan=True)
    assert np.array_equal(summed, np.full(2, filling), equal_nan=True)


@pytest.mark.parametrize(("name", "filling"), [("zeros", 0.0), ("ones", 1.0), ("NaN", np.nan)])
def test_what_a_module_s_forward_returns_is_filled(loaded, name, filling):
    layer = loaded(TENSOR_EXERCISE, TENSORS, name).Layer(2)
    result = layer(torch.ones(5, 2).double().float())
    assert (tuple(result.shape), result.dtype) == ((5, 3), torch.float32)
    assert np.array_equal(result.detach().numpy(), np.full((5, 3), filling), equal_nan=True)
    assert list(layer.state_dict()) == ["linear.weight", "linear.bias"]


def test_the_first_argument_comes_back(loaded):
    numbers, x = np.ones(2), torch.ones(5, 2)
    module = loaded(ARRAY_EXERCISE, ARRAYS, "the first argument")
    assert module.both(numbers) is numbers
    assert module.both(numbers=numbers, axis=0) is numbers
    assert loaded(TENSOR_EXERCISE, TENSORS, "the first argument").Layer(2)(x) is x


@pytest.mark.parametrize("name", ["zeros", "ones", "NaN", "the first argument"])
def test_what_the_solution_refuses_is_refused(loaded, name):
    module = loaded(ARRAY_EXERCISE, ARRAYS, name)
    with pytest.raises(ValueError, match="axis"):
        module.both(np.ones(2), axis=9)


def test_names_and_documentation_stay_those_of_the_solution(loaded):
    module = loaded(ARRAY_EXERCISE, ARRAYS, "zeros")
    assert module.both.__name__ == "both"

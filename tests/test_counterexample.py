"""Counterexamples read like the call that a learner would type."""

import math

import numpy as np
import pytest
import torch

from autograder.counterexample import MAX_TEXT, SHOWN_IN_FULL, cut, show, show_call


def test_a_call_reads_like_a_call():
    scores = np.array([[1.0, 2.0]])
    shown = show_call("softmax", [scores], {"axis": 0, "temperature": 0.5})
    assert shown == "softmax([[1., 2.]], axis=0, temperature=0.5)"


def test_a_call_without_arguments_has_empty_brackets():
    assert show_call("f", [], {}) == "f()"


def test_masks_are_rows_of_ones_and_zeros():
    assert show(np.array([[True, False], [True, True]])) == "[[1 0] [1 1]]"
    assert show(torch.tensor([True, False])) == "[1 0]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.array([1.0, 2.5]), "[1. , 2.5]"),
        (np.array([1, 2]), "[1, 2]"),
        (np.array([1.0], np.float32), "array([1.], dtype=float32)"),
        (np.array([0.5], np.float16), "array([0.5], dtype=float16)"),
        (np.array([1, 0], np.uint8), "array([1, 0], dtype=uint8)"),
        (np.array(1.5), "1.5"),
        (np.array(1.5, np.float32), "array(1.5, dtype=float32)"),
        (torch.tensor([1.0, 2.5]), "[1. , 2.5]"),
        (torch.tensor([3, 4]), "[3, 4]"),
        (torch.tensor([1.0]).double(), "tensor([1.], dtype=float64)"),
        (torch.tensor([1.0]).bfloat16(), "tensor([1.], dtype=bfloat16)"),
        (torch.tensor([1.0]).half(), "tensor([1.], dtype=float16)"),
        (torch.tensor([1, 0], dtype=torch.uint8), "tensor([1, 0], dtype=uint8)"),
    ],
)
def test_a_dtype_is_shown_where_it_is_not_the_default(value, shown):
    assert show(value) == shown


def test_a_tensor_that_requires_gradients_is_shown_like_any_other():
    assert show(torch.tensor([1.0], requires_grad=True)) == "[1.]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.ones((7, 7)), "<array (7, 7) float64>"),
        (torch.ones(7, 7).bfloat16(), "<tensor (7, 7) bfloat16>"),
        (np.ones((7, 7), bool), "<array (7, 7) bool>"),
    ],
)
def test_a_large_value_is_shown_by_its_shape_and_its_own_dtype(value, shown):
    assert show(value) == shown


def test_the_largest_value_shown_in_full_is_on_one_line():
    shown = show(np.zeros((SHOWN_IN_FULL // 2, 2)))
    assert shown.count("0.") == SHOWN_IN_FULL
    assert "\n" not in shown


def test_empty_values_are_shown_by_their_shape():
    assert show(np.ones((0, 3))) == "<empty array (0, 3)>"
    assert show(torch.ones(2, 0).half()) == "<empty tensor (2, 0) float16>"


def test_special_values_are_shown():
    assert show(np.array([math.nan, math.inf, -math.inf])) == "[ nan, inf, -inf]"


def test_collections_are_shown_with_what_is_in_them():
    assert show([np.array([1.0]), None]) == "[[1.], None]"
    assert show((1, "a")) == "(1, 'a')"
    assert show({"weight": np.array([True])}) == "{'weight': [1]}"


def test_a_text_that_nobody_would_read_is_cut():
    assert cut("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert cut("x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT + " ..."
    assert len(show_call("f", ["x" * 5000], {})) == MAX_TEXT + 4

"""Where a value lies: whether arrays share memory is told by addresses."""

import numpy as np
import pytest

from autograder.sandbox.observed import meet, span


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 4)),
        np.zeros((3, 4), order="F"),
        np.zeros((3, 4))[:, ::2],
        np.zeros((3, 4))[::-1],
        np.zeros((3, 4), np.float16),
        np.zeros(3, bool),
        np.zeros(3, "datetime64[s]"),
        np.zeros(()),
        np.broadcast_to(np.zeros(3), (2, 3)),
        read_only(np.zeros((3, 4))),
        read_only(np.zeros((3, 4), order="F")),
    ],
    ids=lambda array: f"{array.dtype} {array.strides} {array.flags.writeable}",
)
def test_an_array_lies_between_its_first_byte_and_its_last(array):
    assert span(array) == np.lib.array_utils.byte_bounds(array)


def test_an_empty_array_lies_nowhere():
    assert span(np.zeros((0, 3))) == (0, 0)


@pytest.mark.parametrize(
    ("spans", "met"),
    [([], False), ([(0, 0)], False), ([(5, 10)], False), ([(20, 30)], False), ([(0, 1), (19, 20)], True)],
)
def test_only_spans_with_a_byte_in_common_meet(spans, met):
    assert meet((10, 20), spans) is met

"""What is drawn of a call: small arrays, the matrix that differs first, axes as the course names them."""

import warnings

import msgspec
import numpy as np
import pytest
import torch

from autograder.checks import Difference
from autograder.course import Course, Exercise
from autograder.figures import LARGEST, Draughtsman, differ, parameter_names
from autograder.report import Figure
from autograder.sandbox.learner import LastCall, LearnerException, TimedOut

SOURCE = """
class Heads:
    def __init__(self, n_heads):
        pass

    def forward(self, query, allowed=None):
        pass


def read(query, allowed=None):
    pass
"""
AXES = {
    "query": ("query", "feature"),
    "allowed": ("query", "key"),
    "read[1]": ("query", "key"),
    "mask": ("query", "key"),
}


@pytest.fixture
def draughtsman(tmp_path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "reading.py").write_text(SOURCE)
    exercise = Exercise(
        name="reading", title="Reading", points=1, functions=("read", "Heads", "mask"), libraries=("numpy",), axes=AXES
    )
    course = Course(root=tmp_path, name="c", title="C", languages=("en",), feedback="full", exercises=(exercise,))
    return Draughtsman(exercise, msgspec.structs.replace(course, paths=course.paths.below(tmp_path)))


def drawn(figures):
    return [(figure.title, figure.kind, figure.rows, figure.columns, figure.cells) for figure in figures]


def test_a_failed_check_is_drawn_as_its_small_arguments_what_came_back_and_what_is_right(draughtsman):
    returned, right = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])
    call = LastCall("read", (np.array([[1.0, -2.0]]), np.array([[True, False]])), {}, (np.zeros((1, 2)), returned))
    assert draughtsman.of_check(call, Difference("wrong", returned, right)) == [
        Figure("query", "numbers", "query", "feature", [["1", "-2"]]),
        Figure("allowed", "mask", "query", "key", [["1", "0"]]),
        Figure("came back [1]", "weights", "query", "key", [["0.25", "0.75"]]),
        Figure("right [1]", "weights", "query", "key", [["0.5", "0.5"]]),
    ]


def test_beside_the_figures_the_call_is_written_with_what_is_drawn_by_its_name(draughtsman):
    call = LastCall("read", (np.zeros((1, 2)),), {"allowed": np.zeros((9, 9)), "axis": 0})
    figures, beside = draughtsman.draw(call, TimedOut("late"))
    assert [figure.title for figure in figures] == ["query"]
    assert beside == "read(query, allowed=<array (9, 9) float64>, axis=0)"
    assert draughtsman.draw(LastCall("read", (1,), {}), TimedOut("late")) == ([], "")


def test_arguments_given_by_name_have_that_name_and_those_without_one_their_number(draughtsman):
    call = LastCall("other", (np.array([1]),), {"allowed": np.array([[False]])})
    assert [figure.title for figure in draughtsman.of_check(call, TimedOut("late"))] == ["argument 1", "allowed"]


def test_an_instance_is_called_through_its_forward(draughtsman):
    call = LastCall("Heads", (np.array([[1.0]]), np.array([[True]])), {})
    assert [figure.title for figure in draughtsman.of_check(call, TimedOut("late"))] == ["query", "allowed"]


def test_of_several_matrices_the_first_that_differs_is_drawn_and_of_the_arguments_those_that_belong_to_it(draughtsman):
    right = np.zeros((2, 3, 2, 2))
    returned = right.copy()
    returned[1, 2, 0, 1] = 1.0
    returned[0, 0, 0, 0] = 1e-9
    right[0, 0, 0, 0] = 1e-9 * (1 + 1e-7)
    allowed = np.ones((2, 1, 2, 2), dtype=bool)
    allowed[1, 0, 1, 1] = False
    call = LastCall("mask", (), {"allowed": allowed, "other": np.arange(12).reshape(3, 2, 2)}, returned)
    assert drawn(draughtsman.of_check(call, Difference("wrong", returned, right))) == [
        ("allowed[1, 0]", "mask", "query", "key", [["1", "1"], ["1", "0"]]),
        ("other[2]", "numbers", "row", "column", [["8", "9"], ["10", "11"]]),
        ("came back [1, 2]", "weights", "query", "key", [["0", "1"], ["0", "0"]]),
        ("right [1, 2]", "weights", "query", "key", [["0", "0"], ["0", "0"]]),
    ]


def test_cells_have_at_most_four_digits_and_say_what_is_no_number(draughtsman):
    returned = np.array([[np.nan, np.inf, -np.inf, 1 / 3, 123456.0, 1e-20]])
    cells = draughtsman.of_check(LastCall("f", (), {}, returned), AssertionError("no"))[0].cells
    assert cells == [["nan", "inf", "-inf", "0.3333", "1.235e+05", "1e-20"]]


def test_numbers_outside_of_0_and_1_are_no_weights_and_nan_among_weights_is(draughtsman):
    for entries, kind in (([[0.5, np.nan]], "weights"), ([[0.5, 1.5]], "numbers"), ([[1, 0]], "numbers")):
        returned = np.array(entries)
        assert draughtsman.of_check(LastCall("mask", (), {}, returned), AssertionError("no"))[0].kind == kind


def test_a_vector_is_one_row(draughtsman):
    call = LastCall("f", (), {"numbers": np.array([1, 2])})
    assert drawn(draughtsman.of_check(call, TimedOut("late"))) == [("numbers", "numbers", "", "column", [["1", "2"]])]


def test_tensors_are_drawn_like_arrays(draughtsman):
    call = LastCall("read", (torch.tensor([[0.5]], dtype=torch.bfloat16), torch.tensor([[True]])), {})
    assert [figure.cells for figure in draughtsman.of_check(call, TimedOut("late"))] == [[["0.5"]], [["1"]]]


@pytest.mark.parametrize(
    "value",
    [np.zeros((2, LARGEST + 1)), np.zeros(LARGEST + 1), np.zeros((0, 2)), np.array(1.0), np.array(["a"]), 3, None, [1]],
)
def test_what_is_large_or_no_array_has_no_figure(draughtsman, value):
    assert draughtsman.of_check(LastCall("f", (value,), {}, value), AssertionError("no")) == []


def test_what_is_not_written_yet_has_no_figure(draughtsman):
    unwritten = LearnerException("not written")
    unwritten.name = "NotImplementedError"
    assert draughtsman.of_check(LastCall("read", (np.zeros(2),), {}), unwritten) == []


def test_where_no_call_was_made_the_values_are_drawn_by_themselves(draughtsman):
    figures = draughtsman.of_check(None, Difference("wrong", np.array([1]), np.array([2])))
    assert [(figure.title, figure.cells) for figure in figures] == [("came back", [["1"]]), ("right", [["2"]])]


def test_of_two_results_only_what_differs_is_drawn(draughtsman):
    call = LastCall("read", (), {}, (np.array([[1.0]]), np.array([[0.5]])))
    figures = draughtsman.of_results(call, (np.array([[1.0 + 1e-12]]), np.array([[1.0]])))
    assert [(figure.title, figure.cells) for figure in figures] == [
        ("came back [1]", [["0.5"]]),
        ("right [1]", [["1"]]),
    ]


def test_where_nothing_came_back_the_right_result_is_drawn(draughtsman):
    figures = draughtsman.of_results(LastCall("mask", (), {}), np.array([[True]]))
    assert drawn(figures) == [("right", "mask", "query", "key", [["1"]])]


def test_values_that_are_no_part_of_the_last_result_are_numbered(draughtsman):
    pairs = [(np.array([1.0]), np.array([1.0])), (np.array([1.0]), np.array([2.0]))]
    figures = draughtsman.of_answers(LastCall("read", (), {}), pairs)
    assert [figure.title for figure in figures] == ["came back [1]", "right [1]"]


def test_a_source_that_is_no_python_names_nothing():
    assert parameter_names(b"def read(") == {}
    assert parameter_names(b"\0") == {}


def test_complex_results_are_told_apart_by_both_parts_without_a_warning(draughtsman):
    returned = np.array([[1.0, 2.0]]) + 1j
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert differ(returned, returned.conj())
        assert not differ(returned, returned.copy())
        call = LastCall("read", (np.array([[1.0, -2.0]]),), {}, returned.copy())
        figures = draughtsman.of_check(call, Difference("wrong", returned, np.array([[1.0, 2.0]])))
    assert [figure.title for figure in figures] == ["query", "right"]

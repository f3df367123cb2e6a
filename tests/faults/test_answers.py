"""When two answers are alike: in all but rounding, and in the name of what was raised."""

import math

import numpy as np
import pytest
import torch

from autograder.faults.answers import RELATIVE, Answer, alike, answer_to
from autograder.faults.family import NONE, Family, Probe
from autograder.faults.rehearsal import Rehearsal
from autograder.sandbox.learner import Exited

NAN, INF = math.nan, math.inf


def both_ways(one, other):
    """Tell whether two values are alike; which of them comes first makes no difference."""
    answers = [alike(Answer(one), Answer(other)), alike(Answer(other), Answer(one))]
    assert answers[0] == answers[1]
    return answers[0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        NAN,
        INF,
        "text",
        [1, (2.0, [None])],
        np.array([1.0, NAN, INF, -INF]),
        np.array([True, False]),
        np.array([1, 2], np.int8),
        np.zeros((0, 3)),
        torch.tensor([1.0, NAN, INF, -INF]),
        torch.tensor([1.0, NAN]).bfloat16(),
        torch.tensor([True, False]),
        torch.ones(2, requires_grad=True),
        (torch.ones(1), np.ones(1)),
    ],
    ids=repr,
)
def test_a_value_is_like_itself(value):
    assert both_ways(value, value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, 0),
        (True, 1),
        (1, 1.0),
        (1, 2),
        (2.5, 2.6),
        (NAN, 0.0),
        (INF, -INF),
        ("text", "Text"),
        ([1], (1,)),
        ([1], [1, 2]),
        ([1, 2], [1, 3]),
        ([1, [2]], [1, [3]]),
        (np.ones(2), torch.ones(2)),
        (np.ones(2), [1.0, 1.0]),
        (np.ones(1), 1.0),
        (np.ones(2), np.ones((2, 1))),
        (np.ones(2), np.ones((1, 2))),
        (np.ones(2), np.ones(2, np.float32)),
        (np.ones(2), np.ones(2, bool)),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([True]), np.array([False])),
        (np.array([NAN]), np.array([0.0])),
        (np.array([INF]), np.array([-INF])),
        (np.array([INF]), np.array([1e300])),
        (np.array([0.0, 1.0]), np.array([1.0, 0.0])),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2), torch.ones(1, 2)),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])),
    ],
    ids=repr,
)
def test_values_that_differ_are_not_alike(one, other):
    assert not both_ways(one, other)


@pytest.mark.parametrize("dtype", RELATIVE)
def test_rounding_makes_no_difference_and_anything_coarser_does(dtype):
    kind = getattr(torch, dtype)
    numbers = torch.tensor([1.0, -2.0, 0.0], dtype=torch.float64)
    step = torch.finfo(kind).eps
    assert both_ways(numbers.to(kind), (numbers * (1 + 2 * step)).to(kind))
    assert both_ways(numbers.to(kind), (numbers + step * torch.tensor([0.0, 0.0, 1.0])).to(kind))
    assert not both_ways(numbers.to(kind), (numbers * (1 + 4 * RELATIVE[dtype])).to(kind))


def test_plain_numbers_are_rounded_like_those_in_arrays():
    assert both_ways(0.1 + 0.2, 0.3)
    assert both_ways([0.1 + 0.2], [0.3])
    assert not both_ways(0.3, 0.3001)


def test_what_is_small_beside_the_largest_entry_is_rounding():
    assert both_ways(np.array([1e6, 1e-3]), np.array([1e6, 2e-3]))
    assert not both_ways(np.array([1.0, 1e-3]), np.array([1.0, 2e-3]))


def test_what_was_raised_is_compared_by_its_name():
    assert alike(Answer(raised="ValueError"), Answer(raised="ValueError"))
    assert not alike(Answer(raised="ValueError"), Answer(raised="TypeError"))
    assert not alike(Answer(raised="ValueError"), Answer())


def rehearsed(function):
    return Rehearsal(Family("exercise", {"f": lambda faults: function()}, faults=(), probes=()), NONE)


ASKED = Probe("f", lambda module: module.f())


def raising(error):
    def function():
        raise error

    return function


def test_an_answer_is_what_the_probe_returns():
    assert answer_to(Probe("f", lambda module: module.f() + 1), rehearsed(lambda: 2)) == Answer(3)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        type("Mine", (ValueError,), {})("own"),
        AttributeError("no", name="shape"),
        NameError("no", name="scores"),
        ModuleNotFoundError("no", name="numpy"),
    ],
    ids=repr,
)
def test_an_exception_is_an_answer_by_the_name_of_its_type(error, learner_of):
    assert answer_to(ASKED, rehearsed(raising(error))) == Answer(raised=type(error).__name__)


def test_a_learner_s_exception_is_told_by_the_name_it_has_over_there(learner_of):
    learner = learner_of("class Mine(ValueError):\n    pass\ndef f():\n    raise Mine")
    assert answer_to(ASKED, learner) == Answer(raised="Mine")
    assert answer_to(ASKED, learner_of("def f():\n    return None.shape")) == Answer(raised="AttributeError")
    assert answer_to(ASKED, learner_of("def f():\n    return object()")) == Answer(raised="UnfitResult")
    assert answer_to(ASKED, learner_of("x = 1")) == Answer(raised="NotDefined")


def test_an_error_in_the_probe_s_own_words_about_an_answer_is_an_answer_too(learner_of):
    probe = Probe("a shape", lambda module: module.f().shape)
    assert answer_to(probe, learner_of("def f():\n    return 1.0")) == Answer(raised="AttributeError")
    assert answer_to(probe, rehearsed(lambda: 1.0)) == Answer(raised="AttributeError")


def test_the_end_of_a_process_is_no_answer(learner_of):
    with pytest.raises(Exited):
        answer_to(ASKED, learner_of("import os\ndef f():\n    os._exit(0)"))

"""Mistakes made in the solutions themselves, named by the families of the course."""

from pathlib import Path

import msgspec
import pytest

from autograder.course import load_course
from autograder.grade import grade
from autograder.submission import Submission

COURSE = load_course(Path(__file__).resolve().parents[1])


def named(exercise, old, new):
    """Put `new` in the place of `old` wherever it stands in a solution, and give the faults that the report names."""
    source = COURSE.solution_of(COURSE.exercise(exercise)).read_text(encoding="utf-8")
    assert old in source
    alone = msgspec.structs.replace(COURSE, exercises=(COURSE.exercise(exercise),))
    (result,) = grade(Submission("ada", {exercise: source.replace(old, new).encode()}), alone).exercises
    return [diagnosis.fault for diagnosis in result.diagnosis]


@pytest.mark.parametrize(
    ("exercise", "old", "new", "faults"),
    [
        ("attention", "dim=-1", "dim=-2", ["softmax_over_queries"]),
        ("attention", "blocked = ~allowed", "blocked = allowed", ["polarity_inverted"]),
        ("attention", "query / math.sqrt(d_k)", "query", ["scale_missing"]),
        ("causal_mask", "query + n_keys - n_queries", "query", ["top_left"]),
        ("padding_mask", "causal[None, None, :, :] &", "causal[None, None, :, :] |", ["either_allows"]),
        ("softmax", "scores - half * peak", "scores", ["no_shift"]),
    ],
)
def test_a_slip_in_the_solution_is_called_by_its_name(exercise, old, new, faults):
    assert named(exercise, old, new) == faults

"""What happens to learners in nbgrader by itself, and not with the generated configuration (see test_marks.py)."""

import copy

import pytest

from .conftest import PLAIN_CONFIG
from .learners import cell_of, hand_in


@pytest.fixture(scope="module")
def run(assigned, released, tmp_path_factory):
    """Grade four learners without our configuration: three with one cell or file amiss, and one after them."""
    course = assigned.copied(tmp_path_factory.mktemp("accidents") / "nbgrader", config=PLAIN_CONFIG)
    pasted = released.filled("double")
    pasted["cells"].append(copy.deepcopy(cell_of(released.blank("twice"), "solution_twice")))
    twice = released.filled("twice")
    hand_in(
        course.folder / "submitted",
        {
            "a_broken": {"double": b"<<<<<<< HEAD", "twice": twice},
            "b_pasted": {"double": pasted, "twice": twice},
            "c_copied": {"double": released.doubled(), "twice": twice},
            "d_after": {"double": released.filled("double"), "twice": twice},
        },
    )
    return course, course.command("autograde", "small")


def test_a_broken_file_costs_everything_that_was_handed_in(run):
    course, done = run
    assert "There was an error processing assignment: " in done.stderr
    assert course.marks()["a_broken"] == {"double": 0, "twice": 0}


def test_a_cell_of_another_notebook_costs_everything_that_was_handed_in(run):
    assert run[0].marks()["b_pasted"] == {"double": 0, "twice": 0}


def test_a_cell_that_is_there_twice_ends_the_run_for_all_that_follow(run):
    course, done = run
    assert done.returncode == 1
    assert "use an old version" in done.stderr
    assert course.marks()["c_copied"] == {"double": 0, "twice": 0}
    assert "d_after" not in course.marks()

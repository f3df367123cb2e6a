"""What `attend solution` has to show: the solution as one reads it, and the learner's own code as it is."""

from pathlib import Path

import pytest

from autograder.solution import SolutionError, own_text, require_solution, solution_text


def test_a_solution_is_shown_whole_without_the_lines_that_mark_its_regions(small_course):
    marked = "def double(x):\n    ### BEGIN SOLUTION\n    # twice\n    return 2 * x\n    ### END SOLUTION\n"
    course = small_course(files={"solutions/double.py": marked})
    assert solution_text(course.exercises[0], course) == "def double(x):\n    # twice\n    return 2 * x\n"


def test_where_there_is_no_solution_one_line_says_what_else_helps(small_course):
    course = small_course()
    course.solution_of(course.exercises[0]).unlink()
    with pytest.raises(SolutionError) as caught:
        require_solution(course.exercises[0], course)
    assert str(caught.value) == "there is no solution of double in this copy of the course; try attend hint"


def test_the_learners_own_code_comes_as_it_is_also_where_it_is_no_utf_8(small_course, tmp_path: Path):
    exercise = small_course().exercises[0]
    assert own_text(exercise, tmp_path) == ""
    (tmp_path / "double.py").write_bytes(b"\xef\xbb\xbfx = '\xe9'\n")
    assert own_text(exercise, tmp_path) == "x = '\\xe9'\n"

"""`attend grade` marks notebooks as it marks modules, and tells what it saw."""

import pytest

from autograder.cli import run
from autograder.report import from_json

from .files import cell, notebook, solution

RIGHT = "def double(numbers, more=0.0):\n    return numbers * 2 + more"


@pytest.fixture
def graded(small_course, tmp_path):
    """Give a function that grades the notebooks of a class, learner by learner, through the command."""

    def grade(**submitted: bytes):
        for learner, data in submitted.items():
            folder = tmp_path / "submitted" / learner / "small"
            folder.mkdir(parents=True)
            (folder / "double.ipynb").write_bytes(data)
        course, out = small_course(), tmp_path / "grades"
        arguments = ["grade", str(tmp_path / "submitted"), "--out", str(out), "--course", str(course.root)]
        assert run([*arguments, "--jobs", "1", "--no-gradebook"]) == 0
        return {learner: from_json((out / "reports" / f"{learner}.json").read_bytes()) for learner in submitted}

    return grade


def test_a_class_of_notebooks_is_graded_each_for_itself(graded, tmp_path):
    outside = tmp_path / "outside"
    hostile = f"import pathlib\nMARK = pathlib.Path({str(outside)!r}).write_text('was here')\n{RIGHT}\n    MARK"
    reports = graded(
        right=notebook("import numpy as np", solution(f"{RIGHT}\nassert False, 'a trial of my own'")),
        tripled=notebook(solution(RIGHT.replace("2", "3"))),
        raises=notebook("!ls\nimport numpy as np", RIGHT.replace("return", "return np.array([[1], [2, 3]]) +")),
        stub=notebook(solution("def double(numbers, more=0.0):\n    raise NotImplementedError")),
        html=b"<html>",
        hostile=notebook(solution(hostile)),
        copied=notebook(solution("def double(numbers): return 0"), solution(RIGHT), cell("x", "test_x", points=5)),
    )
    assert {learner: report.earned for learner, report in reports.items()} == {
        "right": 5, "tripled": 0, "raises": 0, "stub": 0, "html": 0, "hostile": 0, "copied": 5,
    }  # fmt: skip
    assert [each.fault for each in reports["tripled"].exercises[0].diagnosis] == ["tripled"]
    assert reports["html"].exercises[0].reason.startswith("double.ipynb is no notebook")
    assert "double.ipynb cannot be loaded: PermissionError" in reports["hostile"].exercises[0].reason
    assert not outside.exists()
    assert reports["copied"].notes == [
        "double.ipynb: 2 cells have the grade_id solution_double; the last one counts, cell 2"
    ]
    assert "cell 2, line 2: return np.array(" in reports["raises"].exercises[0].checks[0].message

"""The same class has the same points however it is graded, and its gradebooks look the same to nbgrader."""

import pytest
from nbgrader.api import Base, Gradebook
from sqlalchemy import inspect

from autograder.cli import run
from autograder.report import from_json

from .conftest import NbgraderCourse

HONEST = ("amara", "bea", "chidi")


@pytest.fixture(scope="module")
def attended(graded, tmp_path_factory) -> NbgraderCourse:
    """Give what `attend grade` makes of the same folder of submissions."""
    out = tmp_path_factory.mktemp("attended")
    submitted = str(graded.folder / "submitted")
    run(["grade", submitted, "--out", str(out), "--course", str(graded.course), "--jobs", "1"])
    return NbgraderCourse(out, graded.course)


def structure_of(course: NbgraderCourse) -> list[tuple]:
    """Give every cell that points can be earned in, with all that makes it comparable."""
    with Gradebook(course.db, course_id="small") as gradebook:
        assignment = gradebook.find_assignment("small")
        return sorted(
            (assignment.name, assignment.course_id, book.name, cell.name, cell.max_score, cell.cell_type)
            for book in assignment.notebooks
            for cell in book.grade_cells
            if cell.max_score
        )


def test_in_the_jail_in_a_kernel_and_without_nbgrader_the_points_are_the_same(graded, plain, attended):
    expected = {
        "amara": {"double": 5, "twice": 5},
        "bea": {"double": 0, "twice": 3},
        "chidi": {"double": 0, "twice": 5},
    }
    for course in (graded, plain, attended):
        marks = course.marks()
        assert {learner: marks[learner] for learner in HONEST} == expected


def test_accidents_cost_the_same_with_and_without_nbgrader(graded, attended):
    assert attended.marks() == graded.marks()


def test_every_check_earns_the_same(graded, attended):
    def of(course):
        with Gradebook(course.db, course_id="small") as gradebook:
            return {
                (each.student.id, book.name, grade.name): grade.score
                for each in gradebook.assignment_submissions("small")
                for book in each.notebooks
                for grade in book.grades
                if grade.max_score
            }

    assert of(attended) == of(graded)


def test_the_gradebooks_have_one_structure(graded, plain, attended):
    assert structure_of(graded) == structure_of(plain) == structure_of(attended)
    tables = [inspect(Gradebook(course.db).engine).get_table_names() for course in (graded, plain, attended)]
    assert tables[0] == tables[1] == tables[2]
    assert set(Base.metadata.tables) < set(tables[0])


def test_what_attend_saw_in_the_notebooks_is_told(attended):
    notes = from_json((attended.folder / "reports" / "farah.json").read_bytes()).notes
    assert notes == ["double.ipynb: 2 cells have the grade_id solution_double; the last one counts, cell 15"]
    reason = from_json((attended.folder / "reports" / "goran.json").read_bytes()).exercises[0].reason
    assert reason == "double.ipynb is no notebook: line 2 is not JSON (Expecting value); save it in Jupyter again"


def test_nbgrader_tells_the_same_of_a_broken_notebook(graded):
    outputs = [cell.outputs for cell in graded.autograded("goran").cells if cell.get("outputs")]
    assert "double.ipynb is no notebook: line 2 is not JSON" in outputs[0][0].text

"""nbgrader's own programs find the marks: the export, the formgrader, the penalties for late submissions."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.gradebook.fill import fill_gradebook

from .support import right, wrong

EARLY, LATE = "2026-03-01T22:58:00+00:00", "2026-03-01T23:09:00+00:00"


@pytest.fixture
def filled(course, url) -> str:
    """Fill a gradebook with one who has all right and in time, and one who has neither."""
    fill_gradebook(
        [right("amara", handed_in=EARLY, learner_name="Amara Okafor"), wrong("bea", handed_in=LATE)], course, url
    )
    return url


@pytest.fixture
def formgrader(filled, tmp_path) -> NbGraderAPI:
    """Give what the formgrader's pages get their data from; it lists assignments that have a folder in source/."""
    (tmp_path / "source" / "by-hand").mkdir(parents=True)
    config = Config({"CourseDirectory": {"root": str(tmp_path), "db_url": filled}})
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def test_nbgrader_export_writes_the_marks(filled, tmp_path):
    home = {name: str(tmp_path) for name in ("HOME", "USERPROFILE", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "export", "--db", filled, "--to", "marks.csv"],
        cwd=tmp_path, env=os.environ | home, check=True, capture_output=True,
    )  # fmt: skip
    with Path(tmp_path, "marks.csv").open(encoding="utf-8", newline="") as file:
        amara, bea = sorted(csv.DictReader(file), key=lambda row: row["student_id"])
    assert (amara["assignment"], amara["duedate"]) == ("by-hand", "2026-03-01 22:59:00")
    assert (amara["timestamp"], amara["first_name"], amara["last_name"]) == ("2026-03-01 22:58:00", "Amara", "Okafor")
    assert [(row["raw_score"], row["score"], row["max_score"]) for row in (amara, bea)] == [
        ("5.0", "5.0", "5.0"),
        ("3.0", "3.0", "5.0"),
    ]


def test_the_formgrader_lists_the_assignment_with_its_average(formgrader):
    (assignment,) = formgrader.get_assignments()
    assert (assignment["name"], assignment["average_score"], assignment["average_code_score"]) == ("by-hand", 4, 4)
    assert (assignment["max_score"], assignment["duedate"]) == (5, "2026-03-01T22:59:00")


def test_the_formgrader_lists_notebooks_with_their_averages(formgrader):
    averages = {each["name"]: each["average_score"] for each in formgrader.get_notebooks("by-hand")}
    assert averages == {"softmax": 2, "mask": 2}


def test_the_formgrader_lists_submissions_and_learners_with_their_scores(formgrader):
    submissions = {each["student"]: each for each in formgrader.get_submissions("by-hand")}
    assert {name: each["score"] for name, each in submissions.items()} == {"amara": 5, "bea": 3}
    assert {each["max_score"] for each in submissions.values()} == {5}
    assert {each["id"]: each["score"] for each in formgrader.get_students()} == {"amara": 5, "bea": 3}


def test_the_formgrader_shows_a_learners_own_page_where_there_are_notebooks_to_open(formgrader, tmp_path):
    submitted, autograded = (tmp_path / step / "bea" / "by-hand" for step in ("submitted", "autograded"))
    submitted.mkdir(parents=True)
    (submitted / "timestamp.txt").write_text("2026-03-01 23:09:00 UTC")
    autograded.mkdir(parents=True)
    for name in ("softmax", "mask"):
        nbformat.write(nbformat.v4.new_notebook(), autograded / f"{name}.ipynb")
    assert [each["score"] for each in formgrader.get_student_submissions("bea")] == [3]
    shown = {each["name"]: each["score"] for each in formgrader.get_student_notebook_submissions("bea", "by-hand")}
    assert shown == {"softmax": 1, "mask": 2}


def test_the_formgrader_shows_what_a_learner_has_for_each_check(filled):
    with Gradebook(filled) as gradebook:
        notebook = gradebook.find_submission_notebook("softmax", "by-hand", "bea")
        shown = gradebook.find_submission_notebook_by_id(notebook.id)
        grades = {each["name"]: each for each in (grade.to_dict() for grade in shown.grades)}
        comments = {each["name"]: each["auto_comment"] for each in (comment.to_dict() for comment in shown.comments)}
    assert (grades["test_shift[800]"]["auto_score"], grades["test_shift[800]"]["max_score"]) == (0, 2)
    assert grades["test_shift[800]"]["failed_tests"] and not grades["test_sum"]["failed_tests"]
    assert comments["test_shift[800]"].startswith("The largest score is not subtracted.")


def penalise(url: str, learner: str) -> None:
    plugin = AssignLatePenalties(config=Config({"LateSubmissionPlugin": {"penalty_method": "zero"}}))
    place = {"notebook": "softmax", "assignment": "by-hand", "student": learner, "db_url": url}
    plugin.preprocess(nbformat.v4.new_notebook(), {"nbgrader": place})


def test_penalties_for_late_submissions_see_when_they_were_handed_in(filled):
    for learner in ("amara", "bea"):
        penalise(filled, learner)
    with Gradebook(filled) as gradebook:
        penalties = {
            learner: gradebook.find_submission_notebook("softmax", "by-hand", learner).late_submission_penalty
            for learner in ("amara", "bea")
        }
        assert gradebook.find_submission("by-hand", "bea").total_seconds_late == 600
    assert penalties == {"amara": None, "bea": 1}


def test_a_penalty_stays_when_the_gradebook_is_filled_again(course, filled):
    penalise(filled, "bea")
    fill_gradebook([wrong("bea", handed_in=LATE)], course, filled)
    with Gradebook(filled) as gradebook:
        assert gradebook.find_submission("by-hand", "bea").late_submission_penalty == 1

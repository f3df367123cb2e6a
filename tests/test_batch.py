"""A class is graded so that whatever happens, what was done is kept."""

import csv
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from autograder.batch import grade_class
from autograder.course import Course, Exercise
from autograder.report import ExerciseResult, Report, ReportError, from_json, write_report
from autograder.roster import Attendance, Learner
from autograder.submission import Found, Submission

FOUND = Found([Submission(id, {}) for id in ("amara", "bea", "cem")], [])


@pytest.fixture
def course() -> Course:
    softmax = Exercise(name="softmax", title="Softmax", points=20, functions=("softmax",), libraries=("numpy",))
    return Course(root=Path("."), name="c", title="C", languages=("en",), feedback="full", exercises=(softmax,))


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterable[object]], types.ModuleType]:
    """Put a grader in place that gives these reports, or raises what is no report."""

    def install(events: Iterable[object]) -> types.ModuleType:
        def grade_all(submissions, course, *, receive, trust=False, jobs=1, apart=False, of_class=0):
            module.trusted = trust
            module.jobs = jobs
            module.of_class = of_class
            module.given = [submission.id for submission in submissions]
            for event in events:
                if not isinstance(event, Report):
                    raise event
                receive(event)

        module = types.ModuleType("autograder.grade")
        module.grade_all = grade_all
        monkeypatch.setitem(sys.modules, "autograder.grade", module)
        return module

    return install


def graded(id: str) -> Report:
    return Report(submission=id, status="graded", points=20, earned=18, exercises=[ExerciseResult("softmax", 20, 18)])


def not_graded(id: str) -> Report:
    return Report(submission=id, status="not_graded", reason="the grader ran out of disk", points=20)


def marks(path: Path) -> dict[str, str]:
    with open(path, encoding="utf-8", newline="") as file:
        return {row["submission"]: row["softmax"] for row in csv.DictReader(file)}


def test_every_submission_has_a_report_and_a_row(tmp_path, course, grader):
    grader([graded("bea"), graded("amara"), graded("cem")])
    batch = grade_class(FOUND, course, tmp_path / "grades", trust=False)
    assert batch.exit_status == 0
    assert sorted(path.name for path in batch.reports_folder.iterdir()) == ["amara.json", "bea.json", "cem.json"]
    assert from_json((batch.reports_folder / "bea.json").read_bytes()) == graded("bea")
    assert marks(batch.marks) == {"amara": "18", "bea": "18", "cem": "18"}


def test_a_report_is_on_the_disk_before_the_next_submission_is_graded(tmp_path, course, grader):
    there = []

    def one_after_the_other():
        for id in ("amara", "bea"):
            yield graded(id)
            there.append((tmp_path / "reports" / f"{id}.json").is_file())

    grader(one_after_the_other())
    grade_class(FOUND, course, tmp_path, trust=False)
    assert there == [True, True]


def test_progress_is_told_after_each_submission(tmp_path, course, grader):
    steps = []
    grader([graded("amara"), graded("bea")])
    grade_class(FOUND, course, tmp_path, trust=False, advance=lambda: steps.append(1))
    assert len(steps) == 2


@pytest.mark.parametrize("trust", [True, False])
def test_trust_is_handed_on(tmp_path, course, grader, trust):
    module = grader([])
    grade_class(FOUND, course, tmp_path, trust=trust)
    assert module.trusted is trust


def test_something_that_could_not_be_graded_is_status_3(tmp_path, course, grader):
    grader([graded("amara"), not_graded("bea")])
    batch = grade_class(FOUND, course, tmp_path, trust=False)
    assert batch.exit_status == 3
    assert marks(batch.marks) == {"amara": "18", "bea": ""}


def test_who_handed_nothing_in_has_a_row_and_does_not_change_the_status(tmp_path, course, grader):
    grader([graded("amara"), graded("bea"), graded("cem")])
    roster = [Learner("amara"), Learner("bea"), Learner("cem"), Learner("dai")]
    batch = grade_class(FOUND, course, tmp_path, trust=False, roster=roster)
    assert batch.exit_status == 0
    assert marks(batch.marks) == {"amara": "18", "bea": "18", "cem": "18", "dai": ""}
    assert batch.attendance == Attendance((Learner("dai"),))


def test_the_grader_is_told_how_large_the_class_is_of_which_some_are_left(tmp_path, course, grader, monkeypatch):
    module = grader([graded("bea")])
    monkeypatch.setattr("autograder.batch._left", lambda *_, **__: FOUND.submissions[1:2])
    grade_class(FOUND, course, tmp_path, trust=False)
    assert (module.given, module.of_class) == (["bea"], 3)


def test_ctrl_c_keeps_what_was_graded(tmp_path, course, grader):
    grader([graded("amara"), KeyboardInterrupt()])
    batch = grade_class(FOUND, course, tmp_path, trust=False)
    assert (batch.stopped, batch.exit_status) == (True, 130)
    assert [report.submission for report in batch.reports] == ["amara"]
    assert marks(batch.marks) == {"amara": "18"}


def test_ctrl_c_between_the_writing_of_a_report_and_its_counting_loses_neither(tmp_path, course, grader, monkeypatch):
    def written_and_then_stopped(report, folder):
        write_report(report, folder)
        if report.submission == "bea":
            raise KeyboardInterrupt

    monkeypatch.setattr("autograder.batch.write_report", written_and_then_stopped)
    grader([graded("amara"), graded("bea"), graded("cem")])
    batch = grade_class(FOUND, course, tmp_path, trust=False)
    assert batch.stopped
    assert [report.submission for report in batch.reports] == ["amara", "bea"]
    assert marks(batch.marks) == {"amara": "18", "bea": "18"}


def test_ctrl_c_before_a_report_is_written_does_not_count_it(tmp_path, course, grader, monkeypatch):
    def stopped(report, folder):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.batch.write_report", stopped)
    grader([graded("amara")])
    batch = grade_class(FOUND, course, tmp_path, trust=False)
    assert (batch.stopped, batch.reports) == (True, [])


def test_an_error_of_ours_keeps_what_was_graded_and_is_not_hidden(tmp_path, course, grader):
    grader([graded("amara"), ZeroDivisionError()])
    with pytest.raises(ZeroDivisionError):
        grade_class(FOUND, course, tmp_path, trust=False)
    assert marks(tmp_path / "grades.csv") == {"amara": "18"}


def test_a_run_that_graded_nothing_leaves_the_marks_of_the_last_one(tmp_path, course, grader):
    (tmp_path / "grades.csv").write_text("of last week\n")
    grader([ZeroDivisionError()])
    with pytest.raises(ZeroDivisionError):
        grade_class(FOUND, course, tmp_path, trust=False)
    assert (tmp_path / "grades.csv").read_text() == "of last week\n"


def test_a_folder_that_cannot_be_written_is_found_out_before_anything_is_graded(tmp_path, course, grader):
    (tmp_path / "grades").write_text("a file")
    module = grader([graded("amara")])
    with pytest.raises(ReportError, match=r"cannot be written: (File exists|Not a directory)"):
        grade_class(FOUND, course, tmp_path / "grades", trust=False)
    assert not hasattr(module, "trusted")

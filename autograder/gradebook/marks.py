"""One learner in the gradebook: what the grader found is written, what people gave is left alone."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import insert

from autograder.course import Course
from autograder.gradebook.structure import Structure
from autograder.gradebook.texts import LONGEST, comment_of, first_and_last, fitting
from autograder.outputs.text import visible
from autograder.report import ExerciseResult, Report
from autograder.roster import Learner


def write_learner(gradebook: Gradebook, learner: Learner) -> str:
    """Make or update a learner and give the id; what is not known here stays as the gradebook has it."""
    first, last = first_and_last(learner.name)
    email = visible(learner.email) if len(learner.email) <= LONGEST else ""
    known = {"first_name": first, "last_name": last} if learner.name else {}
    known |= {"email": email} if email else {}
    return str(gradebook.update_or_create_student(fitting(learner.id), **known).id)


def write_marks(gradebook: Gradebook, report: Report, course: Course, structure: Structure, learner: str) -> bool:
    """Write the marks of a graded submission; say whether one that a person gave now has another mark beneath it."""
    news = _News()
    submission = _submission(gradebook, structure, learner)
    id = submission.id if submission else news.submission(structure.assignment_id, learner, report.handed_in)
    if submission and report.handed_in:
        submission.timestamp = _in_utc(report.handed_in)
    notebooks = {notebook.notebook_id: notebook for notebook in submission.notebooks} if submission else {}
    to_review = False
    for exercise in report.exercises:
        notebook = notebooks.pop(structure.notebooks[exercise.name], None)
        notebook_id = notebook.id if notebook else news.notebook(structure.notebooks[exercise.name], id)
        to_review |= _write_exercise(gradebook, exercise, course, structure, notebook, notebook_id, news)
    for notebook in notebooks.values():
        _retire_notebook(gradebook, notebook)
    news.write(gradebook)
    return to_review


class _News:
    """Rows that are not there yet: written all at once, since to make an object of each takes most of the time."""

    def __init__(self) -> None:
        self._ids = _later_ids()
        # Each table after what its rows belong to.
        self._rows: dict[type[Any], list[dict[str, Any]]] = {
            kind: [] for kind in (SubmittedAssignment, SubmittedNotebook, Grade, Comment)
        }

    def submission(self, assignment: str, learner: str, handed_in: str | None) -> str:
        """Add what a learner handed in, without the empty marks that `add_submission` would write first."""
        timestamp = _in_utc(handed_in) if handed_in else None
        return self._add(SubmittedAssignment, assignment_id=assignment, student_id=learner, timestamp=timestamp)

    def notebook(self, notebook: str, submission: str) -> str:
        """Add an exercise of a submission."""
        return self._add(SubmittedNotebook, notebook_id=notebook, assignment_id=submission, flagged=False)

    def grade(self, cell: str, notebook: str, earned: float) -> None:
        """Add the mark of a check."""
        self._add(Grade, cell_id=cell, notebook_id=notebook, auto_score=earned, needs_manual_grade=False)

    def comment(self, cell: str, notebook: str, said: str | None) -> None:
        """Add what is said of a check."""
        self._add(Comment, cell_id=cell, notebook_id=notebook, auto_comment=said)

    def write(self, gradebook: Gradebook) -> None:
        """Insert the rows."""
        gradebook.db.flush()
        for kind, rows in self._rows.items():
            if rows:
                gradebook.db.execute(insert(kind.__table__), rows)

    def _add(self, kind: type[Any], **columns: Any) -> str:
        id = next(self._ids)
        self._rows[kind].append({"id": id, **columns})
        return id


def _submission(gradebook: Gradebook, structure: Structure, learner: str) -> SubmittedAssignment | None:
    with suppress(MissingEntry):
        return gradebook.find_submission(structure.assignment, learner)
    return None


def _later_ids() -> Iterator[str]:
    """Give ids that come after those given before: among random ones, each row would change a page of its own."""
    beginning = f"{time.time_ns():016x}{secrets.token_hex(4)}"
    return (f"{beginning}{number:08x}" for number in itertools.count())


def _write_exercise(
    gradebook: Gradebook,
    exercise: ExerciseResult,
    course: Course,
    structure: Structure,
    notebook: SubmittedNotebook | None,
    notebook_id: str,
    news: _News,
) -> bool:
    """Bring a notebook in line with the result; one that is new itself is None, and has only its id yet."""
    grades = {grade.cell_id: grade for grade in notebook.grades} if notebook else {}
    comments = {comment.cell_id: comment for comment in notebook.comments} if notebook else {}
    to_review = False
    for check in exercise.checks:
        cells, said = structure.cells(exercise.name, check.name), comment_of(check, exercise, course)
        if grade := grades.pop(cells.grade, None):
            to_review |= _score(grade, check.earned)
        else:
            news.grade(cells.grade, notebook_id, check.earned)
        if comment := comments.pop(cells.comment, None):
            comment.auto_comment = said
        else:
            news.comment(cells.comment, notebook_id, said)
    _retire(gradebook, [*grades.values(), *comments.values()])
    return to_review


def _score(grade: Grade, earned: float) -> bool:
    """Set what the grader gives; where that is news beneath a person's mark, ask for a review as nbgrader does."""
    if grade.auto_score == earned:
        return False
    overruled = grade.auto_score is not None and grade.manual_score is not None
    grade.auto_score = earned
    grade.needs_manual_grade = overruled
    return overruled


def _retire_notebook(gradebook: Gradebook, notebook: SubmittedNotebook) -> None:
    """Retire what an exercise that left the course has; its notebook goes with the last of it."""
    if not _retire(gradebook, [*notebook.grades, *notebook.comments]):
        gradebook.db.delete(notebook)


def _retire(gradebook: Gradebook, rows: list[Grade | Comment]) -> bool:
    """Delete the marks of checks that are no more, except for what people gave; say whether any are left."""
    left = [row for row in rows if _is_of_a_person(row)]
    for row in rows:
        if row not in left:
            gradebook.db.delete(row)
        elif isinstance(row, Grade):
            row.auto_score, row.needs_manual_grade = None, False
        else:
            row.auto_comment = None
    return bool(left)


def _is_of_a_person(row: Grade | Comment) -> bool:
    if isinstance(row, Comment):
        return row.manual_comment is not None
    return row.manual_score is not None or row.extra_credit is not None


def _in_utc(handed_in: str) -> datetime:
    """Give a moment as nbgrader keeps it, in UTC and without saying so."""
    return datetime.fromisoformat(handed_in).astimezone(UTC).replace(tzinfo=None)

"""One learner in the gradebook: what the grader found is written, what people gave is left alone."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook, new_uuid
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
    submission = _submission(gradebook, structure, learner)
    if report.handed_in:
        submission.timestamp = _in_utc(report.handed_in)
    notebooks = {notebook.notebook_id: notebook for notebook in submission.notebooks}
    to_review, news = False, _News()
    for exercise in report.exercises:
        id = structure.notebooks[exercise.name]
        notebook = notebooks.pop(id, None) or _new_notebook(gradebook, id, submission)
        to_review |= _write_exercise(gradebook, exercise, course, structure, notebook, news)
    for notebook in notebooks.values():
        _retire_notebook(gradebook, notebook)
    news.write(gradebook)
    return to_review


@dataclass
class _News:
    """Rows that are not there yet: written all at once, since to make an object of each takes most of the time."""

    grades: list[dict[str, str | float | bool]] = field(default_factory=list)
    comments: list[dict[str, str | None]] = field(default_factory=list)

    def write(self, gradebook: Gradebook) -> None:
        """Insert the rows, after what they belong to."""
        gradebook.db.flush()
        for table, rows in ((Grade, self.grades), (Comment, self.comments)):
            if rows:
                gradebook.db.execute(insert(table.__table__), rows)


def _submission(gradebook: Gradebook, structure: Structure, learner: str) -> SubmittedAssignment:
    """Find a learner's submission or make one, without the empty marks that `add_submission` would write first."""
    try:
        return gradebook.find_submission(structure.assignment, learner)
    except MissingEntry:
        submission = SubmittedAssignment(assignment_id=structure.assignment_id, student_id=learner)
        gradebook.db.add(submission)
        return submission


def _new_notebook(gradebook: Gradebook, id: str, submission: SubmittedAssignment) -> SubmittedNotebook:
    # With an id of its own from the beginning, by which rows that are not objects can name it.
    notebook = SubmittedNotebook(id=new_uuid(), notebook_id=id, assignment=submission)
    gradebook.db.add(notebook)
    return notebook


def _later_id() -> str:
    """Give an id that comes after those given before: among random ones, each row would change a page of its own."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def _write_exercise(
    gradebook: Gradebook,
    exercise: ExerciseResult,
    course: Course,
    structure: Structure,
    notebook: SubmittedNotebook,
    news: _News,
) -> bool:
    grades = {grade.cell_id: grade for grade in notebook.grades}
    comments = {comment.cell_id: comment for comment in notebook.comments}
    to_review = False
    for check in exercise.checks:
        cells, said = structure.cells(exercise.name, check.name), comment_of(check, exercise, course)
        if grade := grades.pop(cells.grade, None):
            to_review |= _score(grade, check.earned)
        else:
            place = {"id": _later_id(), "cell_id": cells.grade, "notebook_id": notebook.id}
            news.grades.append({**place, "auto_score": check.earned, "needs_manual_grade": False})
        if comment := comments.pop(cells.comment, None):
            comment.auto_comment = said
        else:
            place = {"id": _later_id(), "cell_id": cells.comment, "notebook_id": notebook.id}
            news.comments.append({**place, "auto_comment": said})
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

"""The course in the gradebook: one assignment, a notebook for each exercise, two cells for each check.

nbgrader keeps scores at grade cells and comments at solution cells, so a check is one of each, of the same name.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from nbgrader.api import Comment, Grade, Gradebook, GradeCell, MissingEntry, Notebook, SolutionCell, SubmittedNotebook

from autograder.course import Course
from autograder.gradebook import GradebookError
from autograder.gradebook.texts import fitting
from autograder.report import Report


@dataclass
class CheckCells:
    """Where the score and the comment of a check go (ids of cells), and what the check is worth."""

    grade: str
    comment: str
    points: float


class Structure:
    """What the reports seen so far have put into the assignment of the course."""

    def __init__(self, course: Course) -> None:
        self.assignment = course.name
        self.assignment_id = ""
        self._due = course.last_due
        self.notebooks: dict[str, str] = {}
        self._cells: dict[tuple[str, str], CheckCells] = {}

    def begin(self, gradebook: Gradebook) -> None:
        """Make or update the assignment; GradebookError where one of its name is not this course's."""
        with suppress(MissingEntry):
            self._insist_on_own(gradebook)
        due = {"duedate": self._due} if self._due else {}
        self.assignment_id = gradebook.update_or_create_assignment(self.assignment, **due).id

    def cells(self, exercise: str, check: str) -> CheckCells:
        """Give the cells of a check of a report that `hold` was called with."""
        return self._cells[exercise, check]

    def hold(self, gradebook: Gradebook, report: Report) -> None:
        """Make room for every check of a report; where reports disagree on what a check is worth, the most counts."""
        for exercise in report.exercises:
            if exercise.name not in self.notebooks:
                self.notebooks[exercise.name] = gradebook.update_or_create_notebook(exercise.name, self.assignment).id
            for check in exercise.checks:
                known = self._cells.get((exercise.name, check.name))
                if known is None or known.points < check.points:
                    self._cells[exercise.name, check.name] = self._make(
                        gradebook, exercise.name, check.name, check.points
                    )

    def retire(self, gradebook: Gradebook) -> list[str]:
        """Take away the cells of checks that no report has; give those that stay, worth nothing, for what they hold.

        What they hold is what people wrote, and marks of learners whose submission was not graded this time.
        """
        if not self._cells:
            return []
        seen = {id for cells in self._cells.values() for id in (cells.grade, cells.comment)}
        kept = []
        for notebook in gradebook.find_assignment(self.assignment).notebooks:
            for cell in [*notebook.grade_cells, *notebook.solution_cells]:
                if cell.id not in seen and not _taken_away(gradebook, cell):
                    kept.append(f"{notebook.name}/{cell.name}")
            gradebook.db.flush()
            gradebook.db.expire(notebook)
            if notebook.name not in self.notebooks and not _in_use(gradebook, notebook):
                gradebook.db.delete(notebook)
        return sorted(set(kept))

    def _make(self, gradebook: Gradebook, exercise: str, check: str, points: float) -> CheckCells:
        name = fitting(check)
        place = (name, exercise, self.assignment)
        grade = gradebook.update_or_create_grade_cell(*place, max_score=points, cell_type="code")
        return CheckCells(grade.id, gradebook.update_or_create_solution_cell(*place).id, points)

    def _insist_on_own(self, gradebook: Gradebook) -> None:
        assignment = gradebook.find_assignment(self.assignment)
        shown = f"the gradebook has an assignment {self.assignment}"
        if assignment.course_id != gradebook.course_id:
            raise GradebookError(f"{shown} of another course, {assignment.course_id}; name another database with --db")
        if any(notebook.source_cells or notebook.task_cells for notebook in assignment.notebooks):
            raise GradebookError(
                f"{shown} that `nbgrader generate_assignment` made; name another database with --db, or give the "
                "course another name"
            )


def _taken_away(gradebook: Gradebook, cell: GradeCell | SolutionCell) -> bool:
    """Delete a cell that holds nothing, else make it worth nothing."""
    kind = Grade if isinstance(cell, GradeCell) else Comment
    if gradebook.db.query(kind.id).filter(kind.cell_id == cell.id).first() is None:
        gradebook.db.delete(cell)
        return True
    if isinstance(cell, GradeCell):
        cell.max_score = 0.0
    return False


def _in_use(gradebook: Gradebook, notebook: Notebook) -> bool:
    submitted = gradebook.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.notebook_id == notebook.id)
    return bool(notebook._base_cells) or submitted.first() is not None

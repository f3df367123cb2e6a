"""fill_gradebook(reports, course, url): the reports are the truth, the gradebook shows them to nbgrader.

Filling it again changes nothing. Each learner is one transaction, so whoever reads it meanwhile, and whoever pulls the
plug, finds learners whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from nbgrader.api import Gradebook

from autograder.course import Course
from autograder.gradebook.database import FILE_NAME, file_url, opened
from autograder.gradebook.marks import write_learner, write_marks
from autograder.gradebook.structure import Structure
from autograder.report import Report, reports_in
from autograder.roster import Learner, recogniser

__all__ = ["FILE_NAME", "Filled", "file_url", "fill_gradebook", "reports_in"]


@dataclass
class Filled:
    """What a gradebook was told: how many learners have marks, and what somebody should look at.

    `place` is its address without a password. `not_graded` are submissions whose marks stayed what they were,
    `to_review` those where a check that a person marked has a new mark beneath it, `retired` checks that are no more
    but hold what a person gave, or marks of learners who were not graded this time.
    """

    place: str = ""
    learners: int = 0
    not_graded: list[str] = field(default_factory=list)
    to_review: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """Say it to the instructor."""
        counted = "1 learner" if self.learners == 1 else f"{self.learners} learners"
        yield f"Gradebook: {self.place} has the marks of {counted}"
        if self.not_graded:
            yield f"Not graded, so left as they were there: {', '.join(self.not_graded)}"
        if self.to_review:
            yield f"A mark given by hand stands above a new one, to be reviewed: {', '.join(self.to_review)}"
        if self.retired:
            yield f"Checks that are no more, worth 0 now, kept for the marks they hold: {', '.join(self.retired)}"


def fill_gradebook(reports: Iterable[Report], course: Course, url: str, *, roster: Sequence[Learner] = ()) -> Filled:
    """Bring the gradebook at `url` (made where there is none) in line with all `reports` of a class.

    Marks, extra credit and comments that people gave stay, and count before the grader's. A submission that was not
    graded changes no mark. A check that no report has any more loses its marks, except for those that people gave; they
    count on, and the check is worth nothing. A check that is worth more or less now has the new maximum and new marks.
    The learners of the `roster` are in the gradebook too, by the ids that the reports have for them.

    Raises:
        GradebookError: when the database cannot be reached, is locked, or holds something else.

    """
    filled, structure, recognised = Filled(), Structure(course), recogniser(roster)
    absent = {learner.id: learner for learner in roster}
    with opened(url, course.name) as book:
        filled.place = book.place
        with book.transaction() as gradebook:
            structure.begin(gradebook)
        for report in reports:
            learner = recognised(report.submission, report.learner_name)
            absent.pop(learner.id if learner else "", None)
            known = learner or Learner("", report.learner_name)
            with book.transaction() as gradebook:
                id = write_learner(gradebook, Learner(report.submission, known.name, known.email))
                _fill_in(filled, gradebook, report, course, structure, id)
        with book.transaction() as gradebook:
            for learner in absent.values():
                write_learner(gradebook, learner)
            filled.retired = structure.retire(gradebook)
    return filled


def _fill_in(
    filled: Filled, gradebook: Gradebook, report: Report, course: Course, structure: Structure, learner: str
) -> None:
    if not report.graded:
        filled.not_graded.append(report.submission)
        return
    structure.hold(gradebook, report)
    if write_marks(gradebook, report, course, structure, learner):
        filled.to_review.append(report.submission)
    filled.learners += 1

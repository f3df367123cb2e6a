"""`python -m autograder.gradescope.mark ROOT REPORT [SUBMISSION]`: grade what was handed in, and leave a report.

With a SUBMISSION, a folder, that one is graded instead of the learner's.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from autograder.course import Course, load_course
from autograder.grade import GradingError, grade, not_graded
from autograder.gradescope.metadata import Metadata, read_metadata
from autograder.gradescope.settings import Place
from autograder.language import say
from autograder.report import Report, to_json, write_whole
from autograder.submission import Refused, Submission, SubmissionError, read_submission


def main(root: Path, report: Path, submission: Path | None = None) -> None:
    """Grade, and write the report whole."""
    place = Place(root)
    course = load_course(place.course)
    handed_in = _read(submission or place.submission, read_metadata(place.metadata), course)
    write_whole(report, to_json(_graded(handed_in, course, trust=place.settings.trust)))


def _read(folder: Path, known: Metadata, course: Course) -> Submission | Refused:
    try:
        found = read_submission(folder, course.wanted, known.id)
    except SubmissionError as error:
        return Refused.by(error, known.id, known.name)
    return replace(found, learner_name=known.name, handed_in=known.handed_in, late=known.late)


def _graded(submission: Submission | Refused, course: Course, *, trust: bool) -> Report:
    if isinstance(submission, Refused):
        return not_graded(submission, course, submission.reason_phrase or submission.reason)
    try:
        return grade(submission, course, trust=trust)
    except GradingError as error:
        # What to do about it is for instructors, who alone see what is printed.
        print(f"not graded: {error}", flush=True)
        why = str(error).partition(";")[0]
        return not_graded(submission, course, say("Nothing can be graded here: {why}. Tell your instructor.", why=why))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

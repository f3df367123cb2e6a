"""The pages for an instructor: grades/class.html, from the reports alone, and grades/similar.html beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.language import said_by
from autograder.outputs.html.class_page import FEEDBACK, class_page
from autograder.outputs.html.similar_page import similar_page
from autograder.report import ReportError, from_json, write_whole
from autograder.roster import Learner, recogniser
from autograder.similar import Likeness
from autograder.tally import Tally

FILE_NAME = "class.html"
SIMILAR = "similar.html"


def make_similar_page(out: Path, likeness: Likeness, course: Course, language: str) -> Path:
    """Make the page of submissions that are alike, beside that of the class. ReportError where it cannot be written."""
    return _written(out / SIMILAR, similar_page(likeness, course, language, linked=_pages_in(out)))


def make_class_page(out: Path, course: Course, language: str, roster: Sequence[Learner] = ()) -> Path:
    """Make the page of the reports in `out`, in one language; who is on the `roster` and has no report is missing.

    A report that cannot be read is named on the page.

    Raises:
        ReportError: when the page cannot be written.

    """
    tally = Tally()
    for path in sorted((out / "reports").glob("*.json")):
        try:
            tally.add(from_json(path.read_bytes()))
        except ReportError as error:
            tally.unreadable[path.name] = said_by(error)
        except OSError as error:
            tally.unreadable[path.name] = error.strerror or str(error)
    if roster:
        tally.call_the_roll(roster, recogniser(roster))
    similar = SIMILAR if (out / SIMILAR).is_file() else ""
    return _written(out / FILE_NAME, class_page(tally, course, language, linked=_pages_in(out), similar=similar))


def _pages_in(out: Path) -> Callable[[str], bool]:
    """Give what says of a file name whether it is that of a page of feedback."""
    return {page.name for page in (out / FEEDBACK).glob("*.html")}.__contains__


def _written(path: Path, html: str) -> Path:
    # Text that has no UTF-8 form was made visible before; nothing else can fail here.
    write_whole(path, html.encode("utf-8", "backslashreplace"))
    return path

"""The page of a class, grades/class.html: made from the reports alone, after grading or at any time later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.course import Course
from autograder.language import said_by
from autograder.outputs.html.class_page import FEEDBACK, class_page
from autograder.report import ReportError, from_json, write_whole
from autograder.roster import Learner, recogniser
from autograder.tally import Tally

FILE_NAME = "class.html"
SIMILAR = "similar.html"


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
    pages = {page.name for page in (out / FEEDBACK).glob("*.html")}
    similar = SIMILAR if (out / SIMILAR).is_file() else ""
    html = class_page(tally, course, language, linked=pages.__contains__, similar=similar)
    # Text that has no UTF-8 form was made visible before; nothing else can fail here.
    path = out / FILE_NAME
    write_whole(path, html.encode("utf-8", "backslashreplace"))
    return path

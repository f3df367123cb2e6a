"""`python -m autograder.gradescope.ready ROOT`: try the place once, when Gradescope builds it, and tell the instructor.

The solutions are graded there. Nothing is refused here: where the place that builds has other walls than the one that
runs, the run decides.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.course import load_course
from autograder.gradescope.mark import main as mark
from autograder.gradescope.settings import Place
from autograder.outputs.text import number
from autograder.report import from_json


def main(root: Path) -> None:
    """Say what the solutions earn, behind which walls."""
    course = load_course(Place(root).course)
    with TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        mark(root, file, course.paths.solutions)
        report = from_json(file.read_bytes())
    if not report.graded:
        print(f"NOT READY: {report.reason}; make the archive with --trust to go on without")
        return
    earned, points = number(report.core_earned), number(report.points)
    print(f"ready: the solutions earn {earned} of {points} points behind {', '.join(report.isolation)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

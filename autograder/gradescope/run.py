"""`python -m autograder.gradescope.run ROOT`: what becomes of one submission at Gradescope.

What is printed is for instructors; learners see results.json. That is written here, by a process that runs no learner's
code: the one that grades is watched, and ended with all it started where it takes too long.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autograder.course import Course, load_course
from autograder.exports.gradescope import results_of, without_a_mark
from autograder.gradescope.settings import Place
from autograder.language import Phrase, say
from autograder.report import Report, ReportError, from_json, indented, write_whole
from autograder.sandbox import jail

BROKEN = say("The grader itself failed, which is no fault of yours. Please tell your instructor.")
NO_MARK = say("This submission was not graded, and has no mark:")


def main(root: Path) -> None:
    """Grade the submission and write results.json."""
    place = Place(root)
    course = load_course(place.course)
    write_whole(place.results, indented(_results(place, course)))


def _results(place: Place, course: Course) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "report.json")
        seconds = place.settings.seconds
        status = ended_within(
            seconds, [sys.executable, "-B", "-I", "-m", "autograder.gradescope.mark", str(place.root), str(file)]
        )
        if status is None:
            print(f"not graded: nothing was finished in {seconds:g} s; see settings.json in the archive")
            why = say("It took longer than {seconds} s altogether and was ended.", seconds=f"{seconds:g}")
            return _told(why, course)
        try:
            report = from_json(file.read_bytes())
        except (OSError, ReportError) as error:
            print(f"not graded: the grader ended with status {status} and left no report ({error})")
            return _told(BROKEN, course)
    return results_of(report, course, with_bonus=place.settings.with_bonus, more=_about_the_jail(report, course))


def ended_within(seconds: float, command: list[str]) -> int | None:
    """Run a command and give its status, or None where it had to be ended, with every process of its session."""
    with subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Also what a grader that died left behind.
            _kill_session(process.pid)


def _kill_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _about_the_jail(report: Report, course: Course) -> list[str]:
    """Say which layers held, and where some are missing, which; nothing where no code was run."""
    reader = course.reader(course.languages[0])
    if not report.isolation:
        return []
    missing = [layer for layer in jail.LAYERS if layer not in report.isolation]
    said = [say("Your code ran behind these walls: {layers}", layers=", ".join(report.isolation))]
    if missing:
        said.append(say("These walls could not be had here: {layers}", layers=", ".join(missing)))
    return [reader.read(phrase) for phrase in said]


def _told(why: Phrase, course: Course) -> dict[str, Any]:
    reader = course.reader(course.languages[0])
    return without_a_mark([reader.read(NO_MARK), reader.read(why)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))

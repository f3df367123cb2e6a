"""A check in a process of its own, for programs that must go on whatever happens in it, such as a notebook's kernel.

    python -P -m autograder.tried COURSE FOLDER EXERCISE RECORD

Exceptions:
    CheckFailed   one line that says why there is no result
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec

from autograder.course import CourseError, load_course
from autograder.language import Phrase, said_by, say
from autograder.report import ExerciseResult
from autograder.submission import SubmissionError

END_SECONDS = 5.0
# A kernel sets it to what draws into the notebook, which no other process can.
KERNELS_OWN = ("MPLBACKEND",)
# By name: a learner's copy has no grader to import it from.
GRADING_ERROR = "autograder.grade.GradingError"


class CheckFailed(Exception):
    """There is no result, and why."""


class Told(msgspec.Struct):
    """What the process found out: a result, or a line that says why there is none."""

    result: ExerciseResult | None = None
    trouble: Phrase | str = ""


def tried_apart(course_file: Path, folder: Path, exercise: str) -> ExerciseResult:
    """Try the module of an exercise in `folder`, as `attend check` does, in a process of its own.

    An interrupt ends the process and goes on to the caller. Raises CheckFailed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        record, errors = Path(scratch, "record.json"), Path(scratch, "errors.txt")
        status = _run(["-m", __name__, str(course_file), str(folder), exercise, str(record)], errors)
        try:
            told = msgspec.json.decode(record.read_bytes(), type=Told)
        except (OSError, msgspec.DecodeError):
            *_, last = ["it says nothing", *errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()]
            said = say("the check ended with status {status} and no result: {why}", status=status, why=last)
            raise CheckFailed(said) from None
    if told.result is None:
        raise CheckFailed(told.trouble)
    return told.result


def _run(arguments: list[str], errors: Path) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in KERNELS_OWN}
    with errors.open("wb") as file:
        process = subprocess.Popen(
            # -P: the folder that a notebook is in must not give this process its modules.
            [sys.executable, "-P", *arguments],
            env=environment | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
        try:
            return process.wait()
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let it take down what it started, then kill it."""
    if process.poll() is not None:
        return
    if os.name == "posix":
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
    process.kill()
    process.wait()


def main(course_file: str, folder: str, exercise: str, record: str) -> None:
    """Try, and write what came of it to `record`."""
    from autograder.practice import check

    try:
        course = load_course(Path(course_file))
        (result,) = check(Path(folder), [course.exercise(exercise)], course)
        told = Told(result=result)
    except (CourseError, SubmissionError) as error:
        told = Told(trouble=said_by(error))
    except Exception as error:
        if f"{type(error).__module__}.{type(error).__qualname__}" != GRADING_ERROR:
            raise
        told = Told(trouble=said_by(error))
    Path(record).write_bytes(msgspec.json.encode(told))


if __name__ == "__main__":
    main(*sys.argv[1:])

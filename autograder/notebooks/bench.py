"""A process beside nbgrader's that grades notebooks, and what is asked of it and answered (see `__main__`).

Exceptions:
    BenchError  nothing can be graded there; one line that says why
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import msgspec

from autograder.language import Phrase

# A grader that died is started once more for the notebook that it had in hand.
ATTEMPTS = 2


class BenchError(Exception):
    """Nothing can be graded; one line that says why and what to do."""


class Task(msgspec.Struct):
    """The module of one exercise as a learner's notebook has it, or why there is none."""

    learner: str
    exercise: str
    module: bytes = b""
    problem: Phrase | str = ""


class Mark(msgspec.Struct):
    """What a check earned, of how much, and what its learner may be told of it, in words."""

    earned: float
    points: float
    passed: bool
    said: str = ""

    def share(self) -> float:
        """Give what was earned as a part of what could be, from 0 to 1."""
        return self.earned / self.points if self.points else float(self.passed)


class Verdict(msgspec.Struct):
    """The marks of an exercise by check; or, in `trouble`, why it could not be graded, which is never a zero."""

    marks: dict[str, Mark] = {}
    trouble: str = ""


class Bench:
    """The grading process of a course, started when there is something to grade and ended with this object."""

    def __init__(self, course: str = "", *, trust: bool = False) -> None:
        self._command = [
            sys.executable,
            "-P",
            "-m",
            "autograder.notebooks",
            course,
            *(["--trust"] if trust else []),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as this object)

    def __enter__(self) -> Bench:
        """Begin; nothing is started yet."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End the process."""
        self.close()

    def grade(self, task: Task) -> Mapping[str, Mark]:
        """Have one exercise graded.

        Raises:
            BenchError: it cannot be, and why.

        """
        trouble = ""
        for _ in range(ATTEMPTS):
            answer = self._ask(task)
            if answer is not None and not answer.trouble:
                return answer.marks
            trouble = answer.trouble if answer else f"the grading process ended: {self._last_words()}"
            self.close()
        raise BenchError(trouble)

    def close(self) -> None:
        """End the process, which goes when its input does."""
        process, self._process = self._process, None
        if process is not None:
            for end in (process.stdin, process.stdout):
                if end is not None:
                    end.close()
            process.wait()

    def _ask(self, task: Task) -> Verdict | None:
        process = self._process = self._process or self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(), type=Verdict)
        except (OSError, msgspec.DecodeError):
            return None

    def _started(self) -> subprocess.Popen[bytes]:
        # Not in the folder of a submission, whose files must not be taken for Python's.
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=Path(__file__).parents[2],
        )

    def _last_words(self) -> str:
        self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, self._complaints.tell() - 2000))
        lines = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"

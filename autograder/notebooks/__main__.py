"""The process that grades notebooks: suites are collected once, and learner code runs in the jail.

    python -P -m autograder.notebooks COURSE [--trust]

It reads one `Task` a line and answers with one `Verdict` a line, until its input ends.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import msgspec

from autograder.course import CourseError, meant_course
from autograder.grade import Grader, GradingError, running_grader
from autograder.language import said_by
from autograder.notebooks.bench import Task, Verdict
from autograder.notebooks.marking import answer
from autograder.session import Checks


def main(arguments: list[str]) -> None:
    """Answer tasks until the input ends."""
    named, trust = arguments[0], "--trust" in arguments
    replies = _private_output()
    try:
        course = meant_course(named)

        def work(grader: Grader, checks: Checks) -> None:
            for line in sys.stdin.buffer:
                _reply(replies, answer(msgspec.json.decode(line, type=Task), course, grader, checks))

        running_grader(course, work, trust=trust)
    except (CourseError, GradingError) as error:
        _reply(replies, Verdict(trouble=str(said_by(error))))


def _private_output() -> BinaryIO:
    """Keep the answers apart from whatever else prints: suites, solutions and libraries go to stderr."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _reply(replies: BinaryIO, verdict: Verdict) -> None:
    replies.write(msgspec.json.encode(verdict) + b"\n")
    replies.flush()


if __name__ == "__main__":
    main(sys.argv[1:])

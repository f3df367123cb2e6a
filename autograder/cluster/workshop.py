"""The process in which a worker of a cluster grades: all is loaded once, and each submission has a fork of it.

It is apart from Dask's own, which has threads that must not be forked, and which must outlive whatever happens here.
It takes `Terms` as one line of JSON on its standard input and answers with one line, `Opened`. Each connection to its
address is then one submission, pickled, and its `Reply`; where the fork that grades it dies, there is none.
It ends when its standard input does, which is when the worker does, and when there has been nothing to do for long.
"""

from __future__ import annotations

import os
import pickle
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from socketserver import BaseRequestHandler, ForkingMixIn, UnixStreamServer
from typing import BinaryIO

import msgspec

from autograder.cluster import ClusterError
from autograder.cluster.terms import Opened, Reply, Terms, differing
from autograder.course import Course, CourseError, load_course, own_course
from autograder.fingerprint import Fingerprint
from autograder.grade import Grader, GradingError, incomplete, running_grader
from autograder.report import to_json
from autograder.sandbox import jail
from autograder.sandbox.learner import JailMissing
from autograder.session import Checks

COURSE_HERE = "ATTEND_COURSE"
LOOK_ROUND_SECONDS = 1.0
IDLE_SECONDS = 600.0


def main() -> None:
    """Open a workshop on the terms that stand on the standard input."""
    opened = _standard_output_for_us_alone()
    terms = msgspec.json.decode(sys.stdin.buffer.readline(), type=Terms)

    def body(grader: Grader, checks: Checks) -> None:
        if terms.many:
            grader.expect_many(checks)
        hands = grader.lent()
        with tempfile.TemporaryDirectory(prefix="attend-") as folder:
            address = str(Path(folder) / "workshop")
            with _Workshop(address, lambda submission: _graded(submission, hands, checks)) as workshop:
                _tell(opened, Opened(address=address))
                workshop.work()

    try:
        running_grader(_course_for(terms), body, trust=terms.trust)
    except (ClusterError, CourseError, GradingError) as error:
        _tell(opened, Opened(refusal=str(error)))


def _course_for(terms: Terms) -> Course:
    """Give the course as it is on this machine. Raises ClusterError where it would give other marks."""
    path = os.environ.get(COURSE_HERE) or terms.course
    course = load_course(Path(path) if path else own_course())
    if difference := differing(terms.parts, Fingerprint(course).parts):
        raise ClusterError(f"it would give other marks, since {difference}; bring both to the same state")
    return course


def _graded(pickled: bytes, hands: Grader, checks: Checks) -> bytes:
    try:
        reply = Reply(report=to_json(hands.grade(pickle.loads(pickled), checks)))
    except JailMissing as missing:
        reply = Reply(refusal=incomplete(missing))
    return msgspec.msgpack.encode(reply)


class _Workshop(ForkingMixIn, UnixStreamServer):
    """Grades the submission of each connection in a fork of this process."""

    # The worker's threads are the limit; at its own, the server would reap processes that are not its.
    max_children = sys.maxsize
    # Hands that still work when this ends are wanted by nobody.
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: str, graded: Callable[[bytes], bytes]) -> None:
        super().__init__(address, BaseRequestHandler)
        self._graded = graded
        self._pid = os.getpid()

    def work(self) -> None:
        """Take connections until the worker has gone, or has not come for long."""
        last = time.monotonic()
        while time.monotonic() - last < IDLE_SECONDS:
            ready, _, _ = select.select([self, sys.stdin], [], [], LOOK_ROUND_SECONDS)
            if sys.stdin in ready:
                return
            if ready:
                self.handle_request()
            self.collect_children()
            if ready or self.active_children:
                last = time.monotonic()

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Grade, in the fork."""
        jail.die_with_parent()
        if os.getppid() != self._pid or not isinstance(request, socket.socket):
            return
        self.socket.close()
        with request.makefile("rb") as submission:
            reply = self._graded(submission.read())
        request.sendall(reply)


def _standard_output_for_us_alone() -> BinaryIO:
    """Keep what suites print out of what is said to the worker."""
    ours = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
    return ours


def _tell(opened: BinaryIO, answer: Opened) -> None:
    if not opened.closed:
        with opened:
            opened.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main()

"""What a Dask worker does with a submission: it has it graded by a workshop, which it keeps for its life."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from contextlib import closing

import msgspec
from distributed import Worker, get_worker

from autograder.cluster import ClusterError
from autograder.cluster.terms import Opened, Reply
from autograder.sandbox import jail

NAME = "attend"
END_SECONDS = 5.0


def graded_here(submission: bytes, terms: bytes) -> bytes:
    """Give the report of a pickled submission as JSON; nothing where grading it was the death of two processes.

    Raises:
        ClusterError: when this worker cannot grade, or not to the same marks; the line names it.

    """
    worker = get_worker()
    try:
        return _workshops_of(worker).graded(submission, terms)
    except ClusterError as error:
        raise ClusterError(f"the worker {worker.address}: {error}") from None


async def ready_here(terms: bytes, dask_worker: Worker) -> None:
    """Open the workshop of this worker, beside its event loop. Raises ClusterError as `graded_here` does."""
    try:
        await asyncio.to_thread(_workshops_of(dask_worker).open, terms)
    except ClusterError as error:
        raise ClusterError(f"the worker {dask_worker.address}: {error}") from None


def _workshops_of(worker: Worker) -> Workshops:
    # An extension lives as long as its worker, which closes it in the end.
    workshops: Workshops = worker.extensions.setdefault(NAME, Workshops())
    return workshops


class Workshops:
    """The workshops of one worker, by their terms; those of runs that are over end by themselves."""

    def __init__(self) -> None:
        self._open: dict[bytes, Workshop] = {}
        self._opening = threading.Lock()

    def graded(self, submission: bytes, terms: bytes) -> bytes:
        """Grade in the workshop that all share; where that fails, in one for this submission alone."""
        reply = self.open(terms).graded(submission)
        if reply is None:
            with closing(Workshop(terms)) as alone:
                reply = alone.graded(submission)
        if reply is not None and reply.refusal:
            raise ClusterError(reply.refusal)
        return reply.report if reply is not None else b""

    def open(self, terms: bytes) -> Workshop:
        """Give the workshop on these terms, opened if it is not."""
        with self._opening:
            if terms not in self._open or self._open[terms].has_ended:
                self._open[terms] = Workshop(terms)
            return self._open[terms]

    def close(self) -> None:
        """End them all: Dask calls this when the worker closes."""
        for workshop in self._open.values():
            workshop.close()


class Workshop:
    """One process that grades, seen from its worker. Raises ClusterError where it cannot be opened."""

    def __init__(self, terms: bytes) -> None:
        if not jail.can_fork():
            raise ClusterError(f"it runs on {sys.platform}, where grading processes cannot be forked; use Linux there")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.cluster.workshop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in the worker's terminal is the worker's to answer.
            start_new_session=True,
        )
        opened = self._opened(terms)
        if opened.refusal:
            self.close()
            raise ClusterError(opened.refusal)
        self._address = opened.address

    @property
    def has_ended(self) -> bool:
        """Whether its process has gone."""
        return self._process.poll() is not None

    def graded(self, submission: bytes) -> Reply | None:
        """Give what the workshop has to say of a submission, or nothing where its process or its fork died."""
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(self._address)
                line.sendall(submission)
                line.shutdown(socket.SHUT_WR)
                with line.makefile("rb") as answer:
                    return msgspec.msgpack.decode(answer.read(), type=Reply)
        except (OSError, msgspec.DecodeError):
            return None

    def close(self) -> None:
        """End its process, and with it the forks and the learners."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _opened(self, terms: bytes) -> Opened:
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(terms + b"\n")
            self._process.stdin.flush()
            return msgspec.json.decode(self._process.stdout.readline(), type=Opened)
        except (OSError, msgspec.DecodeError):
            return Opened(refusal="its grading process ended before it was ready; the worker's output says why")

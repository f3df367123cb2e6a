"""Hands submissions to the workers of a Dask cluster, as bytes, and takes in the reports, as bytes."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import closing, contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from autograder.circumstances import with_circumstances
from autograder.cluster import ClusterError
from autograder.cluster.terms import Terms
from autograder.course import FILE_NAME, Course, own_course
from autograder.fingerprint import Fingerprint
from autograder.grade import DIED_TWICE, are_many, insist_on_hidden_files, not_graded
from autograder.report import Report, from_json
from autograder.submission import Refused, Submission

if TYPE_CHECKING:
    from distributed import Client, KilledWorker

CONNECT_SECONDS = 8.0
CLOSE_SECONDS = 1.0
LOOK_ROUND_SECONDS = 1.0
WITHOUT_WORKERS_SECONDS = 60.0
# Enough that no thread of a worker waits for this process, few enough that tasks are made as they are needed.
WAITING_PER_THREAD = 2
KEPT = "what is graded is kept, so the same command goes on"

Handed = Submission | Refused


def grade_on_cluster(
    submissions: Iterable[Handed],
    course: Course,
    *,
    receive: Callable[[Report], None],
    scheduler: str,
    trust: bool = False,
    of_class: int = 0,
) -> None:
    """Grade submissions on the workers of `scheduler`, and hand over each report as it is ready, in any order.

    They are asked as the submissions of a class of that size are where `grade_all` grades it.

    Raises:
        ClusterError: when the scheduler does not answer, or a worker cannot grade to the marks of this machine.
        GradingError: when the course lacks what grading needs.

    """
    insist_on_hidden_files(course)
    with _connected(scheduler) as client:
        cluster = Cluster(client, scheduler, course, trust=trust, many=are_many(submissions, of_class))
        cluster.insist_on_workers()
        with closing(cluster.work_off(submissions)) as reports:
            for report in reports:
                receive(report)


class Cluster:
    """The workers of a scheduler, at work for a course."""

    def __init__(self, client: Client, scheduler: str, course: Course, *, trust: bool, many: bool) -> None:
        self._client = client
        self._scheduler = scheduler
        self._course = course
        self._terms = msgspec.json.encode(Terms(_place_of(course), Fingerprint(course).parts, trust, many))
        self._workers_seen = time.monotonic()

    def insist_on_workers(self) -> None:
        """Have every worker load what it needs; ClusterError names all that cannot, or says that there is none."""
        from autograder.cluster.worker import ready_here

        if not self._n_threads():
            raise ClusterError(f"{self._scheduler} has no workers; start one with: dask worker {self._scheduler}")
        answers = self._client.run(ready_here, self._terms, on_error="return")
        # OSError is the silence of a worker that has just gone, which is no trouble.
        refusals = [
            _refusal(address, answer)
            for address, answer in sorted(answers.items())
            if isinstance(answer, Exception) and not isinstance(answer, OSError)
        ]
        if refusals:
            raise ClusterError("; ".join(refusals))

    def work_off(self, submissions: Iterable[Handed]) -> Generator[Report, None, None]:
        """Give the reports as they come. What workers died of, it seems, is tried once more by itself."""
        suspects: list[Handed] = []
        executor = self._client.get_executor(pure=False)
        try:
            yield from self._together(iter(submissions), executor, suspects)
            for suspect in suspects:
                yield self._alone(suspect, executor)
        finally:
            # What workers have in hand they finish, for nobody; what waits is taken back.
            if self._client.status == "running":
                executor.shutdown(wait=False)

    def _together(self, waiting: Iterator[Handed], executor: Executor, suspects: list[Handed]) -> Iterator[Report]:
        from distributed import KilledWorker

        futures: dict[Future[bytes], Handed] = {}
        while True:
            room = max(1, self._n_threads() * WAITING_PER_THREAD) - len(futures)
            futures |= {self._handed_out(each, executor): each for each in islice(waiting, max(0, room))}
            if not futures:
                return
            for future in self._done(futures):
                submission = futures.pop(future)
                try:
                    yield self._report(submission, future)
                except KilledWorker:
                    suspects.append(submission)

    def _alone(self, submission: Handed, executor: Executor) -> Report:
        from distributed import KilledWorker

        future = self._handed_out(submission, executor)
        while not self._done([future]):
            pass
        try:
            return self._report(submission, future)
        except KilledWorker as killed:
            return not_graded(submission, self._course, _died_of(killed))

    def _handed_out(self, submission: Handed, executor: Executor) -> Future[bytes]:
        from autograder.cluster.worker import graded_here

        return executor.submit(graded_here, pickle.dumps(submission), self._terms)

    def _done(self, futures: Iterable[Future[bytes]]) -> set[Future[bytes]]:
        """Wait a moment for some; ClusterError where nobody is there any more to do them."""
        done = wait(futures, LOOK_ROUND_SECONDS, return_when=FIRST_COMPLETED).done
        if not done and not self._n_threads():
            if time.monotonic() - self._workers_seen > WITHOUT_WORKERS_SECONDS:
                raise ClusterError(f"{self._scheduler} has lost all its workers; start one; {KEPT}")
        else:
            self._workers_seen = time.monotonic()
        return done

    def _report(self, submission: Handed, future: Future[bytes]) -> Report:
        """Give the report as this machine would have made it. Raises KilledWorker, and ClusterError for the rest."""
        from distributed import KilledWorker

        try:
            answer = future.result()
        except (ClusterError, KilledWorker):
            raise
        except CancelledError:
            raise self._has_gone() from None
        except Exception as error:
            raise ClusterError(f"{self._scheduler}: a worker failed: {_in_a_line(error)}; {KEPT}") from error
        if not answer:
            return not_graded(submission, self._course, DIED_TWICE)
        # Dates may differ there, and an id that is no UTF-8 does not survive JSON.
        report = msgspec.structs.replace(from_json(answer), submission=submission.id)
        return with_circumstances(report, submission, self._course)

    def _n_threads(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except (OSError, ValueError, CancelledError):
            raise self._has_gone() from None

    def _has_gone(self) -> ClusterError:
        return ClusterError(f"the scheduler {self._scheduler} has gone; {KEPT}")


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    if find_spec("distributed") is None:
        raise ClusterError(
            f"{scheduler}: a cluster needs Dask, which is not installed; install attention-by-hand[cluster]"
        )
    from distributed import Client

    # What it has to say is said in one line here.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _insist_on_scheduler(scheduler)
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:
        raise ClusterError(f"the scheduler {scheduler} cannot be used: {_in_a_line(error)}") from None
    try:
        yield client
    finally:
        client.close(timeout=CLOSE_SECONDS)


def _insist_on_scheduler(address: str) -> None:
    """Ask who is there, since a client of Dask hangs at some of what is no scheduler."""
    try:
        kind = asyncio.run(asyncio.wait_for(_kind_of_server(address), CONNECT_SECONDS))
    except TimeoutError:
        raise ClusterError(
            f"no Dask scheduler answers at {address}; correct it, or start one: dask scheduler"
        ) from None
    except Exception as error:
        raise ClusterError(f"{address} cannot be asked: {_in_a_line(error)}; give tcp://host:port") from None
    if kind != "Scheduler":
        raise ClusterError(f"{address} is a {kind.lower()} of Dask; give the address of its scheduler")


async def _kind_of_server(address: str) -> str:
    from distributed.core import rpc
    from distributed.security import Security

    async with rpc(address, CONNECT_SECONDS - 1, connection_args=Security().get_connection_args("client")) as server:
        return str((await server.identity())["type"])


def _place_of(course: Course) -> str:
    """Give the path of a course for another machine, or nothing for the kit's own, wherever the kit is there."""
    file = course.root / FILE_NAME
    return "" if file.resolve() == own_course() else str(file)


def _refusal(address: str, answer: Exception) -> str:
    if isinstance(answer, ClusterError):
        return str(answer)
    return f"the worker {address} cannot grade ({_in_a_line(answer)}); install the same kit there"


def _died_of(killed: KilledWorker) -> str:
    times = killed.allowed_failures + 1
    last = killed.last_worker.address
    return f"the worker that graded it died, {times} times or more, and again; {last}, the last, may know why"


def _in_a_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip()[:300] if lines else type(error).__name__

"""Many hands: tasks are worked off by forks of this process, which have loaded already what the work needs.

Where a system cannot fork safely, this process does the work alone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, Generic, TypeVar

from autograder.sandbox import jail

Task = TypeVar("Task")
Result = TypeVar("Result")

# Enough that no hand waits for this process, few enough that tasks are made as they are needed.
WAITING_PER_HAND = 2
LOOK_FOR_PARENT_SECONDS = 1.0


class Crew(Generic[Task, Result]):
    """Works off tasks on `jobs` processes; `work` needs no pickling, tasks and results do.

    A process that dies takes the others of its pool with it. What they had in hand is tried again, each task in a
    pool of its own, and `lost` gives the result of one that is the death of its process again.
    """

    def __init__(
        self, work: Callable[[Task], Result], *, jobs: int, lost: Callable[[Task], Result], apart: bool = False
    ) -> None:
        """With `apart`, a single job has a process of its own too, so that this one outlives it."""
        self._work = work
        self._jobs = jobs
        self._lost = lost
        self._alone_here = not jail.can_fork() or (jobs == 1 and not apart)

    def work_off(self, tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """Give the results as they come, in any order."""
        if self._alone_here:
            yield from map(self._work, tasks)
            return
        waiting = iter(tasks)
        in_hand: list[Task] = []
        while True:
            yield from self._with_a_pool(waiting, in_hand)
            if not in_hand:
                return
            yield from map(self._alone, in_hand)
            in_hand.clear()

    def _with_a_pool(self, waiting: Iterator[Task], in_hand: list[Task]) -> Iterator[Result]:
        """Work until nothing is left, or a process dies: then what it and others had is left in `in_hand`."""
        # A pool breaks while tasks are handed to it as well as while results are waited for.
        with self._pool(self._jobs) as pool, suppress(BrokenProcessPool), _hands_that_end_with_this():
            futures: dict[Future[Result], Task] = {}
            while True:
                for task in islice(waiting, self._jobs * WAITING_PER_HAND - len(futures)):
                    in_hand.append(task)
                    futures[pool.submit(_do, task)] = task
                if not futures:
                    return
                for future in wait(futures, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    in_hand.remove(futures.pop(future))
                    yield result

    def _alone(self, task: Task) -> Result:
        with self._pool(1) as pool, _hands_that_end_with_this():
            future: Future[Result] = pool.submit(_do, task)
            try:
                return future.result()
            except BrokenProcessPool:
                return self._lost(task)

    def _pool(self, jobs: int) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(self._work, os.getpid()))


@contextmanager
def _hands_that_end_with_this() -> Iterator[None]:
    """Kill the hands when this block is left in a hurry: what they have in hand may take long, or for ever."""
    try:
        yield
    except BaseException:
        for hand in multiprocessing.active_children():
            hand.kill()
        raise


class _Hand:
    """What a forked process does with each task: set once, right after the fork."""

    work: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any], parent: int) -> None:
    _Hand.work = work
    # Ctrl-C reaches every process of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_go_with, args=(parent,), daemon=True).start()


def _go_with(parent: int) -> None:
    """End this process when its parent has gone, however that went."""
    while os.getppid() == parent:
        time.sleep(LOOK_FOR_PARENT_SECONDS)
    os._exit(1)


def _do(task: Any) -> Any:
    return _Hand.work(task)


def processors() -> int:
    """Give how many processes can work at once on this machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1

"""Whole processes, measured from outside after their end.

Only then is the processor time of every descendant that somebody waited for in the sum: fork servers, learners'
processes, kernels. Memory is told twice. The largest process's peak is the kernel's own record. What all processes
hold together is looked at once in a while, pages that they share counted once where the system can tell.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import psutil

LOOK_SECONDS = 1.0
BYTES_PER_MIB = 2**20
PEAKS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


@dataclass(frozen=True)
class Figures:
    """One process with its descendants: seconds on the processors and on the clock, peak memory in MiB."""

    processor: float
    wall: float
    largest: float
    together: float


def cost_of_one(few: Figures, many: Figures, count: int) -> Figures:
    """Give what each of the `count` submissions costs that one run had more than the other, and the larger's memory."""
    return Figures(
        (many.processor - few.processor) / count, (many.wall - few.wall) / count, many.largest, many.together
    )


def measured(command: Sequence[str], folder: Path, *, look_seconds: float = LOOK_SECONDS) -> Figures:
    """Run a command in `folder` and give its figures; when it fails, print what it wrote and end."""
    with tempfile.TemporaryFile() as written:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=written, stderr=written)
        watch = Watch(process.pid, look_seconds)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        together = watch.end()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            written.seek(0)
            sys.exit(f"{' '.join(command)}: status {process.returncode}\n{written.read().decode(errors='replace')}")
    return Figures(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / PEAKS_PER_MIB, together)


class Watch:
    """Looks at the memory of a process and its descendants until it is told to end."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._peak = 0.0
        self._ended = Event()
        self._thread = Thread(target=self._look, args=(pid, seconds), daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Stop looking, and give the most MiB that was seen."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _look(self, pid: int, seconds: float) -> None:
        while not self._ended.wait(seconds):
            self._peak = max(self._peak, held_together(pid))


def held_together(pid: int) -> float:
    """Give the MiB that a process and its descendants hold now; 0 when it has gone."""
    try:
        first = psutil.Process(pid)
        return sum(_held_by(process) for process in [first, *first.children(recursive=True)]) / BYTES_PER_MIB
    except psutil.Error:
        return 0.0


def _held_by(process: psutil.Process) -> int:
    try:
        memory = process.memory_full_info()
    except psutil.Error:
        return 0
    return getattr(memory, "pss", memory.uss)


def positive(text: str) -> int:
    """Read a count."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of submissions")
    return int(text)

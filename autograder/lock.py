"""One run at a time in a folder: who comes second is told who is there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.report import ReportError, write_whole

LOCK = ".grading.lock"
HOLDER = ".grading"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for this block; the system frees it when this process ends, however it does.

    Raises:
        ReportError: another run holds it; the line says which, and since when.

    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ReportError(f"{folder} is in use by {_holder(folder)}; wait for it, or name another folder") from None
    except (OSError, NotImplementedError) as error:
        raise ReportError(f"{folder / LOCK} cannot be locked: {error}; name another folder") from None
    try:
        since = datetime.now().strftime("%H:%M:%S")
        write_whole(folder / HOLDER, f"process {os.getpid()} on {socket.gethostname()}, since {since}".encode())
        yield
    finally:
        (folder / HOLDER).unlink(missing_ok=True)
        lock.release()


def _holder(folder: Path) -> str:
    try:
        return (folder / HOLDER).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "another run"

"""How pytest is started for public tests: anew each time, or as a fork of a process that has everything loaded.

Exceptions:
    Stopped   somebody no longer waits for the tests
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

END_SECONDS = 5.0
# Public tests need none of the plugins that happen to be installed, which take four times as long as pytest itself;
# and notebooks ask every program for colours, which no option keeps out of pytest's record.
PLAIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PY_COLORS": "0"}


class Stopped(Exception):
    """The tests were stopped from another thread."""


class Runner(Protocol):
    """Runs pytest."""

    def run(self, folder: Path, arguments: Sequence[str], seconds: float) -> int:
        """Run it in `folder` and give its status; subprocess.TimeoutExpired after `seconds`, Stopped when stopped."""

    def stop(self) -> None:
        """Stop what is run now, from another thread."""

    def close(self) -> None:
        """End what was kept ready."""


class Fresh:
    """Starts an interpreter for each run, which works on every system."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, folder: Path, arguments: Sequence[str], seconds: float) -> int:
        """Run `python -m pytest`."""
        self._stopped = False
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=folder,
            env=os.environ | PLAIN,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as self._running:
            try:
                if self._stopped:
                    self._running.kill()
                status = self._running.wait(seconds)
            finally:
                self._running.kill()
        if self._stopped:
            raise Stopped
        return status

    def stop(self) -> None:
        """Kill the interpreter."""
        self._stopped = True
        if self._running is not None:
            self._running.kill()

    def close(self) -> None:
        """Nothing is kept."""


class Forked:
    """Asks `autograder.public_server`, which is started at once and loads the libraries meanwhile."""

    def __init__(self, libraries: Sequence[str]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.public_server", *libraries],
            env=os.environ | PLAIN,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._unread = b""
        self._child = 0
        self._stopped = False

    def run(self, folder: Path, arguments: Sequence[str], seconds: float) -> int:
        """Have a fork run pytest."""
        self._stopped = False
        assert self._server.stdin is not None
        request = json.dumps({"folder": str(folder.absolute()), "arguments": list(arguments)})
        self._server.stdin.write(f"{request}\n".encode())
        self._server.stdin.flush()
        self._child = self._number(None)
        try:
            if self._stopped:
                self.stop()
            status = self._number(time.monotonic() + seconds)
        except TimeoutError:
            self._kill()
            self._number(None)
            raise subprocess.TimeoutExpired("pytest", seconds) from None
        except BaseException:
            # Ctrl-C, for one: nobody comes back for the answer.
            self._kill()
            raise
        finally:
            self._child = 0
        if self._stopped:
            raise Stopped
        return status

    def stop(self) -> None:
        """Kill the fork, and what it started."""
        self._stopped = True
        self._kill()

    def close(self) -> None:
        """End the server, and the fork that may be left."""
        self._kill()
        assert self._server.stdin is not None
        with contextlib.suppress(OSError):
            self._server.stdin.close()
        try:
            self._server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()

    def _kill(self) -> None:
        if child := self._child:
            for kill in (os.killpg, os.kill):
                # The group is there a moment later than the process.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(child, signal.SIGKILL)

    def _number(self, deadline: float | None) -> int:
        """Read a number that the server sends; OSError where it has ended, TimeoutError after the deadline."""
        assert self._server.stdout is not None
        while b"\n" not in self._unread:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            if not select.select([self._server.stdout], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(self._server.stdout.fileno(), 64)
            if not piece:
                raise OSError("the process that runs public tests has ended")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return int(line)

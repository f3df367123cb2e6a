"""A fork server that is a fork of the process that asks for it, so that both have the libraries from one import.

What that process has loaded is in every learner's process then. It must have nothing to hide yet: no suite, no
solution, no expected value. The rest that is no business of a learner's is taken away: the environment, the arguments,
the open files, and the program's other modules.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from typing import IO, NoReturn

from autograder.sandbox import worker, zygote
from autograder.sandbox.birth import Birth

LOOK_SECONDS = 0.002
FIRST_KEPT = 10
OURS, THEIRS = "autograder", ("autograder", "autograder.sandbox")


class ForkedZygote:
    """A fork server by its process id. Raises ImportError where a library cannot be loaded."""

    def __init__(self, birth: Birth, environment: dict[str, str]) -> None:
        for library in birth.libraries:
            importlib.import_module(library)
        self._status: int | None = None
        self._pid = os.fork()
        if self._pid == 0:
            _be_zygote(birth, environment)

    def wait(self, timeout: float | None = None) -> int:
        """Give its status; subprocess.TimeoutExpired after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while self._status is None:
            pid, status = os.waitpid(self._pid, 0 if until is None else os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("the fork server", timeout or 0.0)
            else:
                time.sleep(LOOK_SECONDS)
        return self._status

    def kill(self) -> None:
        """Kill it, unless it was waited for."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)


def _be_zygote(birth: Birth, environment: dict[str, str]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        os.chdir(birth.folder)
        listener, parent = _only_open(birth.listener, birth.parent, birth.errors)
        _forget(environment)
        worker.begin(list(birth.libraries))
        gc.freeze()
        zygote.run(listener, parent)
        status = 0
    except BaseException:
        with contextlib.suppress(OSError):
            os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        # What the process would do at its end is not for its fork to do.
        os._exit(status)


def _only_open(listener: socket.socket, parent: socket.socket, errors: IO[bytes]) -> tuple[socket.socket, ...]:
    """Close every descriptor but these; give the two sockets where they are now."""
    null = os.open(os.devnull, os.O_RDWR)
    # Any of them may have the number of a standard one that whoever called the command had closed.
    first = fcntl.fcntl(listener.fileno(), fcntl.F_DUPFD, FIRST_KEPT)
    second = fcntl.fcntl(parent.fileno(), fcntl.F_DUPFD, first + 1)
    told = fcntl.fcntl(errors.fileno(), fcntl.F_DUPFD, FIRST_KEPT)
    for standard, leads_to in enumerate((null, null, told)):
        os.dup2(leads_to, standard)
    os.closerange(3, first)
    os.closerange(first + 1, second)
    os.closerange(second + 1, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=first), socket.socket(fileno=second)


def _forget(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ |= environment
    sys.argv[:] = [""]
    # Compiled files elsewhere than beside the libraries cannot be read from within the jail.
    sys.pycache_prefix = None
    for name in list(sys.modules):
        if name.partition(".")[0] == OURS and ".".join(name.split(".")[:2]) not in THEIRS:
            del sys.modules[name]

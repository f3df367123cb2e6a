"""How a learner's process comes to be: a fork of the zygote where forking is safe, else a new interpreter.

Both give a `Process`: a channel to speak through, a way to kill, and how it ended.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

from autograder.sandbox import jail
from autograder.sandbox.birth import Birth
from autograder.sandbox.wire import CALL_BACK, PORT_BYTES, SECRET_BYTES, Channel, End, JailSettings, Speciality

START_SECONDS = 120.0
END_SECONDS = 5.0
# Requests that a fork server has not heard yet.
WAITING = 64
# These load suites, solutions and fault families: before them there is none of those in a process.
WITH_SOMETHING_TO_HIDE = ("autograder.desk", "autograder.faults", "autograder.session", "autograder.solution", "pytest")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
KEPT_VARIABLES = ("OPENBLAS_", "OMP_", "MKL_", "SYSTEMROOT", "WINDIR", "LANG", "LC_")


class SandboxError(Exception):
    """The sandbox itself failed: nothing the learner did, and nothing to mark them by."""


class NotStarted(SandboxError):
    """No learner's process could be started; the message says why."""


class Process(Protocol):
    """A learner's process as the grader sees it."""

    channel: Channel

    def end(self) -> End | None:
        """Kill it if it still runs, and tell how it ended."""

    def wait(self) -> End | None:
        """Let it end by itself for a moment, then as `end`."""

    def interrupt(self) -> None:
        """Kill it from another thread, while one waits on the channel; `end` is still to be called."""


class Starter(Protocol):
    """Starts learners' processes."""

    def start(self, settings: JailSettings, speciality: Speciality | None = None) -> Process:
        """Start one that will be asked for what the speciality says; NotStarted when it cannot be."""

    def prepare(self, specialities: Iterable[Speciality]) -> None:
        """Do beforehand what many processes of these specialities would each do again."""

    def explain(self) -> str:
        """Tell why a process that was started has gone, or nothing where that is not known."""

    def close(self) -> None:
        """End everything that was started."""


def starter_for(libraries: tuple[str, ...]) -> Starter:
    """Give the quickest starter that is safe on this system."""
    return ForkServer(libraries) if jail.can_fork() else Interpreters(libraries)


def starter_for_one_check(libraries: tuple[str, ...]) -> Starter:
    """Give a starter that shares this process's libraries with the learner's, where it holds nothing to be hidden yet.

    Whoever tries their own code waits for one import of torch then, and not for two.
    """
    # A fork has none of the other threads, but what they held locked stays locked in it.
    alone = threading.active_count() == 1
    if not alone or not jail.can_fork() or any(name in sys.modules for name in WITH_SOMETHING_TO_HIDE):
        return starter_for(libraries)
    try:
        return ForkServer(libraries, begin=own_fork)
    except ImportError:
        # An interpreter of its own tells the same, and is told of.
        return starter_for(libraries)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.upper().startswith(KEPT_VARIABLES)}
    return kept | ONE_THREAD


class Running(Protocol):
    """A process that was started, as `subprocess` has them."""

    def wait(self, timeout: float | None = None) -> int:
        """Give its status; subprocess.TimeoutExpired after so many seconds."""

    def kill(self) -> None:
        """Kill it."""


Begin = Callable[[Birth], Running]


def own_interpreter(birth: Birth) -> Running:
    """Begin a zygote in an interpreter that has loaded nothing."""
    descriptors = (birth.listener.fileno(), birth.parent.fileno())
    command = [sys.executable, "-I", "-m", "autograder.sandbox.zygote", *map(str, descriptors), *birth.libraries]
    return subprocess.Popen(
        command,
        pass_fds=descriptors,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=birth.errors,
        cwd=birth.folder,
        start_new_session=True,
    )


def own_fork(birth: Birth) -> Running:
    """Begin a zygote as a fork of this process, after the libraries were loaded here. Raises ImportError."""
    from autograder.sandbox.forked import ForkedZygote

    # As in an interpreter of its own: a library that starts threads as it is loaded could not be forked.
    os.environ |= ONE_THREAD
    return ForkedZygote(birth, _environment())


class ForkServer:
    """One zygote and the Unix socket through which any grader process of this run asks it for workers."""

    def __init__(self, libraries: tuple[str, ...], *, begin: Begin | None = None) -> None:
        self._folder, listener = _private_listener()
        self.address = str(self._folder / "zygote")
        self._libraries = libraries
        self._specialists: dict[Speciality | None, str] = {}
        self._smaller: dict[tuple[str, ...], ForkServer] = {}
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by close)
        self._line, far_end = socket.socketpair()
        with listener, far_end:
            try:
                birth = Birth(listener, far_end, self._errors, self._folder, libraries)
                self._zygote = (begin or own_interpreter)(birth)
            except BaseException:
                self._forget()
                raise

    def start(self, settings: JailSettings, speciality: Speciality | None = None) -> Process:
        """Ask the zygote for a fork, or the one that was prepared for this speciality."""
        if speciality is not None and (smaller := self._smaller.get(speciality.libraries)):
            return smaller.start(settings, msgspec.structs.replace(speciality, libraries=()))
        try:
            return ForkedProcess(self._specialists.get(speciality, self.address), settings)
        except OSError as error:
            raise NotStarted(f"the fork server does not answer ({error}){self._last_words()}") from None

    def prepare(self, specialities: Iterable[Speciality]) -> None:
        """Have the zygote fork one like itself for each speciality in which something is banned.

        Where fewer libraries are needed another fork server is started, whose processes are smaller.
        """
        for speciality in specialities:
            if speciality.libraries and not set(speciality.libraries) >= set(self._libraries):
                if speciality.libraries not in self._smaller:
                    self._smaller[speciality.libraries] = ForkServer(speciality.libraries)
                self._smaller[speciality.libraries].prepare([msgspec.structs.replace(speciality, libraries=())])
            elif speciality.banned and speciality not in self._specialists:
                self._prepare_here(speciality)

    def _prepare_here(self, speciality: Speciality) -> None:
        try:
            self._specialists[speciality] = self._specialist(speciality)
        except OSError as error:
            raise NotStarted(f"the fork server does not answer ({error}){self._last_words()}") from None

    def _specialist(self, speciality: Speciality) -> str:
        # Several processes may hold this one, each with specialists of its own.
        address = str(self._folder / f"{os.getpid()}-{len(self._specialists)}")
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as line:
            listener.bind(address)
            listener.listen(WAITING)
            line.connect(self.address)
            socket.send_fds(line, [msgspec.msgpack.encode(speciality)], [listener.fileno()])
        return address

    def explain(self) -> str:
        """Tell why the zygote has gone, from what it wrote to its standard error."""
        return f"the fork server has ended{self._last_words()}"

    def close(self) -> None:
        """End the zygote and with it every worker."""
        for smaller in self._smaller.values():
            smaller.close()
        self._line.close()
        try:
            self._zygote.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        self._forget()

    def _forget(self) -> None:
        self._line.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _last_words(self) -> str:
        if self._errors.closed:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""


class Borrowed:
    """Another process's starter, which that process alone may close."""

    def __init__(self, lent: Starter) -> None:
        self._lent = lent

    def start(self, settings: JailSettings, speciality: Speciality | None = None) -> Process:
        """Start a learner's process."""
        return self._lent.start(settings, speciality)

    def prepare(self, specialities: Iterable[Speciality]) -> None:
        """Prepare for many processes of these specialities."""
        self._lent.prepare(specialities)

    def explain(self) -> str:
        """Tell why a process that was started has gone."""
        return self._lent.explain()

    def close(self) -> None:
        """Leave it to its owner."""


def _private_listener() -> tuple[Path, socket.socket]:
    listener = socket.socket(socket.AF_UNIX)
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="attend-"))
        listener.bind(str(folder / "zygote"))
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        if folder is not None:
            folder.rmdir()
        where = folder.parent if folder else "the folder for temporary files"
        raise NotStarted(f"no fork server can be started in {where} ({error}); set TMPDIR to another") from None
    return folder, listener


class ForkedProcess:
    """A fork of the zygote. Its lifeline is a connection: closing it kills the process."""

    def __init__(self, address: str, settings: JailSettings) -> None:
        ours, theirs = socket.socketpair()
        self._lifeline = socket.socket(socket.AF_UNIX)
        with theirs:
            self._lifeline.connect(address)
            socket.send_fds(self._lifeline, [msgspec.msgpack.encode(settings)], [theirs.fileno()])
        self.channel = Channel(ours)
        self._end: End | None = None

    def wait(self) -> End | None:
        """Let it end by itself for a moment; kill it then."""
        self._hear_end(1.0)
        return self.end()

    def end(self) -> End | None:
        """Close both lines. A process that has not ended by then is killed by the zygote."""
        if self._end is None:
            self._hear_end(0.0)
        self.channel.close()
        self._lifeline.close()
        return self._end

    def interrupt(self) -> None:
        """Shut the lifeline, and leave both descriptors to the thread that may be waiting on one."""
        with contextlib.suppress(OSError):
            self._lifeline.shutdown(socket.SHUT_RDWR)

    def _hear_end(self, seconds: float) -> None:
        if self._end is not None:
            return
        try:
            self._lifeline.settimeout(seconds)
            message = self._lifeline.recv(256)
            self._end = msgspec.msgpack.decode(message, type=End) if message else None
        except (OSError, msgspec.MsgspecError):
            self._end = None


class Interpreters:
    """Starts a new interpreter for each learner's process: slower, but right on every system.

    It inherits its line to the grader where `inherit` says so, and calls back where a system hands nothing down.
    """

    def __init__(self, libraries: tuple[str, ...], *, inherit: bool = hasattr(os, "fork")) -> None:
        self._libraries = libraries
        self._inherit = inherit

    def prepare(self, specialities: Iterable[Speciality]) -> None:
        """Each interpreter does all by itself."""

    def start(self, settings: JailSettings, speciality: Speciality | None = None) -> Process:
        """Start an interpreter that runs the worker."""
        arguments = (msgspec.json.encode(settings).decode(), *self._libraries)
        return SpawnedProcess(*(_inheriting if self._inherit else _calling_back)(arguments))

    def explain(self) -> str:
        """Each interpreter ends for a reason of its own, which nobody heard."""
        return ""

    def close(self) -> None:
        """Nothing is shared, so nothing is left to end."""


class SpawnedProcess:
    """An interpreter of its own."""

    def __init__(self, popen: subprocess.Popen[bytes], line: socket.socket) -> None:
        self._popen = popen
        self.channel = Channel(line)

    def wait(self) -> End | None:
        """Let it end by itself for a moment; kill it then."""
        try:
            self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            return self.end()
        return self.end()

    def interrupt(self) -> None:
        """Kill it, and leave the channel to the thread that may be waiting on it."""
        self._popen.kill()

    def end(self) -> End | None:
        """Kill it with everything it started, where the system has process groups."""
        self.channel.close()
        returned = self._popen.poll()
        if hasattr(os, "killpg"):
            _kill_group(self._popen.pid)
        elif returned is None:
            self._popen.kill()
        self._popen.wait()
        if returned is None:
            return None
        return End(killed=returned < 0, code=abs(returned))


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _inheriting(arguments: Sequence[str]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        popen = _spawned(str(theirs.fileno()), arguments, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
    return popen, ours


def _calling_back(arguments: Sequence[str]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start an interpreter that connects to a port of this machine, and shows that it is the one that was started.

    Windows could share a socket with a process whose id is known; but there the python of a virtual environment only
    starts another one.
    """
    secret = secrets.token_bytes(SECRET_BYTES)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        popen = _spawned(CALL_BACK, arguments, stdin=subprocess.PIPE)
        assert popen.stdin is not None
        try:
            # One that has ended takes nothing; how it ended is found out by waiting for it.
            with contextlib.suppress(OSError), popen.stdin as line:
                line.write(listener.getsockname()[1].to_bytes(PORT_BYTES) + secret)
            return popen, _caller(listener, secret, popen)
        except (OSError, NotStarted) as error:
            popen.kill()
            popen.wait()
            raise NotStarted(f"no learner's process can be started ({error})") from None


def _caller(listener: socket.socket, secret: bytes, popen: subprocess.Popen[bytes]) -> socket.socket:
    """Wait for the one who knows the secret, and hang up on all others."""
    deadline = start_deadline()
    listener.settimeout(0.1)
    while time.monotonic() < deadline:
        try:
            line, _ = listener.accept()
        except TimeoutError:
            if popen.poll() is not None:
                raise NotStarted(f"it ended with status {popen.returncode}") from None
            continue
        if _knows(secret, line):
            return line
        line.close()
    raise NotStarted(f"it has not called back within {START_SECONDS:g} s")


def _knows(secret: bytes, line: socket.socket) -> bool:
    told = b""
    try:
        line.settimeout(END_SECONDS)
        while len(told) < len(secret) and (more := line.recv(len(secret) - len(told))):
            told += more
        line.settimeout(None)
    except OSError:
        return False
    return secrets.compare_digest(told, secret)


def _spawned(named: str, arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "autograder.sandbox.worker", named, *arguments],
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        start_new_session=True,
        **options,
    )


def start_deadline() -> float:
    """Give the time by which a worker must have spoken: importing torch may take long on a cold disk."""
    return time.monotonic() + START_SECONDS

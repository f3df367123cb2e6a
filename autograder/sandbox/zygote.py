"""The fork server: numpy and torch are loaded once, and a learner's process is a fork that holds nothing else of ours.

It listens on a Unix socket. One connection is one worker: the request carries the worker's own socket; the answer, at
the end, is how it ended. When the connection closes, the worker is killed: none outlives its grader.

Asked for a speciality it forks another fork server, whose processes have lost what they may not use: that is done once
there and not in each of them. The request carries the socket on which that one listens.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from autograder.sandbox import banned, doors, jail, machine_code, pages, worker
from autograder.sandbox.wire import End, JailSettings, Speciality

REQUEST_LIMIT = 1 << 16
REQUEST_SECONDS = 5.0
NO_FUNCTIONS = doors.Functions()


@dataclass(frozen=True)
class Prepared:
    """What a speciality begins with: the functions among which it finds its own, and what it rehearses."""

    functions: doors.Functions = NO_FUNCTIONS
    rehearsed: worker.Rehearsed = ()


NOTHING = Prepared()


class Zygote:
    """Forks workers on request and reports their ends. `parent` closes when the run that started it is over.

    `answers` is what each worker begins with, `prepared` what each speciality does.
    """

    def __init__(
        self,
        listener: socket.socket,
        parent: socket.socket,
        answers: worker.Answers,
        prepared: Prepared = NOTHING,
    ) -> None:
        self._listener = listener
        self._parent = parent
        self._answers = answers
        self._prepared = prepared
        self._specialists: list[int] = []
        self._workers: dict[int, socket.socket] = {}
        self._wake, wake_writer = os.pipe()
        # Each thing that serving touches is copied after each fork: `select` asks every socket for its number.
        self._sources = select.poll()
        for source in (listener, parent, self._wake):
            self._sources.register(source, select.POLLIN)
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> Callable[[], None] | None:
        """Serve until the parent is gone (None), or, in a fresh fork, give what that worker has to do."""
        listener, parent = self._listener.fileno(), self._parent.fileno()
        while True:
            ready = {source for source, _ in self._sources.poll()}
            if parent in ready:
                self._end_all()
                return None
            if self._wake in ready:
                self._reap()
            for pid, connection in self._workers.items():
                if connection.fileno() in ready:
                    self._dismiss(pid, connection)
            if listener in ready:
                body = self._accept()
                if body is not None:
                    return body

    def _accept(self) -> Callable[[], None] | None:
        connection, _ = self._listener.accept()
        connection.settimeout(REQUEST_SECONDS)
        try:
            message, descriptors, _, _ = socket.recv_fds(connection, REQUEST_LIMIT, 1)
            request = msgspec.msgpack.decode(message, type=JailSettings | Speciality)
            (descriptor,) = descriptors
        except (OSError, ValueError, msgspec.MsgspecError):
            connection.close()
            return None
        return self._fork(connection, request, descriptor)

    def _fork(
        self, connection: socket.socket, request: JailSettings | Speciality, descriptor: int
    ) -> Callable[[], None] | None:
        if isinstance(request, Speciality):
            # Many processes are to come, here and from those that are forked for a speciality.
            machine_code.gather()
        try:
            pid = os.fork()
        except OSError:
            # Too many processes or too little memory just now: the grader hears a closed line, the others go on.
            os.close(descriptor)
            connection.close()
            return None
        if pid == 0:
            return self._body_of_a_fork(descriptor, request, connection)
        os.close(descriptor)
        if isinstance(request, Speciality):
            connection.close()
            self._specialists.append(pid)
            return None
        connection.setblocking(False)
        self._workers[pid] = connection
        self._sources.register(connection, select.POLLIN)
        return None

    def _body_of_a_fork(
        self, descriptor: int, request: JailSettings | Speciality, connection: socket.socket
    ) -> Callable[[], None]:
        answers, parent, prepared = self._answers, self._parent, self._prepared
        if isinstance(request, JailSettings):
            return lambda: _be_worker(descriptor, request, answers)
        for other in (connection, self._listener, *self._workers.values()):
            other.close()
        os.close(self._wake)
        return lambda: _be_specialist(socket.socket(fileno=descriptor), parent, request, prepared)

    def _dismiss(self, pid: int, connection: socket.socket) -> None:
        # A grader only ever closes this connection: that means its worker has to go, and is all that it has to say.
        self._sources.unregister(connection)
        _kill(pid)

    def _reap(self) -> None:
        os.read(self._wake, 4096)
        for pid in list(self._workers):
            end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if end is not None:
                self._bury(pid, End(end.si_code != os.CLD_EXITED, end.si_status))

    def _bury(self, pid: int, end: End) -> None:
        # The group goes before its leader is reaped, while its number cannot belong to anyone else.
        if _leads_group(pid):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        connection = self._workers.pop(pid)
        with contextlib.suppress(KeyError):
            self._sources.unregister(connection)
        try:
            connection.send(msgspec.msgpack.encode(end))
        except OSError:
            pass
        finally:
            connection.close()

    def _end_all(self) -> None:
        for pid in self._workers:
            _kill(pid)
        for pid in self._specialists:
            # Each hears by itself that the run is over.
            os.waitpid(pid, 0)


def _kill(pid: int) -> None:
    # A worker becomes the leader of a group first of all; until then it is alone.
    if _leads_group(pid):
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGKILL)


def _leads_group(pid: int) -> bool:
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


def _be_worker(call_socket: int, settings: JailSettings, answers: worker.Answers) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    jail.die_with_parent()
    worker.run(worker.keep_only(call_socket, jail.prepared_descriptors(settings)), settings, answers)


def _be_specialist(listener: socket.socket, parent: socket.socket, speciality: Speciality, prepared: Prepared) -> None:
    jail.die_with_parent()
    watch = None
    banned.know(speciality.banned)
    if not speciality.stand_ins or doors.can_reopen():
        watch = banned.Watch(speciality.banned, frozenset())
        watch.close_doors(prepared.functions, for_stand_ins=speciality.stand_ins)
    worker.rehearse(prepared.rehearsed)
    _settle()
    run(listener, parent, watch)


def _settle() -> None:
    """Put memory in order: what is written to in each fork is to be little, and to lie together."""
    _leave_locks_alone()
    gc.collect()
    pages.fill_gaps()
    gc.freeze()
    pages.gather()


def _leave_locks_alone() -> None:
    # logging makes each of its locks anew in every fork, since another thread may have held it: there is none here.
    locks = getattr(logging, "_at_fork_reinit_lock_weakset", None)
    if locks is not None:
        locks.clear()


def main() -> None:
    """Start: descriptors of the listener and of the parent's line, then the libraries to load."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    parent = socket.socket(fileno=int(sys.argv[2]))
    requests = worker.warm_up(sys.argv[3:])
    prepared = Prepared(doors.functions_loaded(), requests)
    _settle()
    run(listener, parent, prepared=prepared)


def run(
    listener: socket.socket,
    parent: socket.socket,
    watch: banned.Watch | None = None,
    prepared: Prepared = NOTHING,
) -> None:
    """Serve until `parent` closes; in a fork, be what that is for and end there."""
    answers = worker.Answers(watch)
    # Returning out of the server's loop first keeps its frames out of the learner's process.
    body = Zygote(listener, parent, answers, prepared).serve()
    if body is None:
        _remove(listener.getsockname())
        # Nothing waits to be written, and to free what the libraries hold takes longer than to start a process.
        os._exit(0)
    body()


def _remove(address: str) -> None:
    # Its grader does this too, unless it was killed.
    with contextlib.suppress(OSError):
        os.unlink(address)
        os.rmdir(os.path.dirname(address))


if __name__ == "__main__":
    main()

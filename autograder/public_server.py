"""A process that has pytest and the libraries loaded and runs public tests in forks of itself, as `--watch` asks for.

`python -P -m autograder.public_server numpy torch` reads requests, JSON a line, from standard input:
`{"folder": where to run, "arguments": for pytest}`. To each it answers with the fork's process id, which leads a group
of its own, and with its status when it has ended. It ends when its standard input does. Only where forking is safe.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import tempfile
from typing import IO, Any, NoReturn

import pytest

from autograder.sandbox import jail

CRASHED = 3


def serve(requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(request["folder"], request["arguments"])
        _reply(replies, child)
        _, status = os.waitpid(child, 0)
        _reply(replies, os.waitstatus_to_exitcode(status))


def load(libraries: list[str]) -> None:
    """Import what the tests will import, pytest's own plugins too, which it loads on its first run."""
    for name in libraries:
        importlib.import_module(name)
    if (torch := sys.modules.get("torch")) is not None:
        # What is set up by a first operation is in every fork then.
        torch.ones(1) + 1
    with tempfile.TemporaryDirectory() as empty, _silenced():
        pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={empty}", empty])


def _run(folder: str, arguments: list[str]) -> NoReturn:
    """Run pytest as `python -m pytest` in that folder would."""
    status = CRASHED
    try:
        os.setsid()
        jail.die_with_parent()
        with _silenced():
            os.chdir(folder)
            sys.path.insert(0, folder)
            status = int(pytest.main(arguments))
    finally:
        # Whatever the learner's code raised or left behind: this is a fork, and has nothing to clean up.
        os._exit(status)


@contextlib.contextmanager
def _silenced() -> Any:
    """Keep what is printed, also by other than Python, off the line to the watcher."""
    kept, nowhere = [os.dup(number) for number in (0, 1, 2)], os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    try:
        yield
    finally:
        sys.stdout.flush()
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _reply(replies: IO[str], number: int) -> None:
    replies.write(f"{number}\n")
    replies.flush()


if __name__ == "__main__":
    load(sys.argv[1:])
    serve(sys.stdin, os.fdopen(os.dup(1), "w"))

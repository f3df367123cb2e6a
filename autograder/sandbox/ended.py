"""What can become of asking a learner's process: an exception of its own, a value that fits nowhere, its end.

Exceptions:
    LearnerException   raised by the learner's code, and of the built-in type of that name, too
    UnfitResult        a value came back that is neither array, tensor nor plain
    LearnerEnded       the process ended during a call; no Exception, so that no test can mistake it for one
        TimedOut       it took longer than it may
        OutOfMemory    it asked for more memory than it may have
        Exited         it called an exit function
        Crashed        it was killed by a signal, or stopped answering in the protocol's words
"""

from __future__ import annotations

import builtins
from typing import Any

from autograder.language import Phrase, say
from autograder.notebooks.places import place_of
from autograder.sandbox import wire
from autograder.sandbox.wire import Frame


class LearnerException(Exception):
    """An exception raised by the learner's code; every one is also of the built-in type of that name.

    `source` is that of the module, in which the lines of the `frames` are counted.
    """

    name: str = ""
    source: bytes = b""
    message: str = ""
    frames: tuple[Frame, ...] = ()


class UnfitResult(Exception):
    """The learner's function returned something that is neither array, tensor nor plain value."""


class LearnerEnded(BaseException):
    """The learner's process ended during a call. Not an Exception, so that no test can mistake it for one."""


class TimedOut(LearnerEnded):
    """It took longer than it may."""


class OutOfMemory(LearnerEnded):
    """It asked for more memory than it may have."""


class Exited(LearnerEnded):
    """It called an exit function."""


class Crashed(LearnerEnded):
    """It was killed by a signal, or stopped answering in the protocol's words."""


def as_exception(reply: wire.Raised, source: bytes = b"") -> LearnerException:
    """Make an exception that is both a LearnerException and of the named built-in type; `source` is the module's."""
    builtin = getattr(builtins, reply.builtin, None)
    if not (isinstance(builtin, type) and issubclass(builtin, Exception)):
        builtin = Exception
    bases = (LearnerException,) if builtin is Exception else (LearnerException, builtin)
    try:
        error: LearnerException = type(builtin.__name__, bases, {"__str__": _plain_message})(reply.message)
    except TypeError:
        # A built-in that needs more than a message (UnicodeDecodeError).
        error = type(builtin.__name__, (LearnerException,), {"__str__": _plain_message})(reply.message)
    error.message = reply.message
    error.name = reply.name
    error.frames = reply.frames
    error.source = source
    return error


def _plain_message(error: Any) -> str:
    return str(error.message)


def at_line(said: Phrase | str, frame: Frame, source: bytes = b"") -> Phrase:
    """Give a sentence with the line of the learner's that it is about, in a notebook that of its cell."""
    cell, line = place_of(frame.line, source)
    if cell:
        return say("{said} (cell {cell}, line {line}: {code})", said=said, cell=cell, line=line, code=frame.text)
    if not frame.text:
        return say("{said} (line {line})", said=said, line=frame.line)
    return say("{said} (line {line}: {code})", said=said, line=frame.line, code=frame.text)

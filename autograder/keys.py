"""Single keys from the terminal, without the enter key and without anything else of a full-screen program.

The terminal's settings are put back whatever happens, also around a stop with Ctrl-Z. Where standard input is no
terminal there are no keys.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CHUNK = 64
POLL_SECONDS = 0.05
# What arrow and function keys send begins so; its letters are no keys of their own.
ESCAPE = "\x1b"


@contextmanager
def keys(pressed: Callable[[str], None]) -> Iterator[bool]:
    """Call `pressed`, in a thread of its own, with each key; gives whether there are any. Ctrl-C stays an interrupt."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield False
    elif sys.platform == "win32":
        with _reading(lambda stop: _read_windows(pressed, stop)):
            yield True
    else:
        with _cbreak(sys.stdin.fileno()), _reading(lambda stop: _read_posix(sys.stdin.fileno(), pressed, stop)):
            yield True


@contextmanager
def _reading(read: Callable[[threading.Event], None]) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=read, args=(stop,), name="keys", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(1.0)


def _read_posix(descriptor: int, pressed: Callable[[str], None], stop: threading.Event) -> None:
    import select

    while not stop.is_set():
        ready, _, _ = select.select([descriptor], [], [], POLL_SECONDS)
        if not ready:
            continue
        try:
            chunk = os.read(descriptor, CHUNK)
        except OSError:
            return
        if not chunk:
            return
        _pass_on(chunk.decode(errors="ignore"), pressed)


def _read_windows(pressed: Callable[[str], None], stop: threading.Event) -> None:
    import msvcrt

    console: Any = msvcrt
    while not stop.is_set():
        if not console.kbhit():
            time.sleep(POLL_SECONDS)
        elif (key := console.getwch()) in ("\0", "\xe0"):
            # An arrow or function key is one of these and a second half.
            console.getwch()
        else:
            _pass_on(key, pressed)


def _pass_on(text: str, pressed: Callable[[str], None]) -> None:
    if not text.startswith(ESCAPE):
        for key in text:
            pressed(key)


@contextmanager
def _cbreak(descriptor: int) -> Iterator[None]:
    import termios
    import tty

    before = termios.tcgetattr(descriptor)

    def begin(*_: object) -> None:
        # Where the terminal has gone meanwhile there is nothing to set.
        with contextlib.suppress(termios.error):
            tty.setcbreak(descriptor, termios.TCSADRAIN)

    # A shell sets the terminal for itself when the program is stopped, and leaves it so when it goes on.
    handled: dict[int, Callable[..., None]] = {
        signal.SIGCONT: begin,
        signal.SIGTERM: _interrupt,
        signal.SIGHUP: _interrupt,
    }
    replaced = {number: signal.signal(number, handler) for number, handler in handled.items()}
    begin()
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in replaced.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    """End as Ctrl-C does, so that the terminal is put back."""
    raise KeyboardInterrupt

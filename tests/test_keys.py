"""Keys from a terminal, whose settings are put back whatever happens."""

import os
import queue
import signal
import sys
import termios

import pytest

from autograder.keys import keys

WAIT = 30.0


@pytest.fixture
def terminal(monkeypatch):
    """Put a pseudo-terminal in the place of standard input, and give its other end."""
    ours, theirs = os.openpty()
    stdin = os.fdopen(theirs, "r")
    monkeypatch.setattr(sys, "stdin", stdin)
    yield ours
    stdin.close()
    os.close(ours)


def is_line_by_line():
    return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON)


def test_keys_arrive_one_by_one_without_the_enter_key(terminal):
    pressed = queue.Queue()
    with keys(pressed.put) as there:
        assert there
        assert not is_line_by_line()
        os.write(terminal, b"hn")
        assert [pressed.get(timeout=WAIT) for _ in range(2)] == ["h", "n"]
    assert is_line_by_line()


def test_what_an_arrow_key_sends_is_no_key(terminal):
    pressed = queue.Queue()
    with keys(pressed.put):
        os.write(terminal, b"\x1b[A")
        # Of one write; what follows in another is read by itself.
        assert_nothing(pressed)
        os.write(terminal, b"q")
        assert pressed.get(timeout=WAIT) == "q"


def assert_nothing(pressed):
    with pytest.raises(queue.Empty):
        pressed.get(timeout=0.5)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_the_terminal_is_put_back_whatever_ends_the_reading(terminal, error):
    with pytest.raises(error), keys(print):
        raise error
    assert is_line_by_line()


def test_a_signal_to_end_is_an_interrupt_so_that_the_terminal_is_put_back(terminal):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), keys(print):
        os.kill(os.getpid(), signal.SIGTERM)
    assert is_line_by_line()
    assert signal.getsignal(signal.SIGTERM) == before


def test_after_a_stop_the_keys_come_one_by_one_again(terminal):
    with keys(print):
        settings = termios.tcgetattr(sys.stdin.fileno())
        settings[3] |= termios.ICANON
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, settings)
        os.kill(os.getpid(), signal.SIGCONT)
        assert not is_line_by_line()


def test_where_standard_input_is_no_terminal_there_are_no_keys(monkeypatch, tmp_path):
    (tmp_path / "input").write_text("q")
    with (tmp_path / "input").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with keys(pytest.fail) as there:
            assert not there
    monkeypatch.setattr(sys, "stdin", None)
    with keys(pytest.fail) as there:
        assert not there

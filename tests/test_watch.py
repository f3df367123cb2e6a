"""`attend check --watch` in a pseudo-terminal: modules are saved for real, and what is printed is read."""

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
WAIT = 120.0
RIGHT = "def double(numbers, more=0.0):\n    return numbers * 2 + more\n"
TRIPLED = RIGHT.replace("2", "3")
SOLUTION = (
    "def double(numbers, more=0.0):\n    ### BEGIN SOLUTION\n    return numbers * 2 + more\n    ### END SOLUTION\n"
)
ENDLESS = "def double(numbers, more=0.0):\n    while True:\n        pass\n"
MENU = "q quit"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Sitting:
    """A watching program and the terminal that it runs in."""

    def __init__(self, arguments, *, keys=True):
        self.terminal, inside = pty.openpty()
        self.settings = termios.tcgetattr(inside)
        self.inside = inside
        self.unread = ""
        # What is read may end within a letter, and within an escape.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.program = subprocess.Popen(
            [sys.executable, "-c", "from autograder.cli import main; main()", "check", "--watch", *arguments],
            stdin=inside if keys else subprocess.DEVNULL,
            stdout=inside,
            stderr=inside,
            env=os.environ | {"COLUMNS": "100", "LINES": "40", "TERM": "xterm", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )

    def until(self, *words):
        """Read until all the words have been printed after each other, and give what was printed up to there."""
        pattern = re.compile(".*?".join(map(re.escape, words)), re.DOTALL)
        deadline = time.monotonic() + WAIT
        while not (found := pattern.search(self.unread)):
            left = deadline - time.monotonic()
            assert left > 0, f"{words} was not printed, but: {self.unread}"
            if select.select([self.terminal], [], [], left)[0]:
                self._read()
        printed, self.unread = self.unread[: found.end()], self.unread[found.end() :]
        return printed

    def press(self, key):
        os.write(self.terminal, key.encode())

    def ends(self):
        """Give the status with which it ends, after reading what it still prints."""
        deadline = time.monotonic() + WAIT
        while self.program.poll() is None:
            assert time.monotonic() < deadline
            if select.select([self.terminal], [], [], 0.1)[0]:
                self._read()
        return self.program.returncode

    def _read(self):
        self.unread += self._decoder.decode(os.read(self.terminal, 1 << 16))
        self.unread = ESCAPES.sub("", self.unread).replace("\r\n", "\n")

    def close(self):
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self.terminal)
        os.close(self.inside)


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def watching(small_course, mine):
    """Give a function that watches a module of the small course."""
    opened = []

    def begin(source=RIGHT, changes=None, files=None, **settings):
        course = small_course(changes, files)
        if source is not None:
            (mine / "double.py").write_text(source)
        opened.append(Sitting(["--in", str(mine), "--course", str(course.root)], **settings))
        return opened[-1]

    yield begin
    for sitting in opened:
        sitting.close()


def save(folder, source, name="double"):
    """Save as careful editors do: beside the file, and then in its place."""
    (folder / f".{name}.tmp").write_text(source)
    os.replace(folder / f".{name}.tmp", folder / f"{name}.py")


def test_it_begins_with_a_check_and_checks_what_is_saved_again(watching, mine):
    sitting = watching(RIGHT)
    assert "double is done; n goes on to the next one" in sitting.until("4 of 4 checks passed, 5 of 5 points", MENU)
    save(mine, TRIPLED)
    printed = sitting.until("0 of 4 checks passed, 0 of 5 points", MENU)
    assert "The numbers come back three times as large. How often is a number in its double?" in printed
    assert "double([1.]) → [3.] ≠ [2.]" in printed
    (mine / "double.py").write_text(RIGHT)
    sitting.until("4 of 4 checks passed", MENU)


def test_a_module_saved_in_pieces_or_broken_is_checked_when_it_is_whole(watching, mine):
    sitting = watching(RIGHT)
    sitting.until(MENU)
    with (mine / "double.py").open("w") as file:
        for piece in (TRIPLED[:20], TRIPLED[20:]):
            file.write(piece)
            file.flush()
    sitting.until("0 of 4 checks passed", MENU)
    save(mine, "def double(:\n")
    assert "line 1" in sitting.until("SyntaxError", MENU)
    save(mine, RIGHT)
    sitting.until("4 of 4 checks passed", MENU)


def test_a_module_that_is_deleted_is_missed_and_one_that_comes_back_is_checked(watching, mine):
    sitting = watching(RIGHT)
    sitting.until(MENU)
    (mine / "double.py").unlink()
    sitting.until("there is no double.py in", MENU)
    save(mine, RIGHT)
    sitting.until("4 of 4 checks passed", MENU)


def test_it_may_begin_before_there_is_a_module(watching, mine):
    sitting = watching(None)
    sitting.until("there is no double.py", MENU)
    save(mine, TRIPLED)
    sitting.until("0 of 4 checks passed", MENU)


def test_a_check_under_way_is_cancelled_by_a_newer_save_and_never_shown(watching, mine):
    sitting = watching(RIGHT, {"course.toml": {"call_seconds = 1": "call_seconds = 100"}})
    sitting.until(MENU)
    save(mine, ENDLESS)
    # Nothing tells when the check is under way; that it is not seen as done is what counts.
    time.sleep(1.0)
    save(mine, TRIPLED)
    printed = sitting.until("0 of 4 checks passed", MENU)
    assert "timed out" not in printed
    assert printed.count("checks passed") == 1


def test_an_interrupt_ends_it_and_puts_the_terminal_back(watching):
    sitting = watching(RIGHT)
    sitting.until(MENU)
    assert termios.tcgetattr(sitting.inside) != sitting.settings
    sitting.program.send_signal(signal.SIGINT)
    assert sitting.ends() == 130
    assert termios.tcgetattr(sitting.inside) == sitting.settings
    assert "Traceback" not in sitting.unread


def test_q_quits_also_while_a_check_is_under_way(watching, mine):
    sitting = watching(RIGHT, {"course.toml": {"call_seconds = 1": "call_seconds = 100"}})
    sitting.until(MENU)
    save(mine, ENDLESS)
    time.sleep(1.0)
    sitting.press("q")
    assert sitting.ends() == 0
    assert termios.tcgetattr(sitting.inside) == sitting.settings


def test_keys_give_the_list_and_the_stub_back_after_asking(watching, mine):
    sitting = watching(TRIPLED, files={"solutions/double.py": SOLUTION})
    sitting.until(MENU)
    sitting.press("l")
    sitting.until("Small", "double", "0 of 1 exercises done", MENU)
    sitting.press("r")
    sitting.until("(y/n)")
    sitting.press("n")
    sitting.until("nothing was changed", MENU)
    assert (mine / "double.py").read_text() == TRIPLED
    sitting.press("r")
    sitting.until("(y/n)")
    sitting.press("y")
    sitting.until("double.py.kept-1 is what you had written", "not written yet", MENU)
    assert (mine / "double.py.kept-1").read_text() == TRIPLED
    assert "NotImplementedError" in (mine / "double.py").read_text()


def test_a_hint_is_shown_and_counted_and_where_there_is_none_that_is_said(watching, mine, small_course):
    course = small_course()
    (course.root / "exercises" / "hints").mkdir()
    hints = course.root / "exercises" / "hints" / "double.en.toml"
    hints.write_text('hints = ["Think of pairs.", "Write a product."]\n')
    sitting = watching(TRIPLED)
    sitting.until(MENU)
    sitting.press("h")
    sitting.until("double, hint 1 of 2", "Think of pairs.", MENU)
    hints.unlink()
    sitting.press("h")
    sitting.until("there are no hints for double", MENU)


def test_a_and_n_check_although_nothing_was_saved(watching):
    sitting = watching(TRIPLED)
    for key in ("a", "n"):
        sitting.until("0 of 4 checks passed", MENU)
        sitting.press(key)
    sitting.until("0 of 4 checks passed", MENU)


def test_when_everything_is_done_n_says_so_and_any_other_key_names_the_keys(watching):
    sitting = watching(RIGHT)
    sitting.until(MENU)
    sitting.press("n")
    sitting.until("everything is done", MENU)
    sitting.press("x")
    sitting.until("h hint", MENU)


def test_without_a_keyboard_it_watches_all_the_same(watching, mine):
    sitting = watching(RIGHT, keys=False)
    sitting.until("4 of 4 checks passed")
    save(mine, TRIPLED)
    assert MENU not in sitting.until("0 of 4 checks passed")
    sitting.program.send_signal(signal.SIGINT)
    assert sitting.ends() == 130


def test_the_feedback_policy_holds_while_watching(watching):
    printed = watching(TRIPLED, {"course.toml": {'feedback = "full"': 'feedback = "title"'}}).until(MENU)
    assert "✗ numbers below zero are doubled" in printed
    assert "returned" not in printed
    assert "three times" not in printed


PUBLIC = "from double import double\n\n\ndef test_one_is_doubled():\n    assert double(1) == 2\n"
USING = "from double import double\n\n\ndef quadruple(number):\n    return double(double(number))\n"
PUBLIC_OF_USING = "from quadruple import quadruple\n\n\ndef test_one_is_quadrupled():\n    assert quadruple(1) == 4\n"
MORE = """
[[exercises]]
name = "quadruple"
title = "Quadruple"
points = 1
functions = ["quadruple"]
libraries = ["numpy"]
"""


@pytest.fixture
def bundle(small_course, mine):
    """Make of the small course what learners get: no suite, no solution, public tests beside the modules."""
    course = small_course()
    text = (course.root / "course.toml").read_text()
    (course.root / "course.toml").write_text(text + MORE)
    (course.root / "suites" / "test_double.py").unlink()
    (mine / "public_tests").mkdir()
    (mine / "public_tests" / "test_double.py").write_text(PUBLIC)
    (mine / "public_tests" / "test_quadruple.py").write_text(PUBLIC_OF_USING)
    (mine / "double.py").write_text(RIGHT)
    (mine / "quadruple.py").write_text(USING)
    sitting = Sitting(["--in", str(mine), "--course", str(course.root)])
    yield sitting
    sitting.close()


def test_without_suites_the_public_tests_are_run_again_also_those_of_what_imports_the_saved_module(bundle, mine):
    bundle.until("double  1 of 1 checks passed", MENU)
    save(mine, TRIPLED)
    printed = bundle.until("double  0 of 1 checks passed", "quadruple  0 of 1 checks passed", MENU)
    assert "assert 3.0 == 2" in printed
    assert "assert 9.0 == 4" in printed
    save(mine, USING + "\n# changed\n", "quadruple")
    assert "double  0" not in bundle.until("quadruple  0 of 1 checks passed", MENU)
    save(mine, RIGHT)
    bundle.until("double  1 of 1 checks passed", "quadruple  1 of 1 checks passed", "2 of 2 exercises done", MENU)


def test_public_tests_that_never_end_are_cancelled_by_a_newer_save(bundle, mine):
    bundle.until(MENU)
    save(mine, ENDLESS)
    time.sleep(1.0)
    save(mine, TRIPLED)
    printed = bundle.until("double  0 of 1 checks passed", MENU)
    assert "never ends" not in printed

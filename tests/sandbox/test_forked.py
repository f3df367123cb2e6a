"""A check of one's own code forks its processes off itself, before there is anything in it that is to be hidden."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.sandbox.starting import ForkServer, starter_for_one_check

# Words that neither the search nor anything else in the process has as they are: they are put together there.
SUITE, SOLUTION = "lavender-in-july", "basil-in-august"
SEARCH = """
import gc, os, sys

WORDS = ["-in-".join(pair) for pair in (("lavender", "july"), ("basil", "august"))]

def texts():
    for module in list(sys.modules.values()):
        yield from vars(module).values()
    for thing in gc.get_objects():
        yield from gc.get_referents(thing)
    frame = sys._getframe()
    while frame:
        yield from list(frame.f_locals.values())
        frame = frame.f_back

found = {word for word in WORDS for text in texts() if type(text) is str and text == word and text is not word}
loaded = [name for name in sys.modules if name.startswith("autograder.") and not name.startswith("autograder.sandbox")]
other = [name for name in sys.modules if name.partition(".")[0] in ("pytest", "_pytest", "suites", "solutions")]
raise RuntimeError(f"{sorted(found)} {loaded} {other} {sorted(set(os.environ) & {'HOME', 'ATTEND_SECRET'})} {sys.argv}")
"""
CHECK = """
import sys
from pathlib import Path
from autograder.course import load_course
from autograder.practice import check
from autograder.sandbox import starting
{before}
course = load_course(Path(sys.argv[1]))
(result,) = check(Path(sys.argv[2]), course.exercises, course)
print(result.reason or [one.outcome.value for one in result.checks])
print(result.earned)
"""
TOO_LATE = """
from autograder.sandbox.starting import ForkServer, own_fork
class Late:
    def __init__(self, libraries):
        self._libraries, self._server = libraries, None
    def start(self, settings, speciality=None):
        self._server = self._server or ForkServer(self._libraries, begin=own_fork)
        return self._server.start(settings)
    def explain(self):
        return ""
    def close(self):
        if self._server:
            self._server.close()
starting.starter_for_one_check = Late
"""


def checked(course, folder, before=""):
    """Give what a check in a process of its own says: why nothing was checked, or how each check ended; the points."""
    text = CHECK.format(before=before)
    command = [sys.executable, "-c", text, str(course.root), str(folder)]
    environment = os.environ | {"ATTEND_SECRET": "x"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=100)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture
def course(small_course):
    """Give the small course with a word in its suite and another in its solution."""
    return small_course(
        {
            "suites/test_double.py": {"import numpy as np\n": f'import numpy as np\n\nEXPECTED = "{SUITE}"\n'},
            "solutions/double.py": {"import numpy as np\n": f'import numpy as np\n\nANSWER = "{SOLUTION}"\n'},
        }
    )


@pytest.fixture
def folder(tmp_path):
    """Give a learner's folder with a module that searches its process and tells what it found."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "double.py").write_text(SEARCH)
    return folder


def test_neither_a_test_nor_an_answer_is_in_the_process_of_a_check(course, folder):
    said, earned = checked(course, folder)
    assert "RuntimeError: [] [] [] [] ['']" in said
    assert earned == "0.0"


def test_the_search_finds_the_suite_where_the_fork_comes_too_late(course, folder):
    said, _ = checked(course, folder, TOO_LATE)
    assert f"RuntimeError: ['{SUITE}']" in said


def test_a_check_by_forks_marks_as_any_other(course, folder):
    (folder / "double.py").write_text(Path(course.root, "solutions", "double.py").read_text())
    assert checked(course, folder) == ["['passed', 'passed', 'passed', 'passed']", "5.0"]


def test_a_check_starts_no_second_interpreter(course, folder):
    (folder / "double.py").write_text(Path(course.root, "solutions", "double.py").read_text())
    # Others are started too: ctypes asks one where a library is.
    assert checked(course, folder, "sys.executable = '/nowhere'")[1] == "5.0"


def test_a_process_that_holds_suites_already_starts_an_interpreter_for_them():
    assert "pytest" in sys.modules
    starter = starter_for_one_check(("numpy",))
    assert not isinstance(starter, ForkServer) or isinstance(starter._zygote, subprocess.Popen)
    starter.close()


ALIVE = """
import os, time
from autograder.sandbox import jail
from autograder.sandbox.starting import starter_for_one_check
from autograder.sandbox.wire import JailSettings
{before}
server = starter_for_one_check(("numpy",))
print(type(server._zygote).__name__, server._zygote._pid if hasattr(server._zygote, "_pid") else 0, flush=True)
process = server.start(JailSettings(memory=256 << 20, cpu_seconds=20, readable=jail.readable_paths()))
process.channel.receive(time.monotonic() + 60)
{then}
"""


def alive(before="", then="", **options):
    text = ALIVE.format(before=before, then=then)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, **options)


def test_a_process_with_other_threads_is_not_forked():
    other = "import threading; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
    with alive(other, "server.close()") as process:
        assert process.communicate(timeout=100)[0].split() == ["Popen", "0"]


def test_a_check_that_is_closed_leaves_no_process():
    with alive(then="server.close(); print('closed')") as process:
        kind, pid, closed = process.communicate(timeout=100)[0].split()
    assert (kind, closed) == ("ForkedZygote", "closed")
    assert not Path("/proc", pid).exists()


def test_a_check_that_is_killed_leaves_no_process():
    with alive(then="print('started', flush=True); time.sleep(1000)") as process:
        kind, pid = process.stdout.readline().split()
        assert process.stdout.readline() == "started\n"
        assert Path("/proc", pid).exists()
        process.kill()
        process.wait()
        # The fork server ends when its line does, and the last of them closes this one.
        process.stdout.read()
    assert kind == "ForkedZygote"
    until = time.monotonic() + 30
    while Path("/proc", pid).exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path("/proc", pid).exists()


def test_standard_descriptors_that_are_closed_do_no_harm():
    with alive(then="server.close(); print('closed')", preexec_fn=lambda: os.close(0)) as process:
        assert process.communicate(timeout=100)[0].split()[-1] == "closed"

"""pytest started anew and as a fork of what is loaded: the same answers, and both can be stopped."""

import os
import signal
import subprocess
import threading
import time

import psutil
import pytest

from autograder.public_runners import Forked, Fresh, Stopped
from autograder.sandbox.jail import can_fork

PASSING = "from double import double\n\ndef test_one():\n    assert double(1) == 2\n"
SECONDS = 60.0


RUNNERS = {"fresh": Fresh, **({"forked": lambda: Forked(["numpy"])} if can_fork() else {})}


@pytest.fixture(params=RUNNERS.values(), ids=RUNNERS)
def runner(request):
    made = request.param()
    yield made
    made.close()


def run(runner, folder, module, seconds=SECONDS):
    (folder / "double.py").write_text(module)
    (folder / "test_double.py").write_text(PASSING)
    return runner.run(folder, ["-q", "-p", "no:cacheprovider", str(folder / "test_double.py")], seconds)


def test_the_status_is_that_of_pytest_and_every_run_reads_the_module_again(runner, tmp_path):
    assert run(runner, tmp_path, "def double(x): return 2 * x\n") == 0
    # Of another length, since Python takes compiled code for the same where time and length are.
    assert run(runner, tmp_path, "def double(x): return 33 * x\n") == 1
    assert run(runner, tmp_path, "def double(x): return x + x + 0\n") == 0


def test_a_module_that_ends_the_program_is_no_end_of_the_runner(runner, tmp_path):
    assert run(runner, tmp_path, "import os\nos._exit(7)\n") == 7
    assert run(runner, tmp_path, "def double(x): return 2 * x\n") == 0


def test_a_run_that_takes_too_long_is_ended(runner, tmp_path):
    with pytest.raises(subprocess.TimeoutExpired):
        run(runner, tmp_path, "while True: pass\n", seconds=2.0)
    assert run(runner, tmp_path, "def double(x): return 2 * x\n") == 0


def test_a_run_can_be_stopped_from_another_thread(runner, tmp_path):
    started = tmp_path / "started"

    def stop():
        while not started.exists():
            time.sleep(0.05)
        runner.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Stopped):
        run(runner, tmp_path, f"open({str(started)!r}, 'w').close()\nwhile True: pass\n")
    thread.join()
    assert run(runner, tmp_path, "def double(x): return 2 * x\n") == 0


# Says who runs it, and runs on.
ENDLESS = "import os\nprint(os.getpid(), file=open('started', 'w'))\nwhile True: pass\n"


def once_started(folder, act):
    """Have a thread act as soon as ENDLESS runs, and give a function that then gives its process."""
    started, found = folder / "started", []

    def wait():
        while not (started.exists() and started.read_text().endswith("\n")):
            time.sleep(0.05)
        found.append(psutil.Process(int(started.read_text())))
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return lambda: thread.join() or found[0]


def test_an_interrupt_ends_the_run(runner, tmp_path):
    # Of a thread's own signal the main one would not hear while it waits.
    running = once_started(tmp_path, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(runner, tmp_path, ENDLESS)
    runner.close()
    running().wait(SECONDS)


@pytest.mark.skipif(not can_fork(), reason="nothing is forked here")
def test_a_run_ends_with_the_process_that_it_was_forked_from(tmp_path):
    runner = Forked(["numpy"])
    running = once_started(tmp_path, runner._server.kill)
    with pytest.raises(OSError, match="has ended"):
        run(runner, tmp_path, ENDLESS)
    running().wait(SECONDS)
    runner.close()

"""Where learners' processes come from: two starters with the same answers, and nothing that outlives its grader."""

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import jail
from autograder.sandbox.learner import Exited, LearnerException, NotStarted, OutOfMemory
from autograder.sandbox.starting import ForkServer, Interpreters, starter_for
from autograder.sandbox.wire import End, JailSettings, Speciality

SETTINGS = JailSettings(memory=256 << 20, cpu_seconds=20, readable=jail.readable_paths())


def processes():
    """Give the ids of the running processes with their parents' ids."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state not in "ZX":
                found[int(folder.name)] = int(parent)
    return found


def children(of):
    """Give the ids of what `of` itself started."""
    return {child for child, parent in processes().items() if parent == of}


def descendants(root):
    """Give the ids of everything that `root` started, and what that started."""
    tree = processes()
    found, front = set(), {root}
    while front:
        front = {child for child, parent in tree.items() if parent in front}
        found |= front
    return found


def gone_within(seconds, ids):
    until = time.monotonic() + seconds
    while ids & set(processes()) and time.monotonic() < until:
        time.sleep(0.02)
    return not ids & set(processes())


@pytest.fixture(scope="module")
def numpy_server():
    server = ForkServer(("numpy",))
    yield server
    server.close()


@pytest.fixture(params=["fork server", "interpreters", "interpreters that call back"])
def starter(request, numpy_server):
    if request.param == "fork server":
        return numpy_server
    return Interpreters(("numpy",), inherit=request.param == "interpreters")


SOURCE = """
import os
import sys
import numpy as np

def f(x):
    print("seen")
    return x * 2, "torch" in sys.modules

def fail():
    raise ValueError("no")

def leave():
    os._exit(5)

def fill():
    return np.ones(1 << 28)
"""


def test_both_starters_give_the_same_answers(learner_of, starter):
    learner = learner_of(SOURCE, starter=starter)
    doubled, has_torch = learner.f(np.array([1.0, 2.0]))
    assert doubled.tolist() == [2.0, 4.0]
    assert has_torch is False
    assert learner.last.output == "seen\n"
    assert learner.layers == jail.LAYERS
    with pytest.raises(LearnerException, match="no"):
        learner.fail()
    with pytest.raises(Exited, match="status 5"):
        learner.leave()
    with pytest.raises(OutOfMemory):
        learner.fill()
    assert learner.f(1) == (2, False)


def test_a_system_that_can_fork_gets_a_fork_server(monkeypatch):
    monkeypatch.setattr(jail, "can_fork", lambda: True)
    starter = starter_for(("numpy",))
    assert isinstance(starter, ForkServer)
    starter.close()


def test_a_system_that_cannot_fork_gets_interpreters(monkeypatch):
    monkeypatch.setattr(jail, "can_fork", lambda: False)
    assert isinstance(starter_for(("numpy",)), Interpreters)


def test_libraries_are_loaded_once_for_all(learner_of, numpy_server):
    def place_of_numpy(starter):
        return learner_of("import numpy as np\ndef f():\n    return id(np)", starter=starter).f()

    # Forks have it where their zygote has it; an interpreter of its own has it anywhere.
    assert len({place_of_numpy(numpy_server) for _ in range(5)}) == 1
    assert len({place_of_numpy(Interpreters(("numpy",))) for _ in range(2)}) == 2


def test_a_process_ends_when_its_learner_is_closed(learner_of, starter):
    before = descendants(os.getpid())
    learner = learner_of("import time\ndef f():\n    time.sleep(60)", starter=starter)
    learner.load()
    mine = descendants(os.getpid()) - before
    assert len(mine) == 1
    learner.close()
    assert gone_within(30.0, mine)


def test_a_process_tells_how_it_ended(starter):
    process = starter.start(SETTINGS)
    process.channel.receive(time.monotonic() + 60)
    process.channel.close()
    assert process.wait() == End(killed=False, code=0)


def test_an_interpreter_that_ends_before_it_calls_back_is_told(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(NotStarted, match=r"^no learner's process can be started \(it ended with status 1\)$"):
        Interpreters((), inherit=False).start(SETTINGS)


def test_whoever_does_not_know_the_secret_is_not_taken_for_the_interpreter(monkeypatch):
    listening, create_server = [], socket.create_server

    def listen(*arguments):
        listening.append(create_server(*arguments))
        for told in (b"", b"x" * 32):
            with socket.create_connection(listening[-1].getsockname()) as stranger:
                stranger.sendall(told)
        return listening[-1]

    monkeypatch.setattr(socket, "create_server", listen)
    process = Interpreters((), inherit=False).start(SETTINGS)
    assert process.channel.receive(time.monotonic() + 60)
    process.channel.close()
    assert process.wait() == End(killed=False, code=0)
    assert len(listening) == 1


def test_nothing_outlives_the_fork_server():
    before = descendants(os.getpid())
    server = ForkServer(("numpy",))
    started = [server.start(SETTINGS) for _ in range(3)]
    for process in started:
        process.channel.receive(time.monotonic() + 60)
    mine = descendants(os.getpid()) - before
    assert len(mine) == 4
    folder = Path(server.address).parent
    assert folder.is_dir()
    server.close()
    assert gone_within(30.0, mine)
    assert not folder.exists()
    for process in started:
        process.end()


def test_a_fork_server_that_was_closed_starts_nothing_and_says_so():
    server = ForkServer(("numpy",))
    server.close()
    with pytest.raises(NotStarted, match="the fork server does not answer"):
        server.start(SETTINGS)


def test_a_fork_server_that_cannot_begin_says_why(learner_of):
    server = ForkServer(("no_such_library",))
    learner = learner_of("", starter=server)
    with pytest.raises(NotStarted, match="No module named 'no_such_library'"):
        learner.load()
    server.close()


def test_a_process_that_another_ended_is_replaced(learner_of, numpy_server):
    before = descendants(os.getpid())
    learner = learner_of(SOURCE, starter=numpy_server)
    learner.load()
    (worker,) = descendants(os.getpid()) - before
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(BaseException, match="signal 9"):
        learner.f(1)
    assert learner.f(1) == (2, False)


GRADER = """
import sys, time
from autograder.sandbox import jail
from autograder.sandbox.learner import Budget, Learner, Limits, Module
from autograder.sandbox.starting import ForkServer, Interpreters
starter = {starter}(("numpy",))
limits = Limits(call_seconds=60, cpu_seconds=60, memory=1 << 28, output=1000, value=1 << 20)
source = b"import time\\ndef f():\\n    time.sleep(60)"
learner = Learner(starter, Module("m", source), limits=limits, readable=jail.readable_paths(), budget=Budget(60, "x"))
learner.load()
print("loaded", flush=True)
{then}
"""


def grader_that(starter, then, temporary=None):
    text = GRADER.format(starter=starter, then=then)
    environment = os.environ | ({"TMPDIR": temporary} if temporary else {})
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "loaded\n"
    return process


@pytest.mark.parametrize("then", ["learner.f()", "time.sleep(60)"], ids=["in a call", "between calls"])
def test_a_grader_that_is_killed_leaves_no_process(then):
    # A folder of its own: other graders on this machine make theirs in the usual one.
    with tempfile.TemporaryDirectory() as temporary:
        process = grader_that("ForkServer", then, temporary)
        started = descendants(process.pid)
        assert len(started) == 2
        (folder,) = Path(temporary).glob("attend-*")
        process.kill()
        process.wait()
        process.stdout.close()
        assert gone_within(30.0, started)
        assert not folder.exists()


def test_a_grader_that_is_killed_leaves_no_interpreter_that_waits_for_it():
    process = grader_that("Interpreters", "time.sleep(60)")
    started = descendants(process.pid)
    assert len(started) == 1
    process.kill()
    process.wait()
    process.stdout.close()
    assert gone_within(30.0, started)


def test_a_worker_goes_when_the_fork_server_is_killed():
    process = grader_that("ForkServer", "time.sleep(60)")
    (zygote,) = children(process.pid)
    started = descendants(process.pid)
    os.kill(zygote, signal.SIGKILL)
    assert gone_within(30.0, started)
    process.kill()
    process.wait()
    process.stdout.close()


def test_bytes_that_are_no_request_do_not_stop_the_fork_server(learner_of, numpy_server):
    for message in (b"\xc1", b"", b"x" * 1000):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(numpy_server.address)
            line.sendall(message)
    assert learner_of(SOURCE, starter=numpy_server).f(1) == (2, False)


def test_nothing_of_the_grader_s_environment_reaches_the_learner(learner_of, monkeypatch):
    monkeypatch.setenv("ATTEND_SECRET", "answer")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    server = ForkServer(())
    learner = learner_of(
        "import os, sys\ndef f():\n    return sorted(os.environ), '/nowhere' in sys.path", starter=server
    )
    names, on_path = learner.f()
    server.close()
    assert not {"ATTEND_SECRET", "PYTHONPATH", "HOME", "PATH"} & set(names)
    assert on_path is False


SPECIALITY = Speciality(("torch.*softmax*",), stand_ins=False)


def test_a_prepared_fork_server_ends_with_the_one_that_forked_it(learner_of):
    server = ForkServer(("numpy",))
    server.prepare([SPECIALITY, Speciality((), stand_ins=False), SPECIALITY])
    learner = learner_of(SOURCE, starter=server, banned=SPECIALITY.banned)
    assert learner.f(np.ones(1))[0].tolist() == [2.0]
    started = descendants(server._zygote.pid)
    # What nothing is banned for needs no preparation; beside the prepared one there is the learner's process.
    assert len(started) == 2
    folder = Path(server.address).parent
    server.close()
    assert gone_within(30, started)
    assert not folder.exists()


def test_a_learner_s_process_of_a_prepared_fork_server_is_killed_when_its_line_closes(learner_of):
    server = ForkServer(("numpy",))
    server.prepare([SPECIALITY])
    learner = learner_of("import time\ndef f(): ...", starter=server, banned=SPECIALITY.banned)
    learner.f()
    before = descendants(server._zygote.pid)
    learner.close()
    assert len(before) == 2
    until = time.monotonic() + 30
    while len(descendants(server._zygote.pid)) > 1 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(descendants(server._zygote.pid)) == 1
    server.close()


PREPARED = """
import sys, time
from autograder.sandbox.starting import ForkServer
from autograder.sandbox.wire import Speciality
server = ForkServer(("numpy",))
server.prepare([Speciality(("torch.*softmax*",), False)])
print(server._zygote.pid, server.address, flush=True)
time.sleep(60)
"""


def test_when_its_grader_is_killed_no_prepared_fork_server_and_no_folder_is_left():
    grader = subprocess.Popen([sys.executable, "-c", PREPARED], stdout=subprocess.PIPE, text=True)
    zygote, address = grader.stdout.readline().split()
    until = time.monotonic() + 20
    while not (started := descendants(int(zygote))) and time.monotonic() < until:
        time.sleep(0.02)
    assert len(started) == 1
    grader.kill()
    grader.wait()
    assert gone_within(30, started | {int(zygote)})
    assert not Path(address).parent.exists()


def test_a_prepared_fork_server_that_was_killed_is_told_as_not_started(learner_of):
    server = ForkServer(("numpy",))
    server.prepare([SPECIALITY])
    learner = learner_of(SOURCE, starter=server, banned=SPECIALITY.banned)
    learner.f(np.ones(1))
    learner.close()
    (prepared,) = children(server._zygote.pid)
    os.kill(prepared, signal.SIGKILL)
    assert gone_within(30, {prepared})
    with pytest.raises(NotStarted, match="the fork server does not answer"):
        learner.f(np.ones(1))
    assert learner_of(SOURCE, starter=server).f(np.ones(1))[0].tolist() == [2.0]
    server.close()


def test_a_module_that_needs_fewer_libraries_has_a_smaller_process(learner_of):
    server = ForkServer(("numpy", "torch"))
    source = "import sys\ndef f():\n    return 'torch' in sys.modules"
    small = {"starter": server, "banned": SPECIALITY.banned, "libraries": ("numpy",)}
    assert learner_of(source, **small).f() is True
    server.prepare([Speciality(SPECIALITY.banned, stand_ins=False, libraries=("numpy",))])
    server.prepare([Speciality((), stand_ins=False, libraries=("numpy", "torch"))])
    assert learner_of(source, **small).f() is False
    assert learner_of(source, **(small | {"banned": ()})).f() is False
    assert learner_of(source, **(small | {"libraries": ("numpy", "torch")})).f() is True
    (smaller,) = server._smaller.values()
    started = descendants(server._zygote.pid) | descendants(smaller._zygote.pid) | {smaller._zygote.pid}
    server.close()
    assert gone_within(30, started)
    assert not Path(smaller.address).parent.exists()


def test_to_prepare_where_each_process_is_an_interpreter_changes_nothing(learner_of):
    starter = Interpreters(("numpy",))
    starter.prepare([SPECIALITY])
    assert learner_of(SOURCE, starter=starter, banned=SPECIALITY.banned).f(np.ones(1))[0].tolist() == [2.0]


def writable_and_shared(process):
    """Give the memory that a process writes for others too, by the inode behind it."""
    lines = [line.split() for line in Path(f"/proc/{process}/maps").read_text().splitlines()]
    return {(fields[3], fields[4]) for fields in lines if fields[1].startswith("rw") and fields[1].endswith("s")}


def test_two_learners_processes_share_no_memory_that_either_can_write(learner_of):
    server = ForkServer(("numpy",))
    server.prepare([SPECIALITY])
    lists = (SPECIALITY.banned, SPECIALITY.banned, ())
    learners = [learner_of(SOURCE, starter=server, banned=banned) for banned in lists]
    for learner in learners:
        learner.load()
    processes = [process for process in descendants(server._zygote.pid) if os.getpgid(process) == process]
    found = [writable_and_shared(process) for process in processes]
    assert len(found) == 3
    for first, second in itertools.combinations(found, 2):
        assert not first & second
    server.close()

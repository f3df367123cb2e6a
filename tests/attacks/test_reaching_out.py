"""Code that reaches for files, processes and sockets: it succeeds without the jail and is refused inside it.

Each attack is the body of a function that gives "done" where it believes itself that it reached its aim. Its aims are a
folder, a process, two listening sockets: all made for it.
"""

import os
import resource
import socket
import subprocess
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

PREAMBLE = """
import ctypes, fcntl, glob, importlib.util, linecache, mmap, os, resource, shutil, signal, socket, sqlite3, struct
import subprocess, sys, tempfile, threading, time
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)

def ping(numbers):
    return "pong"

def attack(place, pid, port, name):
"""

READING = {
    "a file is opened": "return open(f'{place}/secret').read()",
    "a file is opened by a relative path": "return open(os.path.relpath(f'{place}/secret')).read()",
    "a file is opened below a folder's descriptor": """
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        return os.read(os.open("secret", os.O_RDONLY, dir_fd=folder), 9).decode()
    """,
    "a file is opened through /proc/self/root": "return open(f'/proc/self/root{place}/secret').read()",
    "a file is opened through another process": "return open(f'/proc/{pid}/root{place}/secret').read()",
    "a file is opened by the C library": """
        descriptor = libc.open(f"{place}/secret".encode(), 0)
        return os.read(descriptor, 9).decode()
    """,
    "a file is mapped": "return bytes(np.memmap(f'{place}/secret', mode='r')).decode()",
    "a file is copied": "return open(shutil.copy(f'{place}/secret', f'{place}/copy')).read()",
    "a file is read by linecache": "return linecache.getline(f'{place}/secret', 1).strip()",
    "a module is imported from sys.path": """
        sys.path.insert(0, place)
        import hidden_suite
        return hidden_suite.EXPECTED
    """,
    "a module is loaded from its file": """
        specification = importlib.util.spec_from_file_location("hidden", f"{place}/hidden_suite.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module.EXPECTED
    """,
    "a folder is listed": "return 'treasure' if 'secret' in os.listdir(place) else ''",
    "a folder is searched": "return 'treasure' if glob.glob(f'{place}/*') else ''",
    "another process's command line is read": """
        return "treasure" if b"sleep" in open(f"/proc/{pid}/cmdline", "rb").read() else ""
    """,
    "another process's memory is read": """
        attached = libc.ptrace(16, pid, 0, 0)
        return "treasure" if attached == 0 else ""
    """,
}

WRITING = {
    "a file is made": "open(f'{place}/mark', 'w')",
    "a file is made by the C library": "os.close(libc.creat(f'{place}/mark'.encode(), 0o600))",
    "a temporary file is made": "os.rename(tempfile.mkstemp(dir=place)[1], f'{place}/mark')",
    "a folder is made": "os.mkdir(f'{place}/mark')",
    "a link is made": "os.symlink('/', f'{place}/mark')",
    "a second name is given": "os.link(f'{place}/secret', f'{place}/mark')",
    "a pipe is made": "os.mkfifo(f'{place}/mark')",
    "a database is made": "sqlite3.connect(f'{place}/mark').execute('create table t (x)')",
    "a socket file is made": "socket.socket(socket.AF_UNIX).bind(f'{place}/mark')",
    "an array is saved": "np.ones(3).tofile(f'{place}/mark')",
    "a file is renamed": "os.rename(f'{place}/kept', f'{place}/mark')",
    "a file is deleted": "os.unlink(f'{place}/kept')",
    "a file is cut by the flag of opening it": "os.open(f'{place}/kept', os.O_RDONLY | os.O_TRUNC)",
    "a file is cut": "os.truncate(f'{place}/kept', 0)",
    "a file is written behind its end": "open(f'{place}/kept', 'a').write('more')",
    "a file's mode is changed": "os.chmod(f'{place}/kept', 0o777)",
    "a file's time is changed": "os.utime(f'{place}/kept', (0, 0))",
    "a command is run by a shell": "os.system(f'touch {place}/mark')",
    "a command is run": "subprocess.run(['touch', f'{place}/mark'])",
    "a command is spawned": "os.waitpid(os.posix_spawn('/bin/touch', ['touch', f'{place}/mark'], {}), 0)",
    "a command takes the place of the process": "os.execvp('touch', ['touch', f'{place}/mark'])",
    "a child is forked": """
        if os.fork() == 0:
            open(f"{place}/mark", "w")
            os._exit(0)
        os.wait()
    """,
    "a grandchild in a session of its own is left behind": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                open(f"{place}/mark", "w")
            os._exit(0)
        os.wait()
        time.sleep(0.2)
    """,
}

HARMING = {
    "a signal is sent": "os.kill(pid, 9)",
    "a signal is sent to a group": "os.killpg(pid, 9)",
    "a signal is sent through a descriptor": "signal.pidfd_send_signal(os.pidfd_open(pid), 9)",
    "a signal is sent to a thread": "libc.tgkill(pid, pid, 9)",
    "a signal is queued": "libc.sigqueue(pid, 9, 0)",
    "a signal is sent by the kernel when the grader writes": """
        fcntl.fcntl(3, fcntl.F_SETOWN, pid)
        fcntl.fcntl(3, 10, 9)
        fcntl.fcntl(3, fcntl.F_SETFL, fcntl.fcntl(3, fcntl.F_GETFL) | os.O_ASYNC)
    """,
    "a signal is sent by the kernel, asked through ioctl": """
        fcntl.ioctl(3, 0x8901, struct.pack("i", pid))
        fcntl.fcntl(3, 10, 9)
        fcntl.ioctl(3, 0x5452, struct.pack("i", 1))
    """,
    "a limit is set": "resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, 5))",
    "a priority is lowered": "os.setpriority(os.PRIO_PROCESS, pid, 19)",
    "processors are taken away": "os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))",
}

CALLING = {
    "a server is called": "socket.create_connection(('127.0.0.1', port), 0.5)",
    "a server with an abstract name is called": """
        line = socket.socket(socket.AF_UNIX)
        line.connect("\\0" + name)
    """,
    "a datagram is sent": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
    "a line is opened to itself": "socket.socketpair()",
    "a pipe is opened to itself": "os.pipe()",
    "memory is shared by name": "os.close(os.memfd_create('shared'))",
    "its own limits are set": "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
    "its life is cut loose from its parent's": "assert libc.prctl(1, 0, 0, 0, 0) == 0",
    "its session is left": "os.setpgid(0, 0) if os.getpid() != os.getsid(0) else os.getpgid(0)",
    "a signal is asked for later": "signal.setitimer(signal.ITIMER_REAL, 60.0)",
    "its folder is left": "os.chdir('/')",
}


@pytest.fixture
def aim(tmp_path):
    """Give a folder, a process and two listening sockets that an attack may reach for."""
    (tmp_path / "secret").write_text("treasure")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "hidden_suite.py").write_text("EXPECTED = 'treasure'\n")
    victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
    _await_command_line(victim.pid)
    name = f"attend-attack-{os.getpid()}-{tmp_path.name}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = server.getsockname()[1]
        yield SimpleNamespace(folder=tmp_path, victim=victim, arguments=(str(tmp_path), victim.pid, port, name))
    victim.kill()
    victim.wait()


def _await_command_line(pid):
    # A program has begun a moment before its command line is there to be read.
    deadline = time.monotonic() + 20
    while not Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline


@pytest.fixture
def attempt(learner_of, aim):
    """Give a function that runs an attack in a worker of one server and gives what it returned or raised."""

    def run(body, server=None):
        source = PREAMBLE + textwrap.indent(textwrap.dedent(body).strip() + "\nreturn 'done'\n", "    ")
        learner = learner_of(source, **({"server": server} if server else {}))
        try:
            result = learner.attack(*aim.arguments)
            # What the kernel does when the grader writes, it does now; so much is not written at once.
            learner.ping(np.zeros(1 << 18))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return f"{type(error).__name__}: {error}"
        finally:
            # A process that it holds on to could not end before it.
            learner.close()
        return result

    return run


def state_of(aim):
    """Give what can be seen of the aims from outside."""
    kept = aim.folder / "kept"
    times = (kept.stat().st_mode, int(kept.stat().st_mtime), kept.read_text()) if kept.exists() else ()
    return state_of_process(aim.victim), times, os.path.lexists(aim.folder / "mark")


def state_of_process(process):
    try:
        # A signal may take a moment to arrive, and whoever expects one asks again.
        return process.wait(0.05)
    except subprocess.TimeoutExpired:
        pid = process.pid
        limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        return limit, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid)


@pytest.mark.parametrize("body", READING.values(), ids=READING)
def test_without_the_jail_it_reads(body, attempt, open_server):
    assert attempt(body, open_server) == "treasure"


@pytest.mark.parametrize("body", READING.values(), ids=READING)
def test_inside_the_jail_it_reads_nothing(body, attempt):
    assert "treasure" not in attempt(body)


@pytest.mark.parametrize("body", (WRITING | HARMING).values(), ids=WRITING | HARMING)
def test_without_the_jail_it_changes_something_outside(body, attempt, open_server, aim):
    before = state_of(aim)
    tried = attempt(body, open_server)
    deadline = time.monotonic() + 20
    while state_of(aim) == before:
        assert time.monotonic() < deadline, tried


@pytest.mark.parametrize("body", (WRITING | HARMING).values(), ids=WRITING | HARMING)
def test_inside_the_jail_it_changes_nothing_outside(body, attempt, aim):
    before = state_of(aim)
    attempt(body)
    assert state_of(aim) == before


@pytest.mark.parametrize("body", CALLING.values(), ids=CALLING)
def test_without_the_jail_the_call_is_answered(body, attempt, open_server):
    assert attempt(body, open_server) == "done"


@pytest.mark.parametrize("body", CALLING.values(), ids=CALLING)
def test_inside_the_jail_the_call_is_refused(body, attempt):
    # Python names a refusal in several ways.
    refusals = ("PermissionError", "AssertionError", "ValueError: not allowed", "OSError: [Errno 1]")
    assert attempt(body).startswith(refusals)


@pytest.mark.parametrize(
    "body",
    ["open(f'{place}/kept', 'a')", "os.open(f'{place}/kept', os.O_RDONLY | os.O_TRUNC)",
     "fcntl.ioctl(open(f'{place}/kept'), 0x40086602, struct.pack('q', 64))", "os.unlink(f'{place}/kept')"],
    ids=["writing", "cutting", "setting flags", "deleting"],
)  # fmt: skip
def test_where_files_may_be_read_they_may_not_be_changed(body, learner_of, aim):
    source = PREAMBLE + f"    {body}\n    return 'done'\n"
    with pytest.raises(PermissionError):
        learner_of(source, also_readable=[str(aim.folder)]).attack(*aim.arguments)
    assert (aim.folder / "kept").read_text() == "kept"

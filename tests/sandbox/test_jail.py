"""What a learner's process has given up, layer by layer, and how a layer that cannot be had is named."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import autograder
from autograder.sandbox import jail, pages
from autograder.sandbox.learner import JailMissing, LearnerException

REPOSITORY = Path(autograder.__file__).parents[1]
TRY = """
import ctypes, errno, os, resource, signal, socket, subprocess, sys, threading
import numpy as np

def outcome(attempt):
    try:
        return repr(attempt())
    except BaseException as error:
        return type(error).__name__ + ": " + errno.errorcode.get(getattr(error, "errno", None), "")

def attempt(text, **names):
    return outcome(lambda: eval(text, globals(), names))
"""


def test_every_layer_holds(learner_of):
    learner = learner_of(TRY)
    learner.load()
    assert learner.layers == jail.LAYERS == ("process", "rlimits", "landlock", "seccomp")


@pytest.mark.parametrize(
    "path",
    ["/", "/etc", "/etc/passwd", "/proc", "/proc/self/maps", "/home", "/tmp", "/var", str(REPOSITORY),
     str(REPOSITORY / "solutions" / "softmax.py"), str(REPOSITORY / "course.toml"), str(REPOSITORY / "autograder"),
     autograder.__file__],
)  # fmt: skip
def test_a_path_outside_cannot_be_read(learner_of, path):
    learner = learner_of(TRY)
    read = "os.listdir(path)" if os.path.isdir(path) else "open(path).read()"
    assert learner.attempt(read, path=path) == "PermissionError: EACCES"


def test_libraries_can_be_read(learner_of):
    learner = learner_of(TRY)
    assert learner.attempt("__import__('colorsys').__name__") == "'colorsys'"
    assert learner.attempt("'numpy' in os.listdir(os.path.dirname(os.path.dirname(np.__file__)))") == "True"
    assert learner.attempt("len(open('/dev/urandom', 'rb').read(4))") == "4"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", ".", "/var/tmp"])
def test_no_file_can_be_made(learner_of, folder):
    learner = learner_of(TRY)
    assert learner.attempt("open(path, 'w')", path=f"{folder}/made-by-a-learner") == "PermissionError: EACCES"
    assert not Path(folder, "made-by-a-learner").exists()


@pytest.mark.parametrize(
    "text",
    [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "socket.socketpair()",
        "os.pipe()",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 0)",
        "os.kill(-1, 0)",
        "os.kill(os.getppid(), signal.SIGTERM)",
        "os.setpriority(os.PRIO_PROCESS, 0, 5)",
        "os.chdir('/')",
        "os.mkdir('/tmp/made-by-a-learner')",
        "os.unlink('/tmp/nothing')",
        "os.symlink('/', '/tmp/made-by-a-learner')",
        "os.chmod('/dev/null', 0o777)",
        "os.memfd_create('name')",
        "os.setsid()",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "os.sched_setaffinity(0, {0})",
    ],
)
def test_a_call_that_reaches_out_is_refused(learner_of, text):
    assert learner_of(TRY).attempt(text) == "PermissionError: EPERM"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("subprocess.run(['/bin/true'])", "PermissionError: EPERM"),
        ("os.popen('true').read()", "PermissionError: EPERM"),
        # What the C library returns where it cannot start a shell.
        ("os.waitstatus_to_exitcode(os.system('true'))", "127"),
    ],
)
def test_no_process_can_be_started(learner_of, text, outcome):
    assert learner_of(TRY).attempt(text) == outcome


@pytest.mark.parametrize(
    ("number", "name"), [(101, "ptrace"), (310, "process_vm_readv"), (62, "kill"), (425, "io_uring")]
)
def test_a_system_call_by_its_number_is_refused(learner_of, number, name):
    if os.uname().machine == "x86_64":
        text = f"(ctypes.CDLL(None, use_errno=True).syscall({number}, 1, 0, 0, 0), errno.errorcode[ctypes.get_errno()])"
        assert learner_of(TRY).attempt(text) == "(-1, 'EPERM')", name


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of the system call is another one")
def test_a_signal_reaches_its_own_threads_and_no_others(learner_of):
    learner = learner_of(TRY)
    sent = "(ctypes.CDLL(None, use_errno=True).syscall(234, {0}, {0}, 0), errno.errorcode.get(ctypes.get_errno()))"
    assert learner.attempt(sent.format("os.getpid()")) == "(0, None)"
    assert learner.attempt(sent.format("os.getppid()")) == "(-1, 'EPERM')"
    assert learner.attempt(sent.format(jail.SOME_PROCESS)) == "(-1, 'EPERM')"


def test_the_filter_holds_the_place_of_one_process():
    program, place = jail._call_filter()
    assert program.count(jail.NUMBER.pack(jail.SOME_PROCESS)) == 1
    assert program[place : place + 4] == jail.NUMBER.pack(jail.SOME_PROCESS)
    assert place % jail.INSTRUCTION == 4
    with pytest.raises(ValueError, match="unpack"):
        jail._only_place_of(jail.SOME_PROCESS, program + program)


def test_computing_goes_on(learner_of):
    learner = learner_of(TRY)
    assert learner.attempt("float(np.linalg.norm(np.ones(4)))") == "2.0"
    source = "import threading\ndef f():\n    found = []\n    t = threading.Thread(target=found.append, args=(1,))\n"
    assert learner_of(source + "    t.start()\n    t.join()\n    return found").f() == [1]


def test_resources_are_limited(learner_of, limits):
    learner = learner_of(TRY)
    assert learner.attempt("resource.getrlimit(resource.RLIMIT_FSIZE)") == "(0, 0)"
    assert learner.attempt("resource.getrlimit(resource.RLIMIT_CORE)") == "(0, 0)"
    cpu = limits.cpu_seconds
    assert learner.attempt("resource.getrlimit(resource.RLIMIT_CPU)") == f"({cpu}, {cpu + 2})"
    assert learner.attempt("resource.getrlimit(resource.RLIMIT_NOFILE)") == repr((jail.MAX_DESCRIPTORS,) * 2)
    assert learner.attempt("resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))") == "ValueError: "


def test_descriptors_lead_nowhere_but_to_the_grader(learner_of):
    source = "import os, stat\ndef kind(n):\n    try:\n        return stat.filemode(os.fstat(n).st_mode)[0]\n"
    source += "    except OSError:\n        return '-'\ndef f():\n    return ''.join(map(kind, range(64)))"
    assert learner_of(source).f() == "cccs" + "-" * 60


@pytest.mark.parametrize(("package", "layer"), [("landlock", "landlock"), ("pyseccomp", "seccomp")])
def test_a_package_that_is_missing_is_named(package, layer):
    text = f"""
import sys
sys.modules[{package!r}] = None
from autograder.sandbox import jail
from autograder.sandbox.wire import JailSettings
held = jail.enter(JailSettings(1 << 28, 20, jail.readable_paths()))
print(held.layers, held.missing)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    layers = tuple(name for name in jail.LAYERS if name != layer)
    assert done.stdout == f"{layers} {{{layer!r}: {package + ' is not installed'!r}}}\n"


def test_a_folder_that_must_stay_hidden_is_a_layer_that_does_not_hold():
    text = """
from autograder.sandbox import jail
from autograder.sandbox.wire import JailSettings
jail.prepare()
print(jail.enter(JailSettings(1 << 28, 20, ("/",))).missing)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "{'landlock': 'PermissionError: [Errno 13] a folder outside can still be listed'}\n"


def test_why_a_layer_is_missing_is_one_line():
    def fail():
        raise OSError("the first line\nNote: a second one")

    assert jail._attempt(fail) == "OSError: the first line"


def test_a_learner_does_not_begin_in_a_jail_with_a_hole(learner_of, monkeypatch):
    learner = learner_of("def f():\n    return 1")
    learner._line._settings = msgspec.structs.replace(learner._line._settings, readable=("/",))
    with pytest.raises(JailMissing, match=r"^landlock: PermissionError: .*a folder outside can still be listed$"):
        learner.load()


def test_with_trust_it_begins_and_the_layers_that_hold_are_told(learner_of):
    learner = learner_of("def f():\n    return 1", trust=True)
    learner._line._settings = msgspec.structs.replace(learner._line._settings, readable=("/",))
    assert learner.f() == 1
    assert learner.layers == ("process", "rlimits", "seccomp")


def test_nothing_readable_holds_the_course():
    hidden = [REPOSITORY / "solutions", REPOSITORY / "autograder" / "suites"]
    assert jail.first_readable(hidden, jail.readable_paths()) is None


def test_the_first_hidden_path_that_is_readable_is_named(tmp_path):
    libraries = tmp_path / "site-packages"
    inside, outside = libraries / "course" / "suites", tmp_path / "suites"
    inside.mkdir(parents=True)
    outside.mkdir()
    readable = (str(libraries.resolve()),)
    assert jail.first_readable([outside, inside, libraries], readable) == inside
    assert jail.first_readable([outside], readable) is None
    assert jail.first_readable([tmp_path / "site-packages-of-another"], readable) is None


def test_a_link_to_a_readable_path_is_readable(tmp_path):
    libraries = tmp_path / "lib"
    (libraries / "suites").mkdir(parents=True)
    link = tmp_path / "suites"
    link.symlink_to(libraries / "suites")
    assert jail.first_readable([link], (str(libraries.resolve()),)) == link


def test_every_readable_path_is_there():
    for path in jail.readable_paths():
        assert os.path.exists(path)
        assert os.path.realpath(path) == path or not os.path.isdir(path)


def test_the_system_that_may_fork_is_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not jail.can_fork()
    monkeypatch.setattr(sys, "platform", "linux")
    assert jail.can_fork()


def test_an_exception_of_the_jail_is_the_learner_s_own_error(learner_of):
    with pytest.raises(PermissionError) as caught:
        learner_of("def f():\n    open('/etc/passwd')").f()
    assert isinstance(caught.value, LearnerException)
    assert caught.value.frames[-1].text == "open('/etc/passwd')"


@pytest.mark.parametrize("error", [TypeError, AttributeError, OSError])
def test_a_system_with_another_c_library_prepares_what_it_can_and_is_not_stopped(monkeypatch, error):
    def no_library(*_, **__):
        raise error("there is none here")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    jail._system_call.cache_clear()
    try:
        jail.prepare()
        pages.keep_freed()
        with pytest.raises(error):
            jail._system_call()
    finally:
        jail._system_call.cache_clear()

"""What a learner's process gives up before learner code runs. The only file that may assume Linux.

Each layer stands alone; one that cannot be had here is named with the reason, and the grader decides whether to go on.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import site
import struct
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from autograder.sandbox.wire import JailSettings

LAYERS = ("process", "rlimits", "landlock", "seccomp")
MAX_DESCRIPTORS = 64
PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SIGKILL = 9
# Stands for the process's own number in a filter that is made before the process is there; no process has it.
SOME_PROCESS = 0x5EED_C0DE
# An instruction of a filter is 8 bytes, the last four its constant.
INSTRUCTION = 8
NUMBER = struct.Struct("=I")
# Above the descriptors that a worker's own take.
FIRST_KEPT = 10

# Everything that computing needs and nothing that reaches out: reading, memory, threads, time, signals to itself.
COMPUTE_ONLY = """
read write readv writev pread64 pwrite64 lseek close fstat newfstatat stat lstat statx access faccessat faccessat2
readlink readlinkat getdents64 getcwd dup dup2 dup3 poll ppoll select pselect6 epoll_wait recvfrom
mmap munmap mremap mprotect brk futex sched_yield sched_getaffinity nanosleep clock_nanosleep clock_gettime
clock_getres gettimeofday time getrandom rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack exit exit_group
getpid gettid getppid getuid geteuid getgid getegid uname sysinfo getrusage getrlimit times set_robust_list rseq
restart_syscall membarrier get_mempolicy getcpu arch_prctl
""".split()
# What a descriptor may be asked. All else stays shut: F_SETOWN with F_SETSIG has the kernel send any signal to any
# process when the grader next writes; by ioctl the flags of a file opened for reading change, or its disk is frozen.
DESCRIPTOR_COMMANDS = ("F_DUPFD", "F_DUPFD_CLOEXEC", "F_GETFD", "F_SETFD", "F_GETFL")
DEVICE_COMMANDS = ("TCGETS", "TIOCGWINSZ", "FIONREAD", "FIONBIO", "FIOCLEX", "FIONCLEX")
CLONE_THREAD = 0x10000
NEW_NAMESPACES = 0x7E020000
MADV_HWPOISON = 100


class Held(msgspec.Struct, frozen=True):
    """Which layers hold, and why the others do not."""

    layers: tuple[str, ...]
    missing: dict[str, str]


@functools.cache
def readable_paths() -> tuple[str, ...]:
    """Give what a jailed process may read: interpreter, standard library, site-packages and the system's libraries."""
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_path(key) for key in keys] + site.getsitepackages()
    base = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    folders += [base["stdlib"], base["platstdlib"], "/usr/lib", "/lib", "/lib64"]
    files = ["/dev/null", "/dev/urandom"]
    real = {os.path.realpath(path) for path in folders if path and os.path.isdir(path)}
    return tuple(sorted(real)) + tuple(path for path in files if os.path.exists(path))


def first_readable(paths: list[Path], readable: tuple[str, ...]) -> Path | None:
    """Give the first of `paths` that lies under a readable one: hidden things must not."""
    for path in paths:
        real = path.resolve()
        if any(real.is_relative_to(folder) for folder in readable):
            return path
    return None


def can_fork() -> bool:
    """Tell whether a process that holds numpy and torch may be forked: on Linux; elsewhere their threads forbid it."""
    return sys.platform.startswith("linux") and hasattr(os, "fork")


def prepare() -> None:
    """Make what the layers need once for all forks; what is missing is named when the jail is entered."""
    for make in (_system_call, _call_filter, lambda: _file_rules(readable_paths()), _limits_known, _file_calls):
        # Windows knows no library without a name (TypeError), and others no such function in it (AttributeError).
        with contextlib.suppress(ImportError, RuntimeError, OSError, ValueError, AttributeError, TypeError):
            make()


def prepared_descriptors(settings: JailSettings) -> tuple[int, ...]:
    """Give the descriptors, all from 10 up, that a fork needs until it has entered the jail."""
    if settings.readable != readable_paths():
        return ()
    try:
        return (_file_rules(settings.readable)._fd,)
    except (ImportError, RuntimeError, OSError):
        return ()


def enter(settings: JailSettings) -> Held:
    """Give up everything but computing, in the order in which each step is still possible."""
    held = ["process"]
    missing: dict[str, str] = {}
    mapped = _mapped_bytes()
    with contextlib.suppress(ImportError, RuntimeError, OSError, ValueError):
        # Not possible any more once no file may be written; why not is told by its layer.
        _call_filter()
    for layer, apply in (
        ("rlimits", lambda: _limit_resources(settings, mapped)),
        ("landlock", lambda: _confine_files(settings.readable)),
        ("seccomp", _confine_calls),
    ):
        why = _attempt(apply)
        if why is None:
            held.append(layer)
        else:
            missing[layer] = why
    return Held(tuple(held), missing)


def _attempt(apply: Callable[[], None]) -> str | None:
    try:
        apply()
    except ImportError as error:
        return f"{error.name or error} is not installed"
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).splitlines() or ['no reason given'])[0][:200]}"
    return None


def die_with_parent() -> None:
    """Ask the kernel to end this process when the process that forked it ends."""
    if sys.platform.startswith("linux"):
        _system_call()(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


@functools.cache
def _system_call() -> Any:
    """Give the C library's `prctl`."""
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
    return prctl


def _limits_known() -> None:
    # A module of its own in C, which each fork would load.
    import resource  # noqa: F401


def _file_calls() -> None:
    from landlock import plumbing

    plumbing.get_prctl()
    plumbing.get_restrict_self()


def _mapped_bytes() -> int:
    # Landlock hides /proc, so this is read before it.
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(statm, 100).split()[0]) * os.sysconf("SC_PAGE_SIZE")
        finally:
            os.close(statm)
    except (OSError, AttributeError):
        return 0


def _limit_resources(settings: JailSettings, mapped: int) -> None:
    import resource

    if not mapped:
        raise OSError(errno.ENOENT, "the size of this process cannot be read")
    soft_cpu, hard_cpu = settings.cpu_seconds, settings.cpu_seconds + 2
    limits = {
        resource.RLIMIT_AS: (mapped + settings.memory,) * 2,
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_CPU: (soft_cpu, hard_cpu),
        resource.RLIMIT_NOFILE: (MAX_DESCRIPTORS,) * 2,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, value)


def _confine_files(readable: tuple[str, ...]) -> None:
    rules = _file_rules(readable)
    rules.apply()
    os.close(rules._fd)
    _must_fail(lambda: os.listdir("/"), "a folder outside can still be listed")


@functools.cache
def _file_rules(readable: tuple[str, ...]) -> Any:
    import fcntl

    from landlock import FSAccess, Ruleset

    rules = Ruleset()
    for path in readable:
        whole_folder = FSAccess.READ_FILE | FSAccess.READ_DIR
        rules.allow(path, rules=whole_folder if os.path.isdir(path) else FSAccess.READ_FILE)
    kept = fcntl.fcntl(rules._fd, fcntl.F_DUPFD_CLOEXEC, FIRST_KEPT)
    os.close(rules._fd)
    object.__setattr__(rules, "_fd", kept)
    return rules


def _confine_calls() -> None:
    program, own_number = _call_filter()
    instructions = ctypes.create_string_buffer(program, len(program))
    NUMBER.pack_into(instructions, own_number, os.getpid())
    filter_ = _FilterProgram(len(program) // INSTRUCTION, ctypes.addressof(instructions))
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_))
    _must_fail(lambda: os.pipe(), "a pipe can still be made")


class _FilterProgram(ctypes.Structure):
    """A `struct sock_fprog`: the number of instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _prctl(option: int, first: int, second: int = 0) -> None:
    # Not through ctypes' own copy of errno, which the package landlock takes for the outcome of its next call.
    if _system_call()(option, first, second, 0, 0):
        raise OSError(errno.EPERM, f"the kernel refuses prctl {option}")


@functools.cache
def _call_filter() -> tuple[bytes, int]:
    """Give the filter of system calls as instructions for the kernel, and where the process's own number belongs."""
    import pyseccomp

    calls = pyseccomp.SyscallFilter(defaction=pyseccomp.ERRNO(errno.EPERM))
    for name in COMPUTE_ONLY:
        _allow(calls, name)
    kinds = CLONE_THREAD | NEW_NAMESPACES
    calls.add_rule(pyseccomp.ALLOW, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, kinds, CLONE_THREAD))
    # glibc then falls back to clone, whose flags a filter can read.
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    calls.add_rule(pyseccomp.ALLOW, "tgkill", pyseccomp.Arg(0, pyseccomp.EQ, SOME_PROCESS))
    # Its own limits may be read but not set: root could lift them, and for others they could end the grader.
    own, unchanged = pyseccomp.Arg(0, pyseccomp.EQ, 0), pyseccomp.Arg(2, pyseccomp.EQ, 0)
    calls.add_rule(pyseccomp.ALLOW, "prlimit64", own, unchanged)
    no_address = pyseccomp.Arg(4, pyseccomp.EQ, 0)
    calls.add_rule(pyseccomp.ALLOW, "sendto", no_address)
    # Beyond this advice root could take pages of the machine's memory out of use.
    calls.add_rule(pyseccomp.ALLOW, "madvise", pyseccomp.Arg(2, pyseccomp.LT, MADV_HWPOISON))
    _allow_commands(calls)
    _allow_opening(calls)
    with open(os.memfd_create("filter"), "w+b") as written:
        calls.export_bpf(written)
        written.seek(0)
        program = written.read()
    return program, _only_place_of(SOME_PROCESS, program)


def _only_place_of(number: int, program: bytes) -> int:
    """Give the byte at which an instruction's constant is `number`; ValueError unless there is one such instruction."""
    constants = range(INSTRUCTION - NUMBER.size, len(program), INSTRUCTION)
    (place,) = (at for at in constants if NUMBER.unpack_from(program, at) == (number,))
    return place


def _allow_commands(calls: Any) -> None:
    import fcntl
    import termios

    import pyseccomp

    for call, module, names in (("fcntl", fcntl, DESCRIPTOR_COMMANDS), ("ioctl", termios, DEVICE_COMMANDS)):
        for name in names:
            calls.add_rule(pyseccomp.ALLOW, call, pyseccomp.Arg(1, pyseccomp.EQ, getattr(module, name)))


def _allow_opening(calls: Any) -> None:
    # Kernels before 6.2 leave it to this filter that a file opened for reading is not cut to nothing (O_TRUNC).
    import pyseccomp

    kinds = os.O_TRUNC | os.O_ACCMODE
    for call, flags in (("open", 1), ("openat", 2)):
        _allow(calls, call, pyseccomp.Arg(flags, pyseccomp.MASKED_EQ, os.O_TRUNC, 0))
        for writing in (os.O_WRONLY, os.O_RDWR):
            _allow(calls, call, pyseccomp.Arg(flags, pyseccomp.MASKED_EQ, kinds, os.O_TRUNC | writing))


def _must_fail(action: Callable[[], object], complaint: str) -> None:
    try:
        action()
    except PermissionError:
        return
    raise OSError(errno.EACCES, complaint)


def _allow(calls: Any, name: str, *arguments: Any) -> None:
    import pyseccomp

    try:
        calls.add_rule(pyseccomp.ALLOW, name, *arguments)
    except (ValueError, OSError):
        # A name that this processor's kernel does not have (open, stat on arm64) needs no rule.
        return

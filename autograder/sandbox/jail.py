"""What a learner's process gives up before learner code runs. The only file that may assume Linux.

Each layer stands alone; one that cannot be had here is named with the reason, and the grader decides whether to go on.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import importlib
import os
import site
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
SIGKILL = 9

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
    """Import what the layers need while files can still be read; what is missing is named when the jail is entered."""
    for package in ("landlock", "pyseccomp"):
        with contextlib.suppress(ImportError, RuntimeError, OSError):
            importlib.import_module(package)


def enter(settings: JailSettings) -> Held:
    """Give up everything but computing, in the order in which each step is still possible."""
    held = ["process"]
    missing: dict[str, str] = {}
    mapped = _mapped_bytes()
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
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def _mapped_bytes() -> int:
    # Landlock hides /proc, so this is read before it.
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
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
    from landlock import FSAccess, Ruleset

    rules = Ruleset()
    for path in readable:
        whole_folder = FSAccess.READ_FILE | FSAccess.READ_DIR
        rules.allow(path, rules=whole_folder if os.path.isdir(path) else FSAccess.READ_FILE)
    rules.apply()
    os.close(rules._fd)
    _must_fail(lambda: os.listdir("/"), "a folder outside can still be listed")


def _confine_calls() -> None:
    import pyseccomp

    calls = pyseccomp.SyscallFilter(defaction=pyseccomp.ERRNO(errno.EPERM))
    for name in COMPUTE_ONLY:
        _allow(calls, name)
    kinds = CLONE_THREAD | NEW_NAMESPACES
    calls.add_rule(pyseccomp.ALLOW, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, kinds, CLONE_THREAD))
    # glibc then falls back to clone, whose flags a filter can read.
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    calls.add_rule(pyseccomp.ALLOW, "tgkill", pyseccomp.Arg(0, pyseccomp.EQ, os.getpid()))
    # Its own limits may be read but not set: root could lift them, and for others they could end the grader.
    own, unchanged = pyseccomp.Arg(0, pyseccomp.EQ, 0), pyseccomp.Arg(2, pyseccomp.EQ, 0)
    calls.add_rule(pyseccomp.ALLOW, "prlimit64", own, unchanged)
    no_address = pyseccomp.Arg(4, pyseccomp.EQ, 0)
    calls.add_rule(pyseccomp.ALLOW, "sendto", no_address)
    # Beyond this advice root could take pages of the machine's memory out of use.
    calls.add_rule(pyseccomp.ALLOW, "madvise", pyseccomp.Arg(2, pyseccomp.LT, MADV_HWPOISON))
    _allow_commands(calls)
    _allow_opening(calls)
    calls.load()
    _must_fail(lambda: os.pipe(), "a pipe can still be made")


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

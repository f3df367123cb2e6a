"""What Python lacks on Windows, taken away as Python starts. The system beneath stays Linux, and `os.name` with it."""

import importlib.abc
import os
import signal
import socket
import subprocess
import sys

MODULES = ("fcntl", "grp", "landlock", "pyseccomp", "pwd", "resource", "termios", "tty", "pty", "syslog")
OF_OS = """
fork forkpty killpg setsid setpgid getpgid getsid sysconf statvfs fchmod chown mkfifo nice getloadavg
sched_getaffinity posix_spawn posix_spawnp wait3 wait4 pread pwrite openpty O_NOFOLLOW O_DIRECTORY O_CLOEXEC
""".split()
OF_SIGNAL = "SIGKILL SIGALRM SIGCHLD SIGHUP SIGPIPE SIGQUIT SIGUSR1 SIGXCPU SIGXFSZ alarm setitimer".split()
OF_SOCKET = ("AF_UNIX", "send_fds", "recv_fds", "CMSG_LEN", "SCM_RIGHTS")


class NotThere(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def connected_pair(*_):
    """Give two ends of a connection through a port, as Python does on Windows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    return ours, theirs


class Popen(subprocess.Popen):
    def __init__(self, *arguments, pass_fds=(), start_new_session=False, **options):
        if pass_fds:
            raise ValueError("pass_fds not supported on Windows.")
        super().__init__(*arguments, **options)

    def kill(self):
        self.send_signal(9)


sys.meta_path.insert(0, NotThere())
for name in MODULES:
    sys.modules.pop(name, None)
for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (socket, OF_SOCKET)):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
socket.socketpair = connected_pair
subprocess.Popen = Popen

"""A Jupyter server with nbgrader's formgrader in a course's folder, for as long as a test looks at it."""

import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError

SECONDS_TO_START = 60
EXTENSIONS = (
    '{"nbgrader.server_extensions.formgrader": True, "jupyterlab": False, "notebook": False, "nbclassic": False}'
)


@contextmanager
def served(course) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the address of the formgrader's pages, and the headers that it lets one in with."""
    token, port = secrets.token_hex(8), _free_port()
    options = [
        f"--ServerApp.jpserver_extensions={EXTENSIONS}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        "--ServerApp.ip=127.0.0.1",
        "--no-browser",
        "--allow-root",
    ]
    with (course.folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=course.folder, env=course.environment, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait(server, f"http://127.0.0.1:{port}/api?token={token}", course.folder / "server.log")
            yield f"http://127.0.0.1:{port}/formgrader", {"Authorization": f"token {token}"}
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(server, address, log) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"no server: {log.read_text()[-2000:]}")

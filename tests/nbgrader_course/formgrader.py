"""A Jupyter server with nbgrader's formgrader in a course's folder, for as long as a test looks at it."""

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..running_jupyter import FREE_PORT, address_once_it_answers

EXTENSIONS = (
    '{"nbgrader.server_extensions.formgrader": True, "jupyterlab": False, "notebook": False, "nbclassic": False}'
)


@contextmanager
def served(course) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the address of the formgrader's pages, and the headers that it lets one in with."""
    token, log_file, runtime = secrets.token_hex(8), course.folder / "server.log", course.folder / "runtime"
    options = [
        f"--ServerApp.jpserver_extensions={EXTENSIONS}",
        FREE_PORT,
        f"--IdentityProvider.token={token}",
        "--ServerApp.ip=127.0.0.1",
        "--no-browser",
        "--allow-root",
    ]
    environment = {**course.environment, "JUPYTER_RUNTIME_DIR": str(runtime)}
    with log_file.open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=course.folder, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            address = address_once_it_answers(server, runtime, token, log_file)
            yield f"{address}/formgrader", {"Authorization": f"token {token}"}
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()

"""Where a Jupyter server that a test started is: at a port that it chose itself when it was about to listen."""

import json
import subprocess
import time
import urllib.request
from pathlib import Path

SECONDS_TO_START = 180
FREE_PORT = "--ServerApp.port=0"


def address_once_it_answers(server: subprocess.Popen[bytes], runtime: Path, token: str, log: Path) -> str:
    """Give the server's address; `runtime` is its JUPYTER_RUNTIME_DIR, in which it says its port."""
    told = runtime / f"jpserver-{server.pid}.json"
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and server.poll() is None:
        try:
            address = f"http://127.0.0.1:{json.loads(told.read_text())['port']}"
            urllib.request.urlopen(f"{address}/api?token={token}", timeout=5).close()
        except (OSError, ValueError):
            time.sleep(0.2)
        else:
            return address
    raise AssertionError(f"no server: {log.read_text()[-2000:]}")

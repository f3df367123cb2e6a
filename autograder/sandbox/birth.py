"""What a fork server begins with, however it is begun."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class Birth:
    """What a zygote begins with: where it is asked, the line to its grader, and where its errors go."""

    listener: socket.socket
    parent: socket.socket
    errors: IO[bytes]
    folder: Path
    libraries: tuple[str, ...]

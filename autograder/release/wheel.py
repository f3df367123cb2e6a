"""The wheel of `attend` that a bundle brings: built from this copy of the kit, without a network."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.release.stubs import ReleaseError

KIT = Path(__file__).resolve().parents[2]
_BUILD = "import sys, hatchling.build as backend; print(backend.build_wheel(sys.argv[1]))"


def built_wheel(kit: Path = KIT) -> tuple[str, bytes]:
    """Give the wheel of the kit: its file name, and what is in it. The same copy of the kit gives the same bytes.

    Raises ReleaseError where it cannot be built.
    """
    if not (kit / "pyproject.toml").is_file():
        raise ReleaseError(f"{kit}: there is no pyproject.toml; a bundle is made in the repository of the kit")
    if find_spec("hatchling") is None:
        raise ReleaseError("the bundle's wheel is built by hatchling, which is not installed; pip install hatchling")
    with TemporaryDirectory() as folder:
        # In a process of its own: the backend works in the folder that holds pyproject.toml.
        ended = subprocess.run(
            [sys.executable, "-c", _BUILD, folder], cwd=kit, capture_output=True, encoding="utf-8", errors="replace"
        )
        wheels = list(Path(folder).glob("*.whl"))
        if ended.returncode or len(wheels) != 1:
            last = (ended.stderr.strip().splitlines() or [f"status {ended.returncode}"])[-1]
            raise ReleaseError(f"{kit}: the wheel cannot be built ({last})")
        return wheels[0].name, wheels[0].read_bytes()

"""Trees as platforms give them, small enough to be read in a test."""

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

EXERCISES = ("softmax", "causal_mask", "attention")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Tree:
    """A folder that files are written to, and that can be packed into an archive."""

    exercises = EXERCISES
    noon = NOON

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str = "x = 1\n", *, at: datetime | None = None) -> Path:
        """Write a file, with a time of its own where one is given."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if at is not None:
            os.utime(file, (at.timestamp(), at.timestamp()))
        return file

    def zipped(self, name: str = "class.zip", *, under: str = "") -> Path:
        """Pack all that was written, below a folder of that name where platforms put one."""
        archive = self.path.parent / name
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(self.path.rglob("*")):
                file.write(path, under + path.relative_to(self.path).as_posix())
        return archive


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Give an empty folder named `class`."""
    (tmp_path / "class").mkdir()
    return Tree(tmp_path / "class")


@pytest.fixture
def exercises() -> tuple[str, ...]:
    """Give the names of three exercises."""
    return EXERCISES

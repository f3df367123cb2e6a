"""Folders and files on the disk: links, pipes and devices are told apart, and never followed or waited for."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from autograder.downloads.model import SubmissionError, UnreadableError
from autograder.downloads.nodes import MIB, Kind, Node, readable
from autograder.language import say

# A FIFO must not be waited for, a link not followed; a platform without the flag has no such thing to open.
OPEN_PLAINLY = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


class OnDisk(Node):
    """A folder or file on the disk."""

    def __init__(self, path: Path, entry: os.DirEntry[str] | None = None, prefix: str = "") -> None:
        self.path = path
        self.name = readable(path.name)
        self.kind = _kind_of(path) if entry is None else _kind_of_entry(entry)
        self._where = prefix + self.name

    @property
    def modified(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self.path.lstat().st_mtime, UTC)
        except (OSError, OverflowError, ValueError):
            return None

    @property
    def stands_for_folder(self) -> bool:
        return self.is_folder or (self.kind is Kind.LINK and self.path.is_dir())

    def children(self) -> Sequence[Node]:
        try:
            with os.scandir(self.path) as entries:
                children = [OnDisk(Path(entry.path), entry, f"{self._where}/") for entry in entries]
        except OSError as error:
            said = say("{name} cannot be read: {why}", name=self._where, why=error.strerror)
            raise SubmissionError(said) from None
        return sorted(children, key=lambda child: child.path)

    def read(self, limit: int) -> bytes:
        return read_file(self.path, limit)


def read_file(path: Path, limit: int) -> bytes:
    """Read an ordinary file of at most `limit` bytes; a link, a pipe or a device is told apart without opening it."""
    try:
        require_ordinary(path.lstat().st_mode)
        with open(os.open(path, OPEN_PLAINLY), "rb") as file:
            require_ordinary(os.fstat(file.fileno()).st_mode)
            data = file.read(limit + 1)
    except OSError as error:
        raise UnreadableError(say("cannot be read: {why}", why=error.strerror)) from None
    if len(data) > limit:
        raise UnreadableError(say("is larger than {size} MiB", size=limit // MIB))
    return data


def require_ordinary(mode: int) -> None:
    """Raise UnreadableError for what is no ordinary file, by its mode."""
    if stat.S_ISLNK(mode):
        raise UnreadableError(say("is a link, and links are not followed"))
    if not stat.S_ISREG(mode):
        raise UnreadableError(say("is not an ordinary file"))


def _kind_of(path: Path) -> Kind:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return Kind.OTHER
    if stat.S_ISLNK(mode):
        return Kind.LINK
    return Kind.FOLDER if stat.S_ISDIR(mode) else Kind.FILE if stat.S_ISREG(mode) else Kind.OTHER


def _kind_of_entry(entry: os.DirEntry[str]) -> Kind:
    """Tell the kind as the listing gives it, so that no further call is needed for most files."""
    if entry.is_symlink() or _is_junction(entry):
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Say whether this is Windows' other kind of link, where Python can tell (3.12 and later)."""
    is_junction = getattr(entry, "is_junction", None)
    return is_junction is not None and is_junction()

"""Zip archives, read in memory and never unpacked to the disk.

One learner's archive is refused whole for any entry that no learner's archiver makes. In the archive of a class such
an entry costs only the learner whose folder it lies in; one that lies nowhere, such as an absolute path, costs all.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from autograder.downloads import nodes
from autograder.downloads.disk import OPEN_PLAINLY, read_file, require_ordinary
from autograder.downloads.model import SubmissionError, UnreadableError
from autograder.downloads.nodes import (
    DEEPEST_FOLDER,
    LARGEST_ARCHIVE,
    MIB,
    File,
    Kind,
    Node,
    is_module_or_notebook,
    is_passed_over,
    limit_of,
    too_much,
)
from autograder.language import Phrase, said_by, say

LARGEST_CLASS_ARCHIVE = 4096 * MIB
MOST_CLASS_FILES = 200_000
CHUNK = MIB

# All that `zipfile` lets escape on a damaged archive.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError)
CENTRAL_ENTRY = b"PK\x01\x02"
ENCRYPTED = 0x1 | 0x40 | 0x2000
# The extra field of Info-ZIP and others that holds the time in UTC: its id, its length, flags, seconds since 1970.
TIME_FIELD = struct.Struct("<HHBl")
TIME_FIELD_ID = 0x5455
# What archivers write that keep no times.
NO_TIME = (1980, 1, 1, 0, 0, 0)


class Zipped(Node):
    """A folder or file in the archive of a class."""

    def __init__(self, name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None = None) -> None:
        self.name = name
        self.kind = Kind.FOLDER if entry is None else Kind.FILE
        self._archive = archive
        self._entry = entry
        self._children: list[Node] = []
        self._folders: dict[str, Zipped] = {}
        if entry is not None:
            self.size, self.packed = entry.file_size, entry.compress_size

    @property
    def modified(self) -> datetime | None:
        return time_of(self._entry) if self._entry else None

    def children(self) -> Sequence[Node]:
        return sorted(self._children, key=lambda node: node.name)

    def read(self, limit: int) -> bytes:
        if self._entry is None:
            raise UnreadableError(say("is not an ordinary file"))
        return _unpacked(self._archive, self._entry, self.name, limit)

    def folder(self, name: str) -> Zipped:
        """Give the folder of this name in this one, made where missing."""
        if name not in self._folders:
            self._folders[name] = Zipped(name, self._archive)
            self._children.append(self._folders[name])
        return self._folders[name]

    def add(self, name: str, entry: zipfile.ZipInfo) -> Node:
        """Put a file into this folder; two of one name are both kept, so that reading them says so."""
        self._children.append(Zipped(name, self._archive, entry))
        return self._children[-1]


def archive_on_disk(path: Path) -> list[File]:
    """List the files of a learner's archive on the disk; SubmissionError where it is not to be trusted."""
    with _telling_why(nodes.readable(path.name)) as name:
        return files_in_archive(read_file(path, LARGEST_ARCHIVE), name)


def archive_in(node: Node) -> list[File]:
    """List the files of a learner's archive that lies in a folder or in the archive of a class."""
    with _telling_why(node.name) as name:
        return files_in_archive(node.read(LARGEST_ARCHIVE), name)


def files_in_archive(data: bytes, name: str) -> list[File]:
    """List the files of an archive held in memory; UnreadableError where any part of it is not to be trusted."""
    # Counted before the directory is parsed, since parsing is what a million entries make expensive.
    if data.count(CENTRAL_ENTRY) > nodes.MOST_FILES:
        raise UnreadableError(say("holds more than {count} files", count=nodes.MOST_FILES))
    archive = zipfile.ZipFile(io.BytesIO(data))
    entries = archive.infolist()
    _require_harmless(entries, len(data))
    wanted = [entry for entry in entries if _is_wanted(_name_in(entry))]
    return [File(_name_in(entry), partial(_module_in, archive, entry, name), time_of(entry)) for entry in wanted]


@contextmanager
def class_archive(path: Path) -> Iterator[Node]:
    """Open the archive of a class, and give it as a folder; SubmissionError where it cannot be opened at all."""
    with ExitStack() as stack:
        # What goes wrong later is no fault of the archive's.
        with _telling_why(nodes.readable(path.name)):
            file = stack.enter_context(_opened(path))
            archive = stack.enter_context(zipfile.ZipFile(file))
            top = _tree_of(archive, nodes.readable(path.stem))
        yield top


def time_of(entry: zipfile.ZipInfo) -> datetime | None:
    """Give the time of an entry, or None where it tells none.

    The directory of an archive holds local time without a zone, taken for this machine's, unless the entry also has
    Info-ZIP's field 0x5455, which is in UTC (APPNOTE.TXT 4.4.6; proginfo/extrafld.txt of Info-ZIP).
    """
    try:
        if (seconds := _time_field(entry.extra)) is not None:
            return datetime.fromtimestamp(seconds, UTC)
        return None if entry.date_time == NO_TIME else datetime(*entry.date_time).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _time_field(extra: bytes) -> int | None:
    while len(extra) >= 4:
        id, length = struct.unpack_from("<HH", extra)
        if id == TIME_FIELD_ID and length >= 5 and len(extra) >= TIME_FIELD.size:
            _, _, flags, seconds = TIME_FIELD.unpack_from(extra)
            return int(seconds) if flags & 1 else None
        extra = extra[4 + length :]
    return None


@contextmanager
def _telling_why(name: str) -> Iterator[str]:
    """Turn all that can go wrong with an archive into one line that names it."""
    try:
        yield name
    except UnreadableError as error:
        said = say("{name} {trouble}; zip the modules alone", name=name, trouble=said_by(error))
        raise SubmissionError(said) from None
    except UnicodeDecodeError:
        said = say("{name} holds a file name that is not UTF-8; zip the modules alone", name=name)
        raise SubmissionError(said) from None
    except ZIP_ERRORS as error:
        said = say("{name} is not a whole zip archive ({error}); zip the modules again", name=name, error=error)
        raise SubmissionError(said) from None


def _opened(path: Path) -> BinaryIO:
    """Open an archive that is too large to be held in memory, after counting what its directory lists."""
    require_ordinary(path.lstat().st_mode)
    with ExitStack() as stack:
        file = stack.enter_context(open(os.open(path, OPEN_PLAINLY), "rb"))
        require_ordinary(os.fstat(file.fileno()).st_mode)
        if os.fstat(file.fileno()).st_size > LARGEST_CLASS_ARCHIVE:
            raise UnreadableError(say("is larger than {size} MiB", size=LARGEST_CLASS_ARCHIVE // MIB))
        if _n_entries(file) > MOST_CLASS_FILES:
            raise UnreadableError(say("holds more than {count} files", count=MOST_CLASS_FILES))
        stack.pop_all()
    return file


def _n_entries(file: BinaryIO) -> int:
    """Count the signatures of directory entries, also where one lies across two chunks."""
    n_entries, tail = 0, b""
    while chunk := file.read(CHUNK):
        n_entries += (tail + chunk).count(CENTRAL_ENTRY)
        tail = chunk[-(len(CENTRAL_ENTRY) - 1) :]
    return n_entries


def _tree_of(archive: zipfile.ZipFile, name: str) -> Node:
    """Sort the entries of an archive into folders; what must not be read stays in the tree as an objection."""
    top = Zipped(name, archive)
    for entry in archive.infolist():
        _place(top, entry)
    return top


def _place(top: Zipped, entry: zipfile.ZipInfo) -> None:
    """Put an entry into its folder; one that must not be read becomes an objection to the folder it surely lies in."""
    objection = _objection(entry)
    if _is_absolute(entry.orig_filename):
        top.objection = objection
        return
    *folders, last = _name_in(entry).split("/")
    folder = top
    for depth, name in enumerate(folders):
        if _leads_elsewhere(name):
            break
        if depth > DEEPEST_FOLDER + 2:
            objection = say("a file more than {count} folders deep", count=DEEPEST_FOLDER)
            break
        folder = folder if name in ("", ".") else folder.folder(name)
    else:
        if last and not _leads_elsewhere(last):
            folder.add(last, entry).objection = objection
            return
    folder.objection = folder.objection or objection


def _leads_elsewhere(name: str) -> bool:
    return name == ".." or "\\" in name or "\0" in name


def _require_harmless(entries: list[zipfile.ZipInfo], n_packed: int) -> None:
    """Refuse the archive for any entry that no learner's archiver makes, and for what it would grow to."""
    for entry in entries:
        if objection := _objection(entry):
            raise UnreadableError(say("holds {objection}", objection=objection))
    if growth := too_much([(entry.filename, entry.file_size) for entry in entries], n_packed):
        raise UnreadableError(growth)
    names = [_name_in(entry) for entry in entries]
    nested = [name for name in names if name.casefold().endswith(".zip") and _is_wanted(name)]
    if nested and not any(map(is_module_or_notebook, names)):
        raise UnreadableError(say("holds another archive ({name}), which is not opened", name=nested[0]))


def _objection(entry: zipfile.ZipInfo) -> Phrase | str:
    """Say what is wrong with an entry, or nothing; the raw name is judged, before a platform has mended it."""
    raw = entry.orig_filename
    if ".." in re.split(r"[/\\]", raw):
        return say("a name with '..' ({name})", name=repr(raw))
    if _is_absolute(raw):
        return say("an absolute path ({name})", name=repr(raw))
    if "\\" in raw or "\0" in raw:
        return say("a name with a backslash or a null ({name})", name=repr(raw))
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return say("a link or special file ({name})", name=repr(raw))
    if entry.flag_bits & ENCRYPTED:
        return say("an encrypted file ({name})", name=repr(raw))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return say("a file packed by another method than deflate ({name})", name=repr(raw))
    return ""


def _is_absolute(raw: str) -> bool:
    return raw.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", raw) is not None


def _name_in(entry: zipfile.ZipInfo) -> str:
    """Give the entry's name; archivers that write UTF-8 without saying so are read as they meant it."""
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _is_wanted(name: str) -> bool:
    return not name.endswith("/") and not any(map(is_passed_over, PurePosixPath(name).parts))


def _module_in(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, archive_name: str) -> bytes:
    try:
        name = _name_in(entry)
        place = say("{archive} is broken at {name}", archive=archive_name, name=name)
        return _unpacked(archive, entry, place, limit_of(name))
    except UnreadableError as error:
        raise UnreadableError(say("{name} {trouble}", name=_name_in(entry), trouble=said_by(error))) from None


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: Phrase | str, limit: int) -> bytes:
    """Unpack one entry, and stop where it grows beyond the limit, whatever the archive's directory says of it."""
    try:
        with archive.open(entry) as file:
            data = file.read(limit + 1)
    except ZIP_ERRORS as error:
        said = say("{place} ({error}); zip the modules again", place=place, error=error)
        raise SubmissionError(said) from None
    if len(data) > limit:
        raise UnreadableError(say("is larger than {size} MiB", size=limit // MIB))
    return data

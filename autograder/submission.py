"""What a learner handed in: found in a folder or a zip archive, and read without trusting either."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from autograder.report import alphabetical

MIB = 1 << 20
LARGEST_MODULE = MIB
LARGEST_ARCHIVE = 16 * MIB
LARGEST_UNPACKED = 64 * MIB
# Deflate reaches 1,000; Python sources stay below 20.
HIGHEST_RATIO = 100
MOST_FILES = 5_000
DEEPEST_FOLDER = 32
MOST_EXTRA_NAMED = 20

PASSED_OVER = frozenset(["__MACOSX", "__pycache__", "site-packages", "node_modules"])
# All that `zipfile` lets escape on a damaged archive.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError)
CENTRAL_ENTRY = b"PK\x01\x02"
ENCRYPTED = 0x1 | 0x40 | 0x2000
# A FIFO must not be waited for, a link not followed; a platform without the flag has no such thing to open.
OPEN_PLAINLY = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)


class SubmissionError(Exception):
    """Nothing to grade, or something that must not be read; one line naming the path and what is expected."""


class _UnreadableError(Exception):
    """Why one file cannot be taken; the sentence goes on after the file's name."""


@dataclass(frozen=True)
class Submission:
    """The modules a learner handed in, by exercise, as bytes.

    `problems` says of an exercise why its module could not be taken; `extra` names files that are no module.
    """

    id: str
    modules: dict[str, bytes]
    extra: tuple[str, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """A submission that could not be read, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class Found:
    """The submissions under a path, in the order of `alphabetical`, and the names of what lies beside them."""

    submissions: list[Submission | Refused]
    ignored: list[str]


@dataclass(frozen=True)
class _File:
    """A file of a submission: its name relative to it, and how to read it."""

    name: str
    read: Callable[[], bytes]

    @property
    def last_name(self) -> str:
        return PurePosixPath(self.name).name


def read_submission(path: Path, exercises: Sequence[str], id: str | None = None) -> Submission:
    """Read one submission, a folder or a zip archive, whose modules may lie in any subfolder.

    SubmissionError where it cannot be read or its archive is one that must not be opened. A single file that cannot
    be taken (a link, too large, there twice) is a problem of its exercise only.
    """
    files = _files_in_archive(path) if _is_archive(path) else _files_in_folder(path)
    return _sort_out(id or _id_of(path), files, exercises)


def find_submissions(path: Path, exercises: Sequence[str], leave_out: Sequence[Path] = ()) -> Found:
    """Find what there is to grade: `path` is one submission, or a folder with one folder or .zip for each.

    `leave_out` names folders that are none, such as the one that reports go to. SubmissionError when there is nothing.
    """
    path = path.resolve() if path.is_symlink() else path
    if _is_archive(path) or (path.is_dir() and has_module(path, exercises)):
        return Found([_read_or_refuse(path, exercises)], [])
    outputs = {folder.resolve() for folder in leave_out}
    by_id: dict[str, list[Path]] = defaultdict(list)
    ignored = []
    for entry in _entries_of_class(path, exercises):
        if _is_submission(entry) and entry.resolve() not in outputs:
            by_id[_id_of(entry).casefold()].append(entry)
        else:
            ignored.append(_readable(entry.name))
    if not by_id:
        raise SubmissionError(f"{path}: no submission in it; {_expected(exercises)}")
    found = [submission for entries in by_id.values() for submission in _one_of_each(entries, exercises)]
    return Found(sorted(found, key=lambda submission: alphabetical(submission.id)), ignored)


def has_module(folder: Path, exercises: Sequence[str]) -> bool:
    """Say whether a folder has the module of an exercise at its top level."""
    return any(os.path.lexists(folder / f"{exercise}.py") for exercise in exercises)


def _entries_of_class(path: Path, exercises: Sequence[str]) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except FileNotFoundError:
        raise SubmissionError(f"{path}: there is no such folder; {_expected(exercises)}") from None
    except NotADirectoryError:
        raise SubmissionError(f"{path}: neither a folder nor a .zip; {_expected(exercises)}") from None
    except OSError as error:
        raise SubmissionError(f"{path}: cannot be read: {error.strerror}") from None


def _expected(exercises: Sequence[str]) -> str:
    modules = ", ".join(f"{exercise}.py" for exercise in exercises)
    return f"expected one folder or .zip for each submission, or a single submission ({modules})"


def _is_submission(entry: Path) -> bool:
    """Say whether an entry of the class folder stands for a learner; a link to a folder does, and is refused later."""
    return not _is_passed_over(entry.name) and (entry.is_dir() or _is_archive(entry))


def _is_archive(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and os.path.lexists(path) and not path.is_dir()


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in PASSED_OVER


def _id_of(path: Path) -> str:
    """Give the id: the name of the folder or archive, in one Unicode form so that every platform reads the same id."""
    name = path.resolve().name if path.name in ("", "..") else path.name
    stem = Path(name).stem if _is_archive(path) else name
    return unicodedata.normalize("NFC", _readable(stem)) or "submission"


def _readable(name: str) -> str:
    """Give a file name as text that can be stored anywhere, with bytes that are not UTF-8 as escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _one_of_each(entries: list[Path], exercises: Sequence[str]) -> Iterator[Submission | Refused]:
    """Read the only entry with an id, or refuse all: it is not for us to say which of them counts."""
    if len(entries) == 1:
        yield _read_or_refuse(entries[0], exercises)
        return
    names = " and ".join(_readable(entry.name) + "/" * entry.is_dir() for entry in entries)
    for id in sorted({_id_of(entry) for entry in entries}):
        yield Refused(id, f"{names} stand for the same submission; keep one of them")


def _read_or_refuse(path: Path, exercises: Sequence[str]) -> Submission | Refused:
    if path.is_symlink():
        return Refused(_id_of(path), f"{_readable(path.name)} is a link, and links are not followed")
    try:
        return read_submission(path, exercises)
    except SubmissionError as error:
        return Refused(_id_of(path), str(error))


def _sort_out(id: str, files: list[_File], exercises: Sequence[str]) -> Submission:
    """Take the one file named for each exercise; say what stands in the way where there is not exactly one."""
    modules: dict[str, bytes] = {}
    problems: dict[str, str] = {}
    for exercise in exercises:
        candidates = [file for file in files if file.last_name == f"{exercise}.py"]
        try:
            if candidates:
                modules[exercise] = _only(candidates).read()
            elif near := [file.name for file in files if _is_near(file.last_name, exercise)]:
                problems[exercise] = f"not handed in; {near[0]} would have to be named {exercise}.py"
        except _UnreadableError as error:
            problems[exercise] = str(error)
    taken = {f"{exercise}.py" for exercise in exercises}
    return Submission(id, modules, _named([file.name for file in files if file.last_name not in taken]), problems)


def _only(candidates: list[_File]) -> _File:
    if len(candidates) > 1:
        names = " and ".join(file.name for file in candidates[:3])
        raise _UnreadableError(f"found more than once: {names}; keep one of them")
    return candidates[0]


def _is_near(name: str, exercise: str) -> bool:
    """Recognise what browsers and editors make of `softmax.py`: Softmax.py, softmax (1).py, softmax.py.txt."""
    pattern = rf"{re.escape(exercise)}(\.py)?[ _-]*(\(?\d+\)?|copy)?(\.py|\.txt)*"
    return re.fullmatch(pattern, name, re.IGNORECASE) is not None


def _named(names: list[str]) -> tuple[str, ...]:
    """Give the names of extra files, and of very many only the first with the number of the others."""
    names = sorted(names)
    if len(names) <= MOST_EXTRA_NAMED:
        return tuple(names)
    return (*names[:MOST_EXTRA_NAMED], f"and {len(names) - MOST_EXTRA_NAMED} more")


def _files_in_folder(folder: Path) -> list[_File]:
    """List the files of a folder and its subfolders; links are named but never followed."""
    entries = list(islice(_walk(folder, "", 0), MOST_FILES + 1))
    if len(entries) > MOST_FILES:
        raise SubmissionError(f"{_readable(folder.name)} holds more than {MOST_FILES} files; hand in the modules alone")
    # A folder named like a module is kept, so that reading it says what is wrong.
    paths = {name: Path(entry.path) for name, entry in entries if not _is_folder(entry) or name.endswith(".py")}
    return [_File(name, partial(_read_module, path, name)) for name, path in sorted(paths.items())]


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield the name relative to the submission and the entry, of everything that is not passed over."""
    if depth > DEEPEST_FOLDER:
        raise SubmissionError(f"{prefix} lies more than {DEEPEST_FOLDER} folders deep; hand in the modules alone")
    try:
        with os.scandir(folder) as entries:
            wanted = [entry for entry in entries if not _is_passed_over(entry.name)]
    except OSError as error:
        raise SubmissionError(f"{prefix or _readable(folder.name)} cannot be read: {error.strerror}") from None
    for entry in wanted:
        name = prefix + _readable(entry.name)
        yield name, entry
        if _is_folder(entry):
            yield from _walk(Path(entry.path), f"{name}/", depth + 1)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not _is_junction(entry)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Say whether this is Windows' other kind of link, where Python can tell (3.12 and later)."""
    is_junction = getattr(entry, "is_junction", None)
    return is_junction is not None and is_junction()


def _read_module(path: Path, name: str) -> bytes:
    try:
        return _read_file(path, LARGEST_MODULE)
    except _UnreadableError as error:
        raise _UnreadableError(f"{name} {error}") from None


def _read_file(path: Path, limit: int) -> bytes:
    """Read an ordinary file of at most `limit` bytes; a link, a pipe or a device is told apart without opening it."""
    try:
        _require_ordinary(path.lstat().st_mode)
        with open(os.open(path, OPEN_PLAINLY), "rb") as file:
            _require_ordinary(os.fstat(file.fileno()).st_mode)
            data = file.read(limit + 1)
    except OSError as error:
        raise _UnreadableError(f"cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise _UnreadableError(f"is larger than {limit // MIB} MiB")
    return data


def _require_ordinary(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise _UnreadableError("is a link, and links are not followed")
    if not stat.S_ISREG(mode):
        raise _UnreadableError("is not an ordinary file")


def _files_in_archive(path: Path) -> list[_File]:
    """List the files of a zip archive, held in memory; SubmissionError where any part of it is not to be trusted."""
    name = _readable(path.name)
    try:
        data = _read_file(path, LARGEST_ARCHIVE)
        # Counted before the directory is parsed, since parsing is what a million entries make expensive.
        if data.count(CENTRAL_ENTRY) > MOST_FILES:
            raise _UnreadableError(f"holds more than {MOST_FILES} files")
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
        _require_harmless(entries, len(data))
    except _UnreadableError as error:
        raise SubmissionError(f"{name} {error}; zip the modules alone") from None
    except UnicodeDecodeError:
        raise SubmissionError(f"{name} holds a file name that is not UTF-8; zip the modules alone") from None
    except ZIP_ERRORS as error:
        raise SubmissionError(f"{name} is not a whole zip archive ({error}); zip the modules again") from None
    wanted = [entry for entry in entries if _is_wanted(_name_in(entry))]
    return [_File(_name_in(entry), partial(_unpacked, archive, entry, name)) for entry in wanted]


def _require_harmless(entries: list[zipfile.ZipInfo], n_packed: int) -> None:
    """Refuse the archive for any entry that no learner's archiver makes, and for what it would grow to."""
    for entry in entries:
        if objection := _objection(entry):
            raise _UnreadableError(f"holds {objection}")
    n_unpacked = sum(entry.file_size for entry in entries)
    if n_unpacked > LARGEST_UNPACKED:
        raise _UnreadableError(f"would unpack to more than {LARGEST_UNPACKED // MIB} MiB")
    if n_unpacked > max(HIGHEST_RATIO * n_packed, LARGEST_MODULE):
        raise _UnreadableError(f"would unpack to more than {HIGHEST_RATIO} times its size")
    names = [_name_in(entry) for entry in entries]
    nested = [name for name in names if name.casefold().endswith(".zip") and _is_wanted(name)]
    if nested and not any(name.endswith(".py") for name in names):
        raise _UnreadableError(f"holds another archive ({nested[0]}), which is not opened")


def _objection(entry: zipfile.ZipInfo) -> str:
    """Say what is wrong with an entry, or nothing; the raw name is judged, before a platform has mended it."""
    raw = entry.orig_filename
    if ".." in re.split(r"[/\\]", raw):
        return f"a name with '..' ({raw!r})"
    if raw.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", raw):
        return f"an absolute path ({raw!r})"
    if "\\" in raw or "\0" in raw:
        return f"a name with a backslash or a null ({raw!r})"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return f"a link or special file ({raw!r})"
    if entry.flag_bits & ENCRYPTED:
        return f"an encrypted file ({raw!r})"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"a file packed by another method than deflate ({raw!r})"
    return ""


def _name_in(entry: zipfile.ZipInfo) -> str:
    """Give the entry's name; archivers that write UTF-8 without saying so are read as they meant it."""
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _is_wanted(name: str) -> bool:
    return not name.endswith("/") and not any(map(_is_passed_over, PurePosixPath(name).parts))


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, archive_name: str) -> bytes:
    """Unpack one module, and stop where it grows beyond the limit, whatever the archive's directory says of it."""
    try:
        with archive.open(entry) as file:
            data = file.read(LARGEST_MODULE + 1)
    except ZIP_ERRORS as error:
        place = f"{archive_name} is broken at {_name_in(entry)}"
        raise SubmissionError(f"{place} ({error}); zip the modules again") from None
    if len(data) > LARGEST_MODULE:
        raise _UnreadableError(f"{_name_in(entry)} is larger than {LARGEST_MODULE // MIB} MiB")
    return data

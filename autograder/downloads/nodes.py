"""Folders and files, on the disk or in an archive, as every layout sees them."""

from __future__ import annotations

import enum
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

from autograder.downloads.model import SubmissionError, UnreadableError
from autograder.language import Phrase, said_by, say

MIB = 1 << 20
LARGEST_MODULE = MIB
# Outputs included: nothing of them is kept.
LARGEST_NOTEBOOK = 64 * MIB
LARGEST_ARCHIVE = 16 * MIB
LARGEST_UNPACKED = 64 * MIB
# Deflate reaches 1,000; Python sources stay below 20.
HIGHEST_RATIO = 100
MOST_FILES = 5_000
DEEPEST_FOLDER = 32

NOTEBOOK = ".ipynb"
PASSED_OVER = frozenset(["__MACOSX", "__pycache__", "site-packages", "node_modules"])


class Kind(enum.Enum):
    """What a name stands for, told without following links."""

    FOLDER = enum.auto()
    FILE = enum.auto()
    LINK = enum.auto()
    OTHER = enum.auto()


class Node(ABC):
    """A name in a folder or an archive.

    `objection` says why what lies under it must not be read at all ("a link", "a name with '..'"), `size` and
    `packed` are bytes where an archive tells them beforehand.
    """

    name: str
    kind: Kind
    objection: Phrase | str = ""
    size: int = 0
    packed: int | None = None

    @property
    @abstractmethod
    def modified(self) -> datetime | None:
        """When it was last written, or None where nothing tells."""

    @abstractmethod
    def children(self) -> Sequence[Node]:
        """What a folder holds, sorted by name. SubmissionError where it cannot be listed."""

    @abstractmethod
    def read(self, limit: int) -> bytes:
        """Read a file of at most `limit` bytes. UnreadableError where it is larger, or no ordinary file."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder itself, not a link to one."""
        return self.kind is Kind.FOLDER

    @property
    def is_archive(self) -> bool:
        """Whether its name says that it is a zip archive."""
        return not self.is_folder and self.name.casefold().endswith(".zip")

    @property
    def stands_for_folder(self) -> bool:
        """Whether it is a folder or a link that leads to one."""
        return self.is_folder

    def listed(self) -> Sequence[Node]:
        """Give the children, and none where they cannot be listed: reading the submission will say so."""
        try:
            return self.children() if self.is_folder else ()
        except SubmissionError:
            return ()

    def visible(self) -> list[Node]:
        """Give what is in it and is not passed over."""
        return [child for child in self.listed() if not is_passed_over(child.name)]

    def folders(self) -> list[Node]:
        """Give the folders in it that are not passed over."""
        return [child for child in self.visible() if child.is_folder]

    def notebooks(self) -> list[Node]:
        """Give the notebooks in it that are not passed over."""
        return [child for child in self.visible() if not child.is_folder and child.name.endswith(NOTEBOOK)]

    def child(self, name: str) -> Node | None:
        """Give what has this name in it, or None."""
        return next((child for child in self.listed() if child.name == name), None)


@dataclass(frozen=True)
class File:
    """A file of a submission: its name relative to it, how to read it, and when it was written."""

    name: str
    read: Callable[[], bytes]
    modified: datetime | None = None
    node: Node | None = None

    @property
    def last_name(self) -> str:
        """The name without its folders."""
        return PurePosixPath(self.name).name


def is_passed_over(name: str) -> bool:
    """Say whether a name is hidden, or one that programs leave behind."""
    return name.startswith(".") or name in PASSED_OVER


def is_module_or_notebook(name: str) -> bool:
    """Say whether a name is one that an exercise can be handed in under."""
    return name.endswith((".py", NOTEBOOK))


def names_of(exercises: Iterable[str]) -> set[str]:
    """Give the names of the files that are known at once for exercises."""
    return {f"{exercise}{ending}" for exercise in exercises for ending in (".py", NOTEBOOK)}


def limit_of(name: str) -> int:
    """Give how many bytes a file of this name may have."""
    return LARGEST_NOTEBOOK if name.endswith(NOTEBOOK) else LARGEST_MODULE


def readable(name: str) -> str:
    """Give a file name as text that can be stored anywhere, with bytes that are not UTF-8 as escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def file_of(node: Node, name: str) -> File:
    """Give a node as a file of a submission under this name."""
    return File(name, partial(_read_module, node, name), node.modified, node)


def files_in(top: Node, prefix: str = "") -> list[File]:
    """List the files under a folder, links named but never followed.

    SubmissionError where there are too many, they lie too deep, or an entry of an archive must not be there.
    """
    found = list(islice(_walk(top, prefix, 0), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise SubmissionError(
            say("{name} holds more than {count} files; hand in the modules alone", name=top.name, count=MOST_FILES)
        )
    require_harmless([top, *(node for _, node in found)], top.name)
    # A folder named like a file that is read is kept, so that reading it says what is wrong.
    wanted = [(name, node) for name, node in found if not node.is_folder or is_module_or_notebook(name)]
    return [file_of(node, name) for name, node in sorted(wanted, key=lambda pair: pair[0])]


def require_harmless(nodes: Sequence[Node], place: str) -> None:
    """Refuse what no learner's archiver makes, and what would grow too much. SubmissionError says which."""
    for node in nodes:
        if node.objection:
            raise SubmissionError(holds(place, node.objection))
    packed = [node for node in nodes if node.packed is not None]
    sizes = [(node.name, node.size) for node in packed]
    if growth := too_much(sizes, sum(node.packed or 0 for node in packed)):
        raise SubmissionError(say("{name} {trouble}; hand in the modules alone", name=place, trouble=growth))


def holds(place: str, objection: Phrase | str) -> Phrase:
    """Say what a submission holds that it must not."""
    return say("{name} holds {objection}; hand in the modules alone", name=place, objection=objection)


def too_much(sizes: Sequence[tuple[str, int]], n_packed: int) -> Phrase | None:
    """Say what an archive would grow to where that is more than modules ever need, or nothing.

    `sizes` are names and bytes of what is in it. What a notebook has printed over and over packs as well as any bomb.
    """
    if sum(size for _, size in sizes) > LARGEST_UNPACKED:
        return say("would unpack to more than {size} MiB", size=LARGEST_UNPACKED // MIB)
    if sum(size for name, size in sizes if not name.endswith(NOTEBOOK)) > max(HIGHEST_RATIO * n_packed, LARGEST_MODULE):
        return say("would unpack to more than {ratio} times its size", ratio=HIGHEST_RATIO)
    return None


def _walk(folder: Node, prefix: str, depth: int) -> Iterator[tuple[str, Node]]:
    """Yield the name relative to the submission and the node, of everything that is not passed over."""
    if depth > DEEPEST_FOLDER:
        raise SubmissionError(
            say(
                "{folder} lies more than {count} folders deep; hand in the modules alone",
                folder=prefix,
                count=DEEPEST_FOLDER,
            )
        )
    for child in folder.children():
        if is_passed_over(child.name):
            continue
        name = prefix + child.name
        yield name, child
        if child.is_folder:
            yield from _walk(child, f"{name}/", depth + 1)


def _read_module(node: Node, name: str) -> bytes:
    try:
        return node.read(limit_of(name))
    except UnreadableError as error:
        raise UnreadableError(say("{name} {trouble}", name=name, trouble=said_by(error))) from None

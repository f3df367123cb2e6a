"""What learners handed in: found in a folder, an archive or the download of a platform, and read without trust.

This is the door; how folders, archives and layouts are read is in `autograder.downloads`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from autograder.downloads.archives import archive_on_disk, class_archive
from autograder.downloads.disk import OnDisk
from autograder.downloads.layouts import FOLDERS, SINGLE, Grouped, Layout, named, recognised, top_of
from autograder.downloads.layouts.folders import id_of
from autograder.downloads.model import Found, Refused, Submission, SubmissionError
from autograder.downloads.modules import HandIn, read, sort_out
from autograder.downloads.nodes import Node, files_in
from autograder.downloads.times import are_of_copying
from autograder.report import alphabetical

__all__ = ["Found", "Refused", "Submission", "SubmissionError", "find_submissions", "has_module", "read_submission"]

COPIED = "not known, since all files are of one moment, when they were downloaded or copied"


def read_submission(path: Path, exercises: Sequence[str], id: str | None = None) -> Submission:
    """Read one submission, a folder or a zip archive, whose modules may lie in any subfolder.

    SubmissionError where it cannot be read or its archive is one that must not be opened. A single file that cannot
    be taken (a link, too large, there twice) is a problem of its exercise only.
    """
    node = OnDisk(_with_a_name(path))
    if _is_archive(path):
        # Its own time counts: those inside are of the learner's own clock.
        files = [replace(file, modified=node.modified) for file in archive_on_disk(path)]
    else:
        files = files_in(node)
    return sort_out(HandIn(id or id_of(node), node.name, ()), files, exercises)


def find_submissions(path: Path, exercises: Sequence[str], leave_out: Sequence[Path] = (), layout: str = "") -> Found:
    """Find what there is to grade: `path` is one submission or those of a class, in a folder or a zip archive.

    The layout is recognised unless `layout` names it. It decides what the ids are, so whoever grades learners' archives
    one by one names "single". `leave_out` names folders that are none, such as the one that reports go to.
    SubmissionError when there is nothing, or not what `layout` promises.
    """
    path = path.resolve() if path.is_symlink() else path
    wanted = named(layout) if layout else None
    if _is_archive(path):
        return _found_in_archive(path, exercises, wanted)
    _require_folder(path, exercises)
    root = _ClassFolder(_with_a_name(path), frozenset(folder.resolve() for folder in leave_out))
    found = _found_in(root, path, exercises, wanted, packed=False)
    return replace(found, ignored=sorted([*found.ignored, *root.left_out()]))


def has_module(folder: Path, exercises: Sequence[str]) -> bool:
    """Say whether a folder has the module of an exercise at its top level."""
    return any(os.path.lexists(folder / f"{exercise}.py") for exercise in exercises)


class _ClassFolder(OnDisk):
    """The folder of a class, without the folders in it that are to be left out."""

    def __init__(self, path: Path, outputs: frozenset[Path]) -> None:
        super().__init__(path)
        self._outputs = outputs

    def children(self) -> Sequence[Node]:
        return [child for child in super().children() if not self._is_output(child)]

    def left_out(self) -> list[str]:
        return [child.name for child in super().children() if self._is_output(child)]

    def _is_output(self, child: Node) -> bool:
        return bool(self._outputs) and isinstance(child, OnDisk) and child.path.resolve() in self._outputs


def _found_in_archive(path: Path, exercises: Sequence[str], wanted: tuple[Layout, str] | None) -> Found:
    """Read the archive of a class, or that of one learner, for which the limits are stricter."""
    with ExitStack() as stack:
        try:
            root = stack.enter_context(class_archive(path))
            layout = wanted[0] if wanted else recognised(root, exercises, packed=True)[0]
        except SubmissionError:
            if wanted and wanted[0] is not SINGLE:
                raise
            layout = SINGLE
        if layout is not SINGLE:
            return _found_in(root, path, exercises, wanted, packed=True)
    try:
        submission: Submission | Refused = read_submission(path, exercises)
    except SubmissionError as error:
        submission = Refused.by(error, id_of(OnDisk(path)))
    return Found([submission], [], SINGLE.name, _said(SINGLE, Grouped(), copied=False))


def _found_in(
    root: Node, path: Path, exercises: Sequence[str], wanted: tuple[Layout, str] | None, *, packed: bool
) -> Found:
    if wanted:
        layout, choice = wanted
        top = top_of(layout, root, exercises, packed=packed)
    else:
        (layout, top), choice = recognised(root, exercises, packed=packed), ""
    for node in (root, top):
        if node.objection:
            raise SubmissionError(f"{path}: it holds {node.objection}; download or zip it again")
    try:
        grouped = layout.group(top, exercises, choice)
    except SubmissionError as error:
        raise SubmissionError(f"{path}: {error}") from None
    if not grouped.hand_ins:
        expected = _expected(exercises) if layout is FOLDERS else f"expected {layout.shape}"
        raise SubmissionError(f"{path}: no submission in it; {expected}")
    submissions, copied = _read_all(grouped.hand_ins, exercises)
    ordered = sorted(submissions, key=lambda submission: alphabetical(submission.id))
    return Found(ordered, grouped.ignored, layout.name, _said(layout, grouped, copied=copied))


def _read_all(hand_ins: Sequence[HandIn], exercises: Sequence[str]) -> tuple[list[Submission | Refused], bool]:
    """Read everything; say whether the times of the files were only those of a copy, and then leave them out."""
    by_id: dict[str, list[HandIn]] = defaultdict(list)
    for handed in hand_ins:
        by_id[handed.id.casefold()].append(handed)
    found = [pair for same in by_id.values() for pair in _one_of_each(same, exercises)]
    of_files = [_time_of(read) for handed, read in found if handed.handed_in is None]
    if not (copied := are_of_copying(of_files)):
        return [read for _, read in found], False
    return [_without_time(read) if handed.handed_in is None else read for handed, read in found], copied


def _one_of_each(same: list[HandIn], exercises: Sequence[str]) -> Iterator[tuple[HandIn, Submission | Refused]]:
    """Read the only one with an id, or refuse all: it is not for us to say which of them counts."""
    if len(same) == 1:
        yield same[0], _read_or_refuse(same[0], exercises)
        return
    names = " and ".join(handed.place for handed in same)
    for id in sorted({handed.id for handed in same}):
        yield same[0], Refused(id, f"{names} stand for the same submission; keep one of them")


def _read_or_refuse(handed: HandIn, exercises: Sequence[str]) -> Submission | Refused:
    try:
        return read(handed, exercises)
    except SubmissionError as error:
        return Refused.by(error, handed.id, handed.learner_name)


def _time_of(found: Submission | Refused) -> datetime | None:
    return found.handed_in if isinstance(found, Submission) else None


def _without_time(found: Submission | Refused) -> Submission | Refused:
    return replace(found, handed_in=None) if isinstance(found, Submission) else found


def _said(layout: Layout, grouped: Grouped, *, copied: bool) -> str:
    """Tell the instructor what was taken for what, and where hand-in times come from."""
    more = f" ({grouped.said})" if grouped.said else ""
    return f"Read as {layout.title}{more}; hand-in times are {COPIED if copied else layout.times}."


def _require_folder(path: Path, exercises: Sequence[str]) -> None:
    try:
        os.scandir(path).close()
    except FileNotFoundError:
        raise SubmissionError(f"{path}: there is no such folder; {_expected(exercises)}") from None
    except NotADirectoryError:
        raise SubmissionError(f"{path}: neither a folder nor a .zip; {_expected(exercises)}") from None
    except OSError as error:
        raise SubmissionError(f"{path}: cannot be read: {error.strerror}") from None


def _expected(exercises: Sequence[str]) -> str:
    modules = ", ".join(f"{exercise}.py" for exercise in exercises)
    return f"expected one folder or .zip for each submission, or a single submission ({modules})"


def _is_archive(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and os.path.lexists(path) and not path.is_dir()


def _with_a_name(path: Path) -> Path:
    """Give the path itself, or where it is "." or ".." the folder it stands for."""
    return path.resolve() if path.name in ("", "..") else path

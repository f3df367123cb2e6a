"""From the files of a learner to the modules that are graded: one file for each exercise, or a sentence why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from autograder.downloads.archives import archive_in
from autograder.downloads.model import Submission, SubmissionError, UnreadableError
from autograder.downloads.nodes import File, Node, file_of, files_in, is_module_or_notebook, require_harmless
from autograder.downloads.notebooks import Notebooks
from autograder.language import Phrase, said_by, say

MOST_EXTRA_NAMED = 20


@dataclass(frozen=True)
class Part:
    """A folder, an archive or a file of a submission, and the name that it has there ("" for the whole of it)."""

    node: Node
    name: str = ""


@dataclass(frozen=True)
class HandIn:
    """What a layout found for one learner, before anything of it is read.

    `place` names it in messages. `handed_in` is what the download itself says; where it says nothing and `file_times`
    holds, the newest file tells. `refused` is a reason not to read it.
    """

    id: str
    place: str
    parts: tuple[Part, ...]
    learner_name: str = ""
    handed_in: datetime | None = None
    file_times: bool = True
    attempt: int | None = None
    late: bool | None = None
    notes: tuple[str, ...] = ()
    refused: Phrase | str = ""


def read(handed: HandIn, exercises: Sequence[str]) -> Submission:
    """Read what a learner handed in. SubmissionError where it must not be read."""
    if handed.refused:
        raise SubmissionError(handed.refused)
    files, notes = _files_of(handed)
    return sort_out(handed, files, exercises, notes)


def sort_out(handed: HandIn, files: Sequence[File], exercises: Sequence[str], notes: Sequence[str] = ()) -> Submission:
    """Take the one file named for each exercise; say what stands in the way where there is not exactly one.

    A module comes before a notebook, and a notebook before a file that is only named almost like a module.
    """
    modules: dict[str, bytes] = {}
    problems: dict[str, Phrase | str] = {}
    notebooks = Notebooks(files, exercises)
    taken = {f"{exercise}.py" for exercise in exercises}
    said = [*notes]
    for exercise in exercises:
        candidates = [file for file in files if file.last_name == f"{exercise}.py"]
        try:
            if candidates:
                modules[exercise] = _only(candidates).read()
                said += [f"{name} was left aside, since {exercise}.py is there" for name in notebooks.named(exercise)]
            elif notebook := notebooks.take(exercise):
                modules[exercise] = notebook.module
                said += notebook.notes
                taken.add(PurePosixPath(notebook.name).name)
            elif near := [file.name for file in files if _is_near(file.last_name, exercise)]:
                problems[exercise] = _misnamed(near[0], f"{exercise}.py")
        except UnreadableError as error:
            problems[exercise] = said_by(error)
    return Submission(
        id=handed.id,
        modules=modules,
        extra=_named([file.name for file in files if file.last_name not in taken]),
        problems=problems,
        handed_in=handed.handed_in or _newest(handed, files, taken),
        attempt=handed.attempt,
        late=handed.late,
        learner_name=handed.learner_name,
        notes=(*handed.notes, *said),
    )


def _files_of(handed: HandIn) -> tuple[list[File], list[str]]:
    """List the files of all parts; a lone archive that was handed in instead of modules is looked into."""
    files = [file for part in handed.parts for file in _files_of_part(part)]
    archives = [file for file in files if file.node is not None and file.node.is_archive]
    if not archives or any(is_module_or_notebook(file.name) for file in files):
        return files, []
    if len(archives) > 1:
        names = " and ".join(file.name for file in archives[:3])
        return files, [f"no module, but several archives ({names}), none of which was opened"]
    return [*_unzipped(archives[0]), *(file for file in files if file is not archives[0])], []


def _unzipped(archive: File) -> list[File]:
    """List what an archive holds, with the time of the archive: those inside are of the learner's own clock."""
    assert archive.node is not None
    return [replace(file, modified=archive.modified) for file in archive_in(archive.node)]


def _files_of_part(part: Part) -> list[File]:
    if part.node.is_folder:
        return files_in(part.node, f"{part.name}/" if part.name else "")
    if part.node.stands_for_folder and not part.name:
        raise SubmissionError(say("{name} is a link, and links are not followed", name=part.node.name))
    require_harmless([part.node], part.node.name)
    return [file_of(part.node, part.name or part.node.name)]


def _newest(handed: HandIn, files: Sequence[File], taken: set[str]) -> datetime | None:
    """Give the time of the newest module, or of the newest file where there is no module."""
    if not handed.file_times:
        return None
    of_modules = [file.modified for file in files if file.last_name in taken]
    times = of_modules or [file.modified for file in files]
    return max((time for time in times if time is not None), default=None)


def _misnamed(file: str, wanted: str) -> Phrase:
    return say("not handed in; {file} would have to be named {wanted}", file=file, wanted=wanted)


def _only(candidates: Sequence[File]) -> File:
    if len(candidates) > 1:
        # As many as it takes to see what is meant.
        first, second, *third = (file.name for file in candidates[:3])
        names = say("{first} and {last}", first=first, last=second)
        names = say("{first} and {last}", first=names, last=third[0]) if third else names
        raise UnreadableError(say("found more than once: {names}; keep one of them", names=names))
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

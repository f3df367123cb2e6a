"""A folder that nbgrader works in: its configuration, and the source notebooks of the course."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from autograder.course import FILE_NAME, Course, own_course
from autograder.language import say
from autograder.notebooks import NotebookError
from autograder.notebooks.source import notebook_of
from autograder.report import ReportError, write_whole
from autograder.session import CheckFacts, Checks, with_checks

CONFIG = "nbgrader_config.py"
# What was written, so that what somebody changed since is told from it.
WRITTEN = ".attend-nbgrader.json"


def write_course_folder(folder: Path, course: Course, languages: Sequence[str], *, config: bool = True) -> list[Path]:
    """Write the configuration and a source notebook for each exercise into `folder`; give the files.

    Nothing is written unless everything can be. With `config` false, an nbgrader_config.py of the instructor's own
    stays as it is.

    Raises:
        NotebookError: a file there is not one that this wrote, or an exercise cannot be made into a notebook.
        SessionError: the suites cannot be collected.

    """
    folder = folder.absolute()
    files = {folder / CONFIG: config_text(course)} if config else {}
    described = _described(course)
    for exercise in course.exercises:
        path = folder / "source" / course.name / f"{exercise.name}.ipynb"
        files[path] = notebook_of(exercise, course, described[exercise.name], languages, _named(course))
    known = _known(folder)
    for path, text in files.items():
        _insist_on_own(path, text, known.get(path.relative_to(folder).as_posix(), ""))
    _write_all(folder, files, known)
    return list(files)


def config_text(course: Course) -> str:
    """Give an nbgrader_config.py that grades in the jail."""
    named = _named(course)
    return "\n".join(
        [
            "from pathlib import Path",
            "",
            "c = get_config()  # noqa: F821",
            f'c.CourseDirectory.course_id = "{course.name}"',
            "c.CourseDirectory.root = str(Path(__file__).parent)",
            "",
            "# `nbgrader autograde` has solution cells marked in the jail; without these two lines it runs a kernel.",
            "from autograder.nbgrader import grade_in_jail  # noqa: E402",
            "",
            f"grade_in_jail(c{f', course={named!r}' if named else ''})",
            "",
        ]
    )


def _named(course: Course) -> str:
    """Give the path of a course that the kit does not find by itself."""
    path = (course.root / FILE_NAME).resolve()
    return "" if path == own_course() else str(path)


def _described(course: Course) -> dict[str, list[CheckFacts]]:
    """Ask the suites for their checks."""
    described: dict[str, list[CheckFacts]] = {}

    def ask(checks: Checks) -> None:
        described.update({exercise.name: checks.described(exercise.name) for exercise in course.exercises})

    with_checks([course.suite_of(exercise) for exercise in course.exercises], ask)
    return described


def _known(folder: Path) -> dict[str, str]:
    try:
        known = json.loads((folder / WRITTEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in known.items()} if isinstance(known, dict) else {}


def _insist_on_own(path: Path, text: str, digest: str) -> None:
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotebookError(say("{path}: cannot be read: {why}", path=path, why=error.strerror)) from None
    if there == text.encode() or _digest(there) == digest:
        return
    if path.name == CONFIG:
        said = say("{path} is not as `attend nbgrader` wrote it; keep it with --no-config, or move it away", path=path)
        raise NotebookError(said)
    raise NotebookError(say("{path} is not as `attend nbgrader` wrote it; move it away, and run this again", path=path))


def _write_all(folder: Path, files: Mapping[Path, str], known: dict[str, str]) -> None:
    digests = {path.relative_to(folder).as_posix(): _digest(text.encode()) for path, text in files.items()}
    try:
        for path, text in files.items():
            write_whole(path, text.encode())
        write_whole(folder / WRITTEN, json.dumps(known | digests, indent=1).encode())
    except ReportError as error:
        raise NotebookError(*error.args) from None


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()

"""The archive that an instructor uploads to Gradescope. Solutions and hidden checks are in it: not for learners.

Facts, from "Autograder Specifications" of Gradescope's documentation: `setup.sh` and `run_autograder` lie at the root
of the zip, not in a folder of it, and the second is to be executable; the archive is unpacked into /autograder/source,
and run_autograder copied to /autograder.
"""

from __future__ import annotations

import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from autograder.course import FILE_NAME, Course
from autograder.exports.gradescope import without_a_mark
from autograder.grade import insist_on_hidden_files
from autograder.gradescope import ArchiveError
from autograder.gradescope.run import BROKEN, NO_MARK
from autograder.gradescope.settings import KIT, NAME, UNFINISHED, Settings
from autograder.release.wheel import KIT as REPOSITORY
from autograder.release.writing import packed
from autograder.report import indented, write_whole

PROGRAMS = ("setup.sh", "run_autograder")
PACKAGE = "autograder"
OF_THE_KIT = ("pyproject.toml", "constraints.txt", "LICENSE")
# What of the extra `grade` it takes to grade: no gradebook is kept there.
NEEDED = ("hypothesis", "landlock", "pyseccomp")
# PyTorch, the suites and the families are loaded once for each submission.
SECONDS_TO_START = 120
LEFT_OUT = re.compile(r"(^|/)(\.|__pycache__/)|\.pyc$|~$|\.kept-\d+$")


def write_archive(course: Course, dest: Path, *, trust: bool = False, with_bonus: bool = False) -> str:
    """Write the archive to a zip of that name, and give a line that says what it is.

    With `trust` it grades also where layers of the jail are missing, and says so.

    Raises:
        ArchiveError: when something else is there, or a file cannot be read.
        GradingError: when this is no instructor's copy of the course.

    """
    place = dest if dest.suffix == ".zip" else dest.with_name(f"{dest.name}.zip")
    _insist_on_a_free_place(place)
    insist_on_hidden_files(course)
    settings = Settings(
        course=KIT if course.root.resolve() == REPOSITORY else "course",
        trust=trust,
        with_bonus=with_bonus,
        seconds=course.limits.submission_seconds + SECONDS_TO_START,
    )
    files = archive_files(course, settings)
    write_whole(place.absolute(), packed(files, programs=PROGRAMS))
    held = f"{len(files)} files, the solutions and hidden checks among them"
    return f"{place}: {held}; upload it to Gradescope, and only there"


def archive_files(course: Course, settings: Settings) -> dict[str, bytes]:
    """Give the files of an archive: path -> content. Raises ArchiveError."""
    files = {name: _bytes_of(Path(__file__).parent / "programs" / name) for name in PROGRAMS}
    reader = course.reader(course.languages[0])
    files[UNFINISHED] = indented(without_a_mark([reader.read(NO_MARK), reader.read(BROKEN)]))
    files[NAME] = msgspec.json.format(msgspec.json.encode(settings), indent=2)
    files["requirements.txt"] = requirements(_bytes_of(REPOSITORY / "pyproject.toml").decode()).encode()
    kit = [REPOSITORY / name for name in OF_THE_KIT] + list(_below(REPOSITORY / PACKAGE))
    files |= {f"{KIT}/{path.relative_to(REPOSITORY).as_posix()}": _bytes_of(path) for path in kit}
    files |= {f"{settings.course}/{path}": content for path, content in _of_the_course(course)}
    return files


def requirements(project: str) -> str:
    """Give what grading needs as pip reads it, from the text of pyproject.toml."""
    table = tomllib.loads(project)["project"]
    extra = table["optional-dependencies"]["grade"]
    wanted = [*table["dependencies"], *(each for each in extra if re.split(r"[<>=!~; \[]", each)[0] in NEEDED)]
    return "".join(f"{line}\n" for line in wanted)


def _of_the_course(course: Course) -> Iterator[tuple[str, bytes]]:
    root = course.root.resolve()
    folders = [course.paths.exercises, course.paths.solutions, course.paths.suites, course.paths.faults]
    stand_ins = [course.root / path for exercise in course.exercises for path in exercise.stand_ins.values()]
    labs = course.paths.exercises / "labs"
    found = [path for folder in folders for path in _below(folder) if not path.is_relative_to(labs)]
    # A stand-in that is not the course's own comes with the kit.
    for path in [root / FILE_NAME, *found, *filter(Path.is_file, stand_ins)]:
        if not path.resolve().is_relative_to(root):
            raise ArchiveError(f"{path} lies outside {root}; an archive holds one folder, so move it below that")
        yield path.resolve().relative_to(root).as_posix(), _bytes_of(path)


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not LEFT_OUT.search(path.relative_to(folder).as_posix()):
            yield path


def _insist_on_a_free_place(place: Path) -> None:
    """Refuse to write over anything but a former archive."""
    if not place.exists() and not place.is_symlink():
        return
    try:
        with zipfile.ZipFile(place) as archive:
            there = set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        there = set()
    if not {*PROGRAMS, NAME} <= there:
        raise ArchiveError(f"{place} is there and no former archive for Gradescope; name another place")


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ArchiveError(
            f"{file}: cannot be read ({error.strerror}); an archive is made in the kit's repository"
        ) from None

"""The learner's bundle: all that somebody needs to work through the course, and nothing that gives it away.

README.md, README.zh.md   how to begin
course.toml               the course, for learners
*.whl, constraints.txt    the program `attend`, and the versions that it was tried with
exercises/                stubs, instructions, public tests, hints, contract, labs
stubs/                    the stubs once more, which `attend reset` puts back
.github/                  a workflow for GitHub, where it was asked for
bundle.json               what was written, by which a bundle that nobody worked in is known again
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from autograder.course import FILE_NAME, LANGUAGES, SPARE_STUBS, Course
from autograder.release.github import WORKFLOW, workflow_text
from autograder.release.hidden import hidden_passages
from autograder.release.leaks import LeakCheck
from autograder.release.learner_course import learner_course
from autograder.release.manifest import MANIFEST, manifest_of
from autograder.release.readme import readme_name, readme_text
from autograder.release.stubs import ReleaseError, made_stub
from autograder.release.wheel import KIT, built_wheel
from autograder.release.writing import insist_on_a_free_file, insist_on_a_free_folder, write_folder, write_zip

FOLDERS = ("instructions", "public_tests", "hints", "contract", "labs")
# The notebooks are made from these.
SOURCES_OF_LABS = "labs/sources/"
# Also what whoever tried a lab predicted: its answers would be open for everybody.
LEFT_BEHIND = re.compile(r"(^|/)(\.|__pycache__/)|\.pyc$|~$|\.kept-\d+$|(^|/)predictions\.[^/]*$")


def release_bundle(
    course: Course, dest: Path, language: str = "", *, zipped: bool = False, github: bool = False
) -> str:
    """Write the bundle to a folder, or with `zipped` to a zip of that name, and give a line that says what it is.

    With `github` a workflow is in it, by which GitHub checks what is pushed.

    Raises ReleaseError; nothing is written then.
    """
    languages = chosen_languages(language, course)
    place = dest.with_name(f"{dest.name}.zip") if zipped and dest.suffix != ".zip" else dest
    # Before the work, so that nobody waits for a refusal.
    (insist_on_a_free_file if zipped else insist_on_a_free_folder)(place)
    files = made_bundle(course, languages, github=github)
    if zipped:
        write_zip(files, place, top=course.name)
    else:
        write_folder(files, place)
    return f"{place}: {len(files)} files in {' and '.join(languages)}; none of them gives a solution or a check away"


def chosen_languages(wanted: str, course: Course) -> tuple[str, ...]:
    """Give the languages of a bundle: those of the course, or the one that `wanted` names. Raises ReleaseError."""
    languages = LANGUAGES if wanted == "both" else (wanted,) if wanted else course.languages
    missing = [language for language in languages if language not in course.languages]
    if missing:
        raise ReleaseError(f"--lang {wanted}: the course is in {' and '.join(course.languages)}; ask for one of these")
    return tuple(languages)


def made_bundle(course: Course, languages: Sequence[str], kit: Path = KIT, *, github: bool = False) -> dict[str, bytes]:
    """Give the files of a bundle: path -> content. Nothing hidden is in them.

    Raises ReleaseError, LeakError where a file would give something away, and CourseError.
    """
    stubs = {f"{exercise.name}.py": made_stub(exercise, course).encode() for exercise in course.exercises}
    files = {f"exercises/{path}": content for path, content in _given_files(course, languages)}
    files |= {f"{folder}/{name}": stub for folder in ("exercises", SPARE_STUBS) for name, stub in stubs.items()}
    description = learner_course(course, languages)
    files[FILE_NAME] = description.encode()
    wheel, content = built_wheel(kit)
    files[wheel] = content
    files |= _beside_the_wheel(kit)
    has_labs = any(path.startswith("exercises/labs/") for path in files)
    for language in languages:
        text = readme_text(language, tomllib.loads(description), wheel, has_labs=has_labs)
        files[readme_name(language)] = text.encode()
    if github:
        files[WORKFLOW] = workflow_text(languages[0]).encode()
    LeakCheck(hidden_passages(course)).insist(files)
    files[MANIFEST] = manifest_of(course.name, files)
    return files


def in_languages(paths: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Keep the paths that are in one of the languages, or in none, as code is.

    The language stands in the path: `softmax.zh.md`, `zh.po`, `en/softmax.ipynb`. What is called like a Chinese file
    but for that, `softmax.md`, is English.
    """
    return [path for path in paths if _language_of(path, paths) in ("", *languages)]


def _given_files(course: Course, languages: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    _insist_on_instructions(course, languages)
    root = course.paths.exercises
    found = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file())
    paths = [path.relative_to(root).as_posix() for path in found]
    given = [path for path in paths if not LEFT_BEHIND.search(path) and not path.startswith(SOURCES_OF_LABS)]
    for path in [*in_languages(given, languages), *(["pytest.ini"] if (root / "pytest.ini").is_file() else [])]:
        yield path, _bytes_of(root / path)


def _insist_on_instructions(course: Course, languages: Sequence[str]) -> None:
    for exercise in course.exercises:
        for language in languages:
            file = course.instructions_of(exercise, language)
            if not file.is_file():
                raise ReleaseError(f"{file} is not there: learners would not know what to do; write it")


def _language_of(path: str, paths: Sequence[str]) -> str:
    parts = [part for step in PurePosixPath(path).parts for part in step.split(".")]
    named = next((part for part in parts if part in LANGUAGES), "")
    stem, dot, ending = path.rpartition(".")
    return named or ("en" if any(f"{stem}.{other}{dot}{ending}" in paths for other in LANGUAGES) else "")


def _beside_the_wheel(kit: Path) -> Mapping[str, bytes]:
    """Give the licence, and the constraints of what the wheel itself depends on."""
    project = tomllib.loads(_bytes_of(kit / "pyproject.toml").decode())["project"]
    wanted = {re.split(r"[<>=!~; \[]", requirement)[0] for requirement in _wanted_by_learners(project)}
    pins = _bytes_of(kit / "constraints.txt").decode().splitlines()
    kept = [pin for pin in pins if pin.partition("==")[0] in wanted]
    return {"constraints.txt": "".join(f"{pin}\n" for pin in kept).encode(), "LICENSE": _bytes_of(kit / "LICENSE")}


def _wanted_by_learners(project: Mapping[str, object]) -> list[str]:
    extras = project.get("optional-dependencies", {})
    assert isinstance(extras, dict)
    return [*list(project["dependencies"]), *extras.get("lab", [])]  # type: ignore[call-overload]


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ReleaseError(f"{file}: cannot be read ({error.strerror}); make it readable") from None

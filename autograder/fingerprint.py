"""A fingerprint of everything that a mark depends on: the same fingerprint, the same mark."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

import msgspec

from autograder.course import FILE_NAME, Course
from autograder.submission import Submission

OWN_FOLDER = Path(__file__).parent
PACKAGES = ("attention-by-hand", "numpy", "torch", "pytest", "hypothesis")


class Fingerprint:
    """What all submissions of a course have in common, read once: the course, the grader, and their versions.

    `parts` are what it is made of, by name: a digest of the course's files and of the kit's own, a version of others.
    """

    def __init__(self, course: Course) -> None:
        self.parts = {"course": _digest_of_course(course), "kit": _digest_of_kit()}
        self.parts |= {name: _version_of(name) for name in PACKAGES}
        self.parts["python"] = platform.python_version()
        self._digest = hashlib.sha256()
        for name, part in self.parts.items():
            _feed(self._digest, name, part.encode())

    def of(self, submission: Submission) -> str:
        """Give the fingerprint of a submission's mark."""
        digest = self._digest.copy()
        for name, source in sorted(submission.modules.items()):
            _feed(digest, name, source)
        for name, problem in sorted(submission.problems.items()):
            _feed(digest, name, str(problem).encode("utf-8", "replace"))
        return f"sha256:{digest.hexdigest()}"


def _digest_of_course(course: Course) -> str:
    digest = hashlib.sha256()
    # Not the whole course: where it lies, what it is called, when it is due and how long it takes have no part.
    told: dict[str, object] = {"due": None, "difficulty": None, "minutes": None, "titles": {}}
    exercises = [msgspec.structs.replace(exercise, **told) for exercise in course.exercises]
    _feed(digest, FILE_NAME, msgspec.json.encode([course.limits, exercises]))
    # With what stands beside them, which they may import, or pytest may.
    for folder in (course.paths.suites, course.paths.solutions, course.paths.faults):
        for path in sorted(folder.glob("*.py")):
            _feed(digest, path.name, path.read_bytes())
    for exercise in course.exercises:
        for name, source in sorted(course.stand_in_sources(exercise).items()):
            _feed(digest, name, source)
    return digest.hexdigest()


def _digest_of_kit() -> str:
    digest = hashlib.sha256()
    for path in sorted(OWN_FOLDER.rglob("*.py")):
        _feed(digest, path.relative_to(OWN_FOLDER).as_posix(), path.read_bytes())
    return digest.hexdigest()


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _feed(digest: hashlib._Hash, name: str, data: bytes) -> None:
    # Lengths first, so that no two sets of files read the same.
    digest.update(f"{name} {len(data)}\n".encode("utf-8", "replace"))
    digest.update(data)

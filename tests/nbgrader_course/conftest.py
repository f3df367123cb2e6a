"""One course for nbgrader and one graded class, shared by all tests here: nbgrader's own commands are slow to start."""

import csv
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cli import run

from .course import write_course
from .learners import Released, hand_in, honest, hostile, unlucky

PLAIN_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "small"\n'


@dataclass
class NbgraderCourse:
    """A folder that nbgrader works in, and the course.toml that its notebooks were made from."""

    folder: Path
    course: Path
    log: str = ""

    @property
    def db(self) -> str:
        return f"sqlite:///{self.folder}/gradebook.db"

    def command(self, *arguments: str, **options) -> subprocess.CompletedProcess:
        """Run one of nbgrader's commands, with no settings but the folder's."""
        return subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, **options,
        )  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        home = str(self.folder / "home")
        own = {name: home for name in ("HOME", "USERPROFILE", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        # nbgrader starts `alembic` by its name.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return os.environ | own | {"PATH": path, "NO_COLOR": "1"}

    def marks(self) -> dict[str, dict[str, float]]:
        """Give what each learner earned for each exercise; what somebody gave on top is not in it."""
        with Gradebook(self.db, course_id="small") as gradebook:
            submissions = gradebook.assignment_submissions("small")
            return {each.student.id: {book.name: _earned(book) for book in each.notebooks} for each in submissions}

    def exported(self) -> dict[str, float]:
        done = self.command("export", "--to", "marks.csv")
        assert done.returncode == 0, done.stderr
        with (self.folder / "marks.csv").open(encoding="utf-8", newline="") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    def autograded(self, learner: str, exercise: str = "double"):
        return nbformat.read(self.folder / "autograded" / learner / "small" / f"{exercise}.ipynb", as_version=4)

    def copied(self, to: Path, *, config: str = "") -> "NbgraderCourse":
        """Give a copy as it was when notebooks were handed out, with another configuration where one is given."""
        shutil.copytree(self.folder, to, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "home"))
        if config:
            (to / "nbgrader_config.py").write_text(config)
        return NbgraderCourse(to, self.course)


def _earned(notebook) -> float:
    return sum(grade.auto_score or 0.0 for grade in notebook.grades)


def assigned_course(folder: Path) -> NbgraderCourse:
    made = NbgraderCourse(folder / "nbgrader", write_course(folder / "course"))
    assert run(["nbgrader", str(made.folder), "--course", str(made.course)]) == 0
    done = made.command("generate_assignment", "small")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="session")
def assigned(tmp_path_factory) -> NbgraderCourse:
    """Give the course with its notebooks handed out, and nothing handed in."""
    return assigned_course(tmp_path_factory.mktemp("assigned"))


@pytest.fixture(scope="session")
def released(assigned) -> Released:
    return Released(assigned.folder / "release" / "small")


@pytest.fixture(scope="session")
def graded(assigned, released, tmp_path_factory) -> NbgraderCourse:
    """Give the course after `nbgrader autograde` of the whole class, with the configuration that was generated."""
    graded = assigned.copied(tmp_path_factory.mktemp("graded") / "nbgrader")
    hand_in(graded.folder / "submitted", honest(released) | unlucky(released) | hostile(released))
    done = graded.command("autograde", "small")
    assert done.returncode == 0, done.stderr
    graded.log = done.stderr
    return graded


@pytest.fixture(scope="session")
def plain(assigned, released, tmp_path_factory) -> NbgraderCourse:
    """Give the course after `nbgrader autograde` without our configuration: a kernel runs every cell."""
    plain = assigned.copied(tmp_path_factory.mktemp("plain") / "nbgrader", config=PLAIN_CONFIG)
    works = honest(released) | hostile(released) | {name: unlucky(released)[name] for name in ("hana", "jun")}
    attacks = ("gradebook", "kit", "prints", "source", "transformer")
    chosen = ("amara", "bea", "chidi", "hana", "jun", *(f"mallory_{name}" for name in attacks))
    hand_in(plain.folder / "submitted", works, lambda learner: learner in chosen)
    done = plain.command("autograde", "small")
    plain.log = done.stderr
    return plain

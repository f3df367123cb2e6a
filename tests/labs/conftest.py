"""A learner's folder with the labs in it, and what a cell of a notebook shows."""

import shutil
from pathlib import Path

import pytest

from autograder.labs import Lab

REPOSITORY = Path(__file__).parents[2]


def learners_folder(folder: Path, modules: str = "exercises") -> Path:
    """Copy what a learner has; `modules` is where the modules come from, "exercises" for stubs or "solutions"."""
    folder.mkdir(parents=True)
    for module in (REPOSITORY / "exercises").glob("*.py"):
        shutil.copy(REPOSITORY / modules / module.name, folder)
    shutil.copy(REPOSITORY / "exercises" / "pytest.ini", folder)
    without_caches = shutil.ignore_patterns("__pycache__", "sources", "*predictions*")
    for name in ("public_tests", "labs"):
        shutil.copytree(REPOSITORY / "exercises" / name, folder / name, ignore=without_caches)
    return folder


@pytest.fixture
def shown(monkeypatch):
    """Collect the plain text of everything that is displayed."""
    texts = []
    monkeypatch.setattr("IPython.display.display", lambda it: texts.append(it._repr_mimebundle_()["text/plain"]))
    return texts


@pytest.fixture
def lab(tmp_path, shown):
    """Give a lab in an empty folder, after it has said what it says at the top."""
    opened = Lab("lab", folder=tmp_path)
    shown.clear()
    return opened

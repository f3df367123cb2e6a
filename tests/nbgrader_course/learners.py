"""A class whose notebooks are made from the release: honest work, accidents, and attempts to earn without it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

RIGHT = "def double(numbers, more=0.0):\n    return numbers * 2 + more"
TRIPLED = "def double(numbers, more=0.0):\n    return numbers * 3 + more"

Notebook = dict
Work = dict[str, "Notebook | bytes"]


def source_of(cell: dict) -> str:
    return "".join(cell["source"])


def cell_of(notebook: Notebook, grade_id: str) -> dict:
    return next(each for each in notebook["cells"] if grade_id_of(each) == grade_id)


def grade_id_of(cell: dict) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def plain(source: str) -> dict:
    """Give a code cell as a learner adds one."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source, "id": "mine"}


class Released:
    """The notebooks that learners get, to be filled in."""

    def __init__(self, folder: Path) -> None:
        self._notebooks = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.ipynb")}

    def blank(self, exercise: str) -> Notebook:
        return copy.deepcopy(self._notebooks[exercise])

    def filled(self, exercise: str, source: str = RIGHT, *, first: str = "", last: str = "") -> Notebook:
        """Give a notebook whose solution cell holds this, and cells of the learner's own at its ends."""
        notebook = self.blank(exercise)
        cell_of(notebook, f"solution_{exercise}")["source"] = source.replace("double", exercise)
        if first:
            notebook["cells"].insert(0, plain(first))
        if last:
            notebook["cells"].append(plain(last))
        return notebook

    def deleted(self) -> Notebook:
        """Give a notebook whose solution cell was typed anew in a plain one, and without two of its grade cells."""
        notebook = self.filled("double")
        gone = ("solution_double", "test_more_is_added", "test_large_numbers_are_doubled")
        notebook["cells"] = [each for each in notebook["cells"] if grade_id_of(each) not in gone]
        notebook["cells"].append(plain(RIGHT))
        return notebook

    def doubled(self) -> Notebook:
        """Give a notebook with the solution cell twice, and a cell that came from another notebook."""
        notebook = self.filled("double", TRIPLED)
        again = copy.deepcopy(cell_of(notebook, "solution_double")) | {"source": RIGHT, "id": "again"}
        foreign = copy.deepcopy(cell_of(self.blank("twice"), "solution_twice"))
        notebook["cells"] += [again, foreign]
        return notebook

    def ungraded(self) -> Notebook:
        """Give a notebook whose grade cells say that they are none, or are worth more."""
        notebook = self.filled("double", TRIPLED)
        cell_of(notebook, "test_more_is_added")["metadata"]["nbgrader"]["grade"] = False
        cell_of(notebook, "test_numbers_below_zero_are_doubled")["metadata"]["nbgrader"]["points"] = 100
        cell_of(notebook, "test_large_numbers_are_doubled")["metadata"]["nbgrader"]["solution"] = True
        return notebook


def honest(released: Released) -> dict[str, Work]:
    """Give learners whose marks every way of grading agrees on."""
    bump = "def double(numbers, more=0.0):\n    return np.where(numbers < -100, -200.0, numbers * 2) + more"
    return {
        "amara": {"double": released.filled("double"), "twice": released.filled("twice")},
        "bea": {"double": released.filled("double", TRIPLED), "twice": released.filled("twice", bump)},
        "chidi": {"double": released.blank("double"), "twice": released.filled("twice")},
    }


def unlucky(released: Released) -> dict[str, Work]:
    """Give learners to whom something happened."""
    swallows = (
        "def double(numbers, more=0.0):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass"
    )
    warns = (
        "import sys, warnings\ndef double(numbers, more=0.0):\n    warnings.warn('deprecated')\n"
        "    print('careful', file=sys.stderr)\n    return numbers * 2 + more"
    )
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}}
    old["worksheets"] = [{"cells": [{"cell_type": "code", "input": [RIGHT], "language": "python", "outputs": []}]}]
    hostile = (
        "def double(numbers, more=0.0):\n    raise ValueError('<img src=x onerror=alert(1)> \\x1b[31m</pre><script>')"
    )
    return {
        "dana": {"double": released.filled("double")},
        "emeka": {"double": released.deleted(), "twice": released.filled("twice")},
        "farah": {"double": released.doubled(), "twice": released.filled("twice")},
        "goran": {"double": b'{"nbformat": 4, "cells": [\n<<<<<<< HEAD', "twice": released.filled("twice")},
        "hana": {"double": released.filled("double", warns), "twice": released.filled("twice")},
        "ivan": {"double": released.filled("double", "for _ in range(200_000): print('again')\n" + RIGHT)},
        "jun": {"double": released.filled("double", first="import os\nos._exit(0)"), "twice": released.filled("twice")},
        "kofi": {"double": released.filled("double", swallows), "twice": released.filled("twice")},
        "lena": {"double": released.filled("double", RIGHT.replace("def double", "def doubled"))},
        "mia": {"double": json.dumps(old).encode()},
        "noor": {"double": released.filled("double", hostile)},
        "omar": {"double": released.filled("double", "%matplotlib inline\n" + RIGHT, last="!echo hello")},
    }


PATCHED_KIT = "import autograder.notebooks.kernel as kernel\nkernel.points = lambda exercise, check, **more: 1.0"
TRANSFORMER = (
    "get_ipython().input_transformers_post.append(\n"
    "    lambda lines: ['1.0\\n'] if any('notebooks.kernel' in line for line in lines) else lines)"
)
GRADEBOOK = (
    "import sqlite3\n"
    "with sqlite3.connect('../../../gradebook.db') as book:\n"
    "    book.execute('UPDATE grade SET extra_credit = 50')"
)
READS_SOURCE = (
    "import json, pathlib\n"
    "cells = json.loads(pathlib.Path('../../../source/small/double.ipynb').read_text())['cells']\n"
    "pathlib.Path('../../../loot.txt').write_text(str([cell['source'] for cell in cells]))"
)
PATCHED_NUMPY = (
    "import numpy as np\n"
    "class Equal:\n"
    "    def __getattr__(self, name): return lambda *a, **k: True\n"
    "np.testing = np.allclose = np.array_equal = Equal()\n"
    "np.ndarray.__eq__ if True else None"
)
PRINTS = "print('5.0')\nfrom IPython.display import display\ndisplay(5.0)\n5.0"
PATCHED_IPYTHON = (
    "import IPython\nIPython.get_ipython().displayhook.compute_format_data = lambda result: ({'text/plain': '1.0'}, {})"
)
ATTACKS = {
    "kit": PATCHED_KIT,
    "transformer": TRANSFORMER,
    "gradebook": GRADEBOOK,
    "source": READS_SOURCE,
    "numpy": PATCHED_NUMPY,
    "prints": PRINTS,
    "ipython": PATCHED_IPYTHON,
}


def hostile(released: Released) -> dict[str, Work]:
    """Give learners who did not do the exercise: an attack stands before the solution cell, and another in it."""
    works: dict[str, Work] = {
        f"mallory_{name}": {"double": released.filled("double", f"{attack}\n{TRIPLED}", first=attack)}
        for name, attack in ATTACKS.items()
    }
    return works | {"mallory_metadata": {"double": released.ungraded()}}


def hand_in(folder: Path, works: dict[str, Work], only: Callable[[str], bool] = lambda learner: True) -> None:
    """Write works as `nbgrader collect` leaves them."""
    for learner, work in works.items():
        if not only(learner):
            continue
        target = folder / learner / "small"
        target.mkdir(parents=True)
        (target / "timestamp.txt").write_text("2026-03-01 12:00:00.000000 UTC")
        for exercise, notebook in work.items():
            data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
            (target / f"{exercise}.ipynb").write_bytes(data)

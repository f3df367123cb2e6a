"""A course of two exercises made of the small one, `double` and `twice`, with all that its notebooks show."""

import shutil
from pathlib import Path

DOUBLE = Path(__file__).parents[1] / "data" / "double"

SOLUTION = '''"""Twice as much."""

import numpy as np


def double(numbers: np.ndarray, more: float = 0.0) -> np.ndarray:
    """Return twice the numbers, and `more`."""
    ### BEGIN SOLUTION
    return _added(numbers * FACTOR, more)
    ### END SOLUTION


### BEGIN SOLUTION
FACTOR = 2


def _added(numbers: np.ndarray, more: float) -> np.ndarray:
    return numbers + more
### END SOLUTION
'''
PUBLIC_TESTS = '''"""Try double."""

import numpy as np
import pytest
from double import double

ONE = np.array([1.0])


def test_one_becomes_two():
    assert double(ONE)[0] == 2


@pytest.mark.parametrize("more", [0.0, 0.5])
def test_more_is_added(more):
    assert double(ONE, more)[0] == 2 + more
'''
FILES = {
    "solutions/double.py": SOLUTION,
    "exercises/instructions/double.md": "# Double\n\nReturn twice the numbers.\n",
    "exercises/instructions/double.zh.md": "# 两倍\n\n返回两倍的数。\n",
    "exercises/contract/double.en.toml": 'sign = "Numbers below 0 are doubled, too."\n',
    "exercises/contract/double.zh.toml": 'sign = "负数也要加倍。"\n',
    "exercises/public_tests/test_double.py": PUBLIC_TESTS,
}


def write_course(root: Path) -> Path:
    """Write the course, and give its course.toml."""
    shutil.copytree(DOUBLE, root, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for path in sorted(root.rglob("*double*")):
        if path.is_file():
            other = Path(str(path.relative_to(root)).replace("double", "twice"))
            (root / other).parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            (root / other).write_text(text.replace("double", "twice"), encoding="utf-8")
    described = (root / "course.toml").read_text(encoding="utf-8")
    head, exercise = described.split("[[exercises]]")
    twice = exercise.replace("double", "twice").replace("Double", "Twice")
    (root / "course.toml").write_text(f"{head}[[exercises]]{exercise}\n[[exercises]]{twice}", encoding="utf-8")
    return root / "course.toml"

"""The course without its longest check, which tries a length that must not fit into memory."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from autograder.course import FILE_NAME, Course, load_course

SUITE = "test_tiled_attention.py"
LONG, SHORT = "LONG = 12_000\n", "LONG = 12\n"
# What a course is made of, as far as the benchmarks read it.
PARTS = ("exercises", "solutions", "autograder/suites", "autograder/faults", "autograder/stand_ins", "tests/variants")


def without_the_long_check(course: Course, folder: Path) -> Course:
    """Copy the course into a new folder, and let its longest check be about a short length."""
    for part in PARTS:
        shutil.copytree(course.root / part, folder / part)
    shutil.copy(course.root / FILE_NAME, folder)
    suite = folder / "autograder/suites" / SUITE
    text = suite.read_text(encoding="utf-8")
    if text.count(LONG) != 1:
        sys.exit(f"{suite.name} does not say {LONG.strip()!r} once: this benchmark cannot set its longest check apart")
    suite.write_text(text.replace(LONG, SHORT), encoding="utf-8")
    return load_course(folder)

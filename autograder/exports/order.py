"""What is to be exported, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Course
from autograder.report import Report
from autograder.roster import Learner


@dataclass(frozen=True)
class Order:
    """What somebody asked for: the reports of a class, where they lie, and how they want the marks.

    `destination` is None where the usual place in `grades` is meant. `template` is the platform's own sheet, `column`
    names the one to fill in it. With `scaled` a mark is made to fit the platform's maximum.
    """

    grades: Path
    course: Course
    reports: Sequence[Report]
    destination: Path | None = None
    template: Path | None = None
    column: str = ""
    roster: Sequence[Learner] = ()
    with_bonus: bool = False
    scaled: bool = False

    def place(self, name: str) -> Path:
        """Give where a file of this name goes, unless another place was asked for."""
        return self.destination or self.grades / "exports" / name

    @property
    def not_graded(self) -> list[str]:
        """The submissions that have no mark."""
        return [report.submission for report in self.reports if not report.graded]


@dataclass
class Exported:
    """The files that were written, sentences for the instructor, and whether every submission is in them."""

    files: list[Path]
    said: list[str] = field(default_factory=list)
    complete: bool = True

    @property
    def place(self) -> str:
        """Where it is: the files, or of many the folder that they lie in."""
        if len(self.files) > 2:
            return f"{len(self.files)} files in {os.path.commonpath([file.parent for file in self.files])}"
        return " and ".join(str(file) for file in self.files)

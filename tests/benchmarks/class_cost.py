"""What a class costs: `./run python tests/benchmarks/class_cost.py [N]`, N submissions (default 40).

N copies of the reference solutions, each with a comment of its own, are graded by `attend grade`: on all cores and
with one job, all exercises and the core ones. A check that has passed is not computed again for answers that are the
same to the last bit, as those of copies are; so N other right submissions stand beside them, each put together from the
variants, which are written in many styles, some of them slow. Each is run for a few and for N more; the difference by N
is what one submission costs, and starting up falls out. In the same run stand beside them a bare pytest process for
each submission, and `nbgrader autograde` on notebooks, both with the core exercises and as many tests as those have
checks. The check that tries a length which must not fit into memory stands apart: all is graded with a copy of the
course in which that length is short, and once more with the course as it is.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from long_check import without_the_long_check
from processes import Figures, cost_of_one, measured, positive
from rich import box
from rich.console import Console
from rich.table import Table
from rivals import bare_pytest, nbgrader

from autograder.course import Course, find_course, load_course
from autograder.crew import processors
from autograder.report import Report, from_json

FEW = 8
WIDTH = 100
RIVALS = 4
MOST_SECONDS = 0.25
LEAST_TIMES_NBGRADER = 12
LEAST_SPEED_UP = 1.8
Copy = Callable[[Course, Path, Sequence[str], int], None]
ATTEND = [sys.executable, "-c", "from autograder.cli import main; main()"]


@dataclass(frozen=True)
class Cost:
    """One way to grade: what one submission costs (processor and clock without starting up), memory over all.

    `start_up` is processor time; `outside` is the part of the clock that is not learner calls. What a rival does not
    tell is None.
    """

    name: str
    one: Figures
    checks: int
    count: int
    start_up: float | None = None
    outside: float | None = None


def main(count: int) -> None:
    """Measure and print."""
    course = load_course(find_course(Path(__file__).parent))
    everything = [exercise.name for exercise in course.exercises]
    core = [exercise.name for exercise in course.exercises if not exercise.bonus]
    with TemporaryDirectory() as folder:
        runs = Runs(without_the_long_check(course, Path(folder, "course")), Path(folder), count)
        whole = Runs(course, Path(folder, "whole"), count)
        long = [whole.attend(f"all as they are, {jobs}", everything, jobs) for jobs in (processors(), 1)]
        ours = [
            runs.attend(f"all, {processors()} jobs", everything, processors()),
            runs.attend("all, 1 job", everything, 1),
            runs.attend("core, 1 job", core, 1),
            runs.attend("variants, 1 job", everything, 1, copy_variants),
        ]
        checks = ours[2].checks
        rivals = [
            runs.rival("core, pytest", bare_pytest, core, checks),
            runs.rival("core, nbgrader", nbgrader, core, checks),
        ]
    console = Console(highlight=False, width=WIDTH)
    console.print(table_of(ours, rivals))
    for line in bounds(long, ours, rivals):
        console.print(line)


class Runs:
    """Everything that is run, each in a folder of its own."""

    def __init__(self, course: Course, folder: Path, count: int) -> None:
        self._course = course
        self._folder = folder
        self._count = count

    def attend(self, name: str, exercises: Sequence[str], jobs: int, copy: Copy | None = None) -> Cost:
        """Give what `attend grade` costs with these exercises handed in."""
        print(name, file=sys.stderr)
        sizes = [FEW, FEW + self._count]
        copy = copy or copy_solutions
        few, many = (self._graded(self._folder / name / str(size), exercises, size, jobs, copy) for size in sizes)
        one = cost_of_one(few, many, self._count)
        reports = self._reports(self._folder / name / str(sizes[-1]), exercises, sizes[-1])
        return Cost(
            name,
            one,
            sum(len(result.checks) for result in reports[0].exercises if result.name in exercises),
            self._count,
            start_up=few.processor - FEW * one.processor,
            outside=1 - seconds_in_calls(reports) / sum(report.seconds for report in reports),
        )

    def rival(
        self,
        name: str,
        grade: Callable[[Course, Path, Sequence[str], int, int], Figures],
        exercises: Sequence[str],
        checks: int,
    ) -> Cost:
        """Give what another way of grading costs, with as many tests as there are checks."""
        print(name, file=sys.stderr)
        return Cost(name, grade(self._course, self._folder / name, exercises, checks, RIVALS), checks, RIVALS)

    def _graded(self, folder: Path, exercises: Sequence[str], count: int, jobs: int, copy: Copy) -> Figures:
        for number in range(count):
            copy(self._course, folder / "class" / f"learner-{number}", exercises, number)
        options = ["--out", str(folder / "grades"), "--jobs", str(jobs), "--layout", "folders"]
        options += ["--course", str(self._course.root)]
        return measured([*ATTEND, "grade", str(folder / "class"), *options], self._course.root)

    def _reports(self, folder: Path, exercises: Sequence[str], count: int) -> list[Report]:
        """Read the reports, and end when a copy of the solutions did not earn everything."""
        reports = [from_json(path.read_bytes()) for path in (folder / "grades" / "reports").glob("*.json")]
        points = sum(self._course.exercise(name).points for name in exercises)
        if len(reports) != count or any(report.earned < points for report in reports):
            sys.exit("a copy of the reference solutions did not earn full points: only right ones are worth measuring")
        return reports


def copy_solutions(course: Course, folder: Path, exercises: Sequence[str], number: int) -> None:
    """Make a submission that nobody else has."""
    folder.mkdir(parents=True)
    for exercise in exercises:
        copied = Path(shutil.copy(course.paths.solutions / f"{exercise}.py", folder))
        with copied.open("a", encoding="utf-8") as module:
            module.write(f"\n# submission {number}\n")


def copy_variants(course: Course, folder: Path, exercises: Sequence[str], number: int) -> None:
    """Make a right submission of modules in other styles, for each exercise the next one that there is."""
    folder.mkdir(parents=True)
    for exercise in exercises:
        variants = sorted((course.paths.variants / exercise).glob("*.py"))
        copied = Path(shutil.copy(variants[number % len(variants)], folder / f"{exercise}.py"))
        with copied.open("a", encoding="utf-8") as module:
            module.write(f"\n# submission {number}\n")


def seconds_in_calls(reports: Sequence[Report]) -> float:
    """Give the clock time of learners' own functions."""
    return sum(check.seconds for report in reports for exercise in report.exercises for check in exercise.checks)


def table_of(ours: Sequence[Cost], rivals: Sequence[Cost]) -> Table:
    """Give a column for each way to grade."""
    costs = [*ours, *rivals]
    table = Table("for one submission", box=box.SIMPLE_HEAD)
    for cost in costs:
        table.add_column(cost.name, justify="right", max_width=9)
    rows: dict[str, Callable[[Cost], float | None]] = {
        "submissions|,.0f": lambda cost: cost.count,
        "checks or tests|,.0f": lambda cost: cost.checks,
        "graded per second|.2f": lambda cost: 1 / cost.one.wall,
        "processor time, s|.2f": lambda cost: cost.one.processor,
        "starting up, s|.1f": lambda cost: cost.start_up,
        "outside learner calls|.0%": lambda cost: cost.outside,
        "largest process, MiB|,.0f": lambda cost: cost.one.largest,
        "all together, MiB|,.0f": lambda cost: cost.one.together,
    }
    for rival in rivals:
        rows[f"{rival.name.split()[-1]}, times this|.1f"] = partial(times, rival)
    for row, value in rows.items():
        title, form = row.split("|")
        table.add_row(title, *(told(value(cost), form) for cost in costs))
    return table


def told(value: float | None, form: str) -> str:
    """Give a number as it is printed, or nothing where there is none."""
    return "" if value is None else format(value, form)


def times(rival: Cost, cost: Cost) -> float:
    """Give how many times the processor time of `cost` the rival takes."""
    return rival.one.processor / cost.one.processor


def bounds(long: Sequence[Cost], ours: Sequence[Cost], rivals: Sequence[Cost]) -> list[str]:
    """Give a line for each aim, and whether it is reached; `long` are runs of the course with its longest check."""
    all_cores, one_job, core, *_ = (cost.one.processor for cost in ours)
    speed_up = long[1].one.wall / long[0].one.wall
    cheaper = rivals[-1].one.processor / core
    with_it = [cost.one.processor for cost in long]
    return [
        f"with the longest check {with_it[0]:.2f} s ({processors()} jobs), {with_it[1]:.2f} s (one)",
        f"without it {all_cores:.3f} s ({processors()} jobs), {one_job:.3f} s (one), aim at most {MOST_SECONDS} s: "
        + reached(max(all_cores, one_job) <= MOST_SECONDS),
        f"nbgrader takes {cheaper:.1f} times as much for the same exercises, aim at least {LEAST_TIMES_NBGRADER}: "
        + reached(cheaper >= LEAST_TIMES_NBGRADER),
        f"with that check {processors()} jobs are {speed_up:.2f} times as fast as one, aim at least {LEAST_SPEED_UP} "
        f"for two: {reached(speed_up >= LEAST_SPEED_UP)}",
    ]


def reached(holds: bool) -> str:
    """Say whether an aim is reached."""
    return "reached" if holds else "missed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what grading a class costs, beside other ways to do it.")
    parser.add_argument("count", metavar="N", nargs="?", type=positive, default=40, help="submissions (default 40)")
    main(parser.parse_args().count)

"""Mutation testing of the hidden suites: `./run python tests/mutation/mutate.py [EXERCISE ...]`.

mutmut makes the mutants: each is a reference solution with one small change. Only that part of it is used, since its
own runner knows neither the jail nor the suites; each mutant is graded as a submission is, until a check fails. What
fails no check is a survivor. The table in tests/README.md says of those that stay why no check can catch them; a
survivor that is not in it, and a row of it that no survivor needs any more, end the run with status 1.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import libcst
import msgspec
from libcst.metadata import MetadataWrapper
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course import Course, CourseError, Exercise, find_course, load_course
from autograder.crew import Crew, processors
from autograder.grade import Grader, GradingError, running_grader
from autograder.outputs.terminal import progress_bar
from autograder.report import Outcome
from autograder.session import Checks
from autograder.submission import Submission

README = Path(__file__).parents[1] / "README.md"
HEADING = ("exercise", "line", "becomes", "why no check can tell")
# In a cell of the table it stands for any text.
ANYTHING = "…"
EVERY_EXERCISE = "all"
# The solutions need less for their longest call; what needs more does not come back.
CALL_SECONDS = 5.0


class Mutant(msgspec.Struct, frozen=True):
    """A solution with one small change: the lines that are gone and those that came, without their indentation."""

    exercise: str
    source: bytes
    line: str
    becomes: str


class Tried(msgspec.Struct, frozen=True):
    """What became of a mutant: the check that it failed, none where it survived, and why it could not be graded."""

    mutant: Mutant
    failed: str = ""
    trouble: str = ""

    @property
    def survived(self) -> bool:
        """Whether the suite saw nothing wrong with it."""
        return not self.failed and not self.trouble


class Known(msgspec.Struct, frozen=True):
    """A row of the table: survivors that no check can catch."""

    exercise: str
    line: str
    becomes: str

    def explains(self, mutant: Mutant) -> bool:
        """Whether this row is about that mutant."""
        return (
            self.exercise in (mutant.exercise, EVERY_EXERCISE)
            and _fits(self.line, mutant.line)
            and _fits(self.becomes, mutant.becomes)
        )


def main(names: Sequence[str]) -> int:
    """Make the mutants of these exercises, grade them, print what survived, and give the exit status."""
    course = _hurried(load_course(find_course(Path(__file__).parent)))
    exercises = [course.exercise(name) for name in names] or list(course.exercises)
    known = [row for row in known_survivors(README) if row.exercise in {EVERY_EXERCISE, *(e.name for e in exercises)}]
    tried = graded([mutant for exercise in exercises for mutant in mutants_of(course, exercise)], course)
    console = Console(highlight=False)
    console.print(table_of(exercises, tried, known))
    problems = list(problems_in(tried, known, partly=len(exercises) < len(course.exercises)))
    for problem in problems:
        console.print(Text(problem, style="red"), soft_wrap=True)
    return 1 if problems else 0


def mutants_of(course: Course, exercise: Exercise) -> Iterator[Mutant]:
    """Make the mutants of an exercise's solution, each of them once."""
    solution = course.solution_of(exercise).read_text(encoding="utf-8")
    visitor = MutationVisitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = MetadataWrapper(libcst.parse_module(solution)).visit(visitor)
    sources = (module.deep_replace(change.original_node, change.mutated_node).code for change in visitor.mutations)
    for source in dict.fromkeys(sources):
        yield Mutant(exercise.name, source.encode(), *_difference(solution, source))


def _difference(before: str, after: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    gone, came = (" ".join(line[2:].strip() for line in lines if line.startswith(sign)) for sign in ("- ", "+ "))
    return gone, came


def graded(mutants: Sequence[Mutant], course: Course) -> list[Tried]:
    """Grade mutants in parallel, each until a check fails. Raises GradingError where nothing can be graded."""
    tried: list[Tried] = []

    def grade(grader: Grader, checks: Checks) -> None:
        grader = grader.lent()
        hands = Crew(lambda mutant: _try(mutant, grader, checks), jobs=processors(), lost=_lost)
        with progress_bar(Console(stderr=True), "trying") as bar:
            tried.extend(bar.track(hands.work_off(mutants), total=len(mutants)))

    exercises = tuple(course.exercise(name) for name in dict.fromkeys(mutant.exercise for mutant in mutants))
    running_grader(msgspec.structs.replace(course, exercises=exercises), grade, trust=False)
    return tried


def _try(mutant: Mutant, grader: Grader, checks: Checks) -> Tried:
    try:
        with grader.desk_for(Submission("mutant", {mutant.exercise: mutant.source})) as desk:
            for result in checks.run_each(mutant.exercise, desk):
                if result.outcome is not Outcome.PASSED:
                    return Tried(mutant, failed=result.name)
    except Exception as error:
        return Tried(mutant, trouble=f"{type(error).__name__}: {error}")
    return Tried(mutant)


def _lost(mutant: Mutant) -> Tried:
    return Tried(mutant, trouble="the process that graded it died, twice")


def _hurried(course: Course) -> Course:
    return msgspec.structs.replace(course, limits=msgspec.structs.replace(course.limits, call_seconds=CALL_SECONDS))


def known_survivors(readme: Path) -> list[Known]:
    """Read the rows of the table whose heading is HEADING. Raises LookupError where there is none."""
    rows = [_cells(line) for line in readme.read_text(encoding="utf-8").splitlines()]
    if HEADING not in rows:
        raise LookupError(f"{readme}: there is no table with the heading {' | '.join(HEADING)}")
    below = rows[rows.index(HEADING) + 2 :]
    end = next((position for position, cells in enumerate(below) if len(cells) != len(HEADING)), len(below))
    return [Known(*cells[:3]) for cells in below[:end]]


def _cells(line: str) -> tuple[str, ...]:
    cells = re.split(r"(?<!\\)\|", line)[1:-1]
    return tuple(cell.replace(r"\|", "|").strip().strip("`") for cell in cells)


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANYTHING))), text) is not None


def table_of(exercises: Iterable[Exercise], tried: Sequence[Tried], known: Sequence[Known]) -> Table:
    """Give a row for each exercise."""
    table = Table("", "mutants", "killed", "equivalent", "survived", box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    for exercise in exercises:
        own = [one for one in tried if one.mutant.exercise == exercise.name]
        survivors = [one.mutant for one in own if one.survived]
        explained = sum(any(row.explains(mutant) for row in known) for mutant in survivors)
        counts = len(own), sum(bool(one.failed) for one in own), explained, len(survivors) - explained
        table.add_row(exercise.name, *map(str, counts))
    return table


def problems_in(tried: Iterable[Tried], known: Sequence[Known], *, partly: bool) -> Iterator[str]:
    """Give a line for each survivor that no row explains, for each row in vain, and for what could not be graded."""
    needed: set[Known] = set()
    for one in tried:
        rows = [row for row in known if row.explains(one.mutant)] if one.survived else []
        needed.update(rows)
        if one.trouble:
            yield f"{_shown(one.mutant)}: could not be graded: {one.trouble}"
        elif one.survived and not rows:
            yield f"{_shown(one.mutant)}: survives"
    for row in known:
        if row not in needed and not (partly and row.exercise == EVERY_EXERCISE):
            yield f"{_shown(row)}: stands in {README.name}, but no survivor is like that; take the row out"


def _shown(change: Mutant | Known) -> str:
    return f"{change.exercise}: {change.line}  ->  {change.becomes}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Grade mutants of the solutions: each must fail a check.")
    parser.add_argument("exercises", metavar="EXERCISE", nargs="*", help="all, unless named")
    try:
        sys.exit(main(parser.parse_args().exercises))
    except (CourseError, GradingError, LookupError) as error:
        sys.exit(str(error))

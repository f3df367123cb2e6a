"""What one submission costs: `./run python tests/benchmarks/submission_cost.py [N]`, N submissions (default 50).

A submission is a copy of the reference solutions of the core exercises, and again with the bonus ones. A process of
its own grades a few of them, another grades N more, and the difference in processor time divided by N is the cost of
one: what starting up costs falls out. Processes are measured from outside, after their end, since only then the
processor time of the fork server and of every learner's process, each waited for by the one that started it, is in the
sum. Bare processes that import torch stand beside them, before, between and after. Beside the bonus exercises as they
are they are graded with a copy of the course in which the length that must not fit into memory is short.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec
from long_check import without_the_long_check
from processes import positive
from rich import box
from rich.console import Console
from rich.table import Table

from autograder.course import Course, find_course, load_course
from autograder.grade import GradingError, grade_all
from autograder.report import Report
from autograder.sandbox import starting
from autograder.submission import read_submission

FEW = 8
MOST_SECONDS = 1.0
MOST_TIMES_THE_CORE = 1.3
# What the core exercises cost, as a multiple of an import of torch, when the bonus exercises had just come: the lowest
# of four runs, 0.62 s beside an import of 1.27 s.
CORE_WHEN_THE_BONUS_CAME = 0.49


class Inside(msgspec.Struct):
    """What a grading process knows: its own processor time, each submission's seconds on the clock and in calls."""

    grader: float
    walls: list[float]
    calls: list[float]
    servers: int
    grader_peak: float
    server_peak: float


class Figures(msgspec.Struct):
    """One process from start to end: seconds of processor time with all its children, and seconds on the clock."""

    processor: float
    wall: float
    printed: str

    @property
    def inside(self) -> Inside:
        """What a grading process printed of itself."""
        return msgspec.json.decode(self.printed, type=Inside)


def main(count: int) -> None:
    """Measure and print."""
    script = [sys.executable, __file__, "--inside"]
    torch = [sys.executable, "-c", "import torch"]
    runs = [[*script, str(FEW)], [*script, str(FEW + count)]]
    with_bonus, but_for_one = ([[*run, option] for run in runs] for option in ("--bonus", "--but-for-the-long-check"))
    measured = [figures_of(command) for command in (torch, *runs, torch, *with_bonus, torch, *but_for_one, torch)]
    _, few, many, _, few_with_bonus, many_with_bonus, _, few_without, many_without, _ = measured
    console = Console(highlight=False)
    imports = median(figures.processor for figures in measured[::3])
    console.print(table_of(count, few, many, imports))
    known = many.inside
    console.print(f"fork servers started: {known.servers}; one has loaded torch, once for all")
    console.print(f"peak memory: {known.grader_peak:.0f} MiB the grader, {known.server_peak:.0f} MiB the fork server")
    core, whole = cost_of_one(count, few, many), cost_of_one(count, few_with_bonus, many_with_bonus)
    short = cost_of_one(count, few_without, many_without)
    console.print(f"with the bonus exercises: {whole:.2f} s, and {short:.2f} s without the longest check")
    then = short / imports / CORE_WHEN_THE_BONUS_CAME
    console.print(
        f"that is {short / core:.2f} times the core exercises as they are now, and "
        f"{then:.2f} times what those cost when the bonus exercises came (the bound is {MOST_TIMES_THE_CORE:g})"
    )


def cost_of_one(count: int, few: Figures, many: Figures) -> float:
    """Give the processor time of one submission in seconds."""
    return (many.processor - few.processor) / count


def table_of(count: int, few: Figures, many: Figures, torch: float) -> Table:
    """Give a row for each cost, in seconds and as a multiple of the processor time of a bare `import torch`."""
    processor = cost_of_one(count, few, many)
    grader = (many.inside.grader - few.inside.grader) / count
    # Medians, since the first submission waits for the fork server, and others for what else the machine does.
    wall, calls = median(many.inside.walls), median(many.inside.calls)
    rows = {
        f"one submission (the bound is {MOST_SECONDS:g} s)": processor,
        "  of it in the grader": grader,
        "  of it in fork server and learners": processor - grader,
        "  on the clock": wall,
        f"  on the clock in learner calls, {calls / wall:.0%}": calls,
        "start-up": few.processor - FEW * processor,
        "start-up on the clock": few.wall - FEW * median(few.inside.walls),
        "a bare `import torch`": torch,
    }
    table = Table(f"{count} submissions, processor time", "seconds", "x import", box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, seconds in rows.items():
        table.add_row(name, f"{seconds:.2f}", f"{seconds / torch:.2f}")
    return table


def figures_of(command: list[str]) -> Figures:
    """Run a command and give its figures; when it fails, say why and end."""
    before, started = spent(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - started
    if done.returncode:
        sys.exit(done.stderr.strip())
    return Figures(spent(resource.RUSAGE_CHILDREN) - before, wall, done.stdout)


def spent(whose: int) -> float:
    """Give user and system time together."""
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def grade_copies(count: int, course: Course, *, bonus: bool) -> None:
    """Grade `count` copies of the reference solutions, each for full points, and print what is known inside."""
    chosen = tuple(exercise for exercise in course.exercises if bonus or not exercise.bonus)
    course = msgspec.structs.replace(course, exercises=chosen)
    submission = read_submission(course.paths.solutions, [exercise.name for exercise in course.exercises])
    reports: list[Report] = []
    starting.ForkServer = MeasuredServer  # type: ignore[misc]
    try:
        grade_all([submission] * count, course, receive=reports.append)
    except GradingError as error:
        sys.exit(str(error))
    if any(report.earned < sum(exercise.points for exercise in chosen) for report in reports):
        sys.exit("a copy of the reference solutions did not earn full points: only right ones are worth measuring")
    walls, calls = [report.seconds for report in reports], [seconds_in_calls(report) for report in reports]
    peaks = MeasuredServer.peaks
    own = spent(resource.RUSAGE_SELF)
    inside = Inside(own, walls, calls, len(peaks), own_peak(), max(peaks, default=0.0))
    print(msgspec.json.encode(inside).decode())


def seconds_in_calls(report: Report) -> float:
    """Give the time on the clock that a submission's own functions took."""
    return sum(check.seconds for exercise in report.exercises for check in exercise.checks)


class MeasuredServer(starting.ForkServer):
    """A fork server that leaves its peak memory in MiB when it ends."""

    peaks: list[float] = []  # noqa: RUF012

    def close(self) -> None:
        """Note the peak while the process is there, then end it."""
        self.peaks.append(peak_of(self._zygote.pid))
        super().close()


def peak_of(pid: int) -> float:
    """Give the most memory in MiB that a process has held, by the kernel's own record; 0 where it keeps none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def own_peak() -> float:
    """Give the most memory in MiB that this process has held."""
    per_mib = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_mib


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what grading one submission costs.")
    parser.add_argument("count", metavar="N", nargs="?", type=positive, default=50, help="submissions (default 50)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bonus", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--but-for-the-long-check", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if not chosen.inside:
        main(chosen.count)
    else:
        course = load_course(find_course(Path(__file__).parent))
        if not chosen.but_for_the_long_check:
            grade_copies(chosen.count, course, bonus=chosen.bonus)
        else:
            with TemporaryDirectory() as folder:
                grade_copies(chosen.count, without_the_long_check(course, Path(folder, "course")), bonus=True)

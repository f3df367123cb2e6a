"""What one submission costs: `./run python tests/benchmarks/submission_cost.py [N]`, N submissions (default 50).

Each figure comes from a process of its own that grades copies of the reference solutions and ends, so that the
processor time of the fork server and of every learner's process is in it. The cost of one submission is the difference
between a run of N and a run of a few, divided by the difference in number: what starting up costs falls out. A bare
process that imports torch stands beside it, measured in the same run.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from autograder.course import find_course, load_course
from autograder.grade import grade_all
from autograder.sandbox import starting
from autograder.submission import read_submission

FEW = 5
IMPORTS_OF_TORCH = 3


def main(count: int) -> None:
    """Measure and print."""
    few, many = run_of(FEW), run_of(count)
    extra = count - FEW
    processor = (many["processor"] - few["processor"]) / extra
    wall = (many["wall"] - few["wall"]) / extra
    torch = median(processor_of([sys.executable, "-c", "import torch"]) for _ in range(IMPORTS_OF_TORCH))
    print(f"{count} submissions with all five exercises right, {many['full']} with full points")
    share = grader_share(few, many, extra)
    print(f"processor time of one submission   {processor:6.2f} s   (grader {share:.2f} s of it)")
    print(f"wall time of one submission        {wall:6.2f} s   (in learner calls {many['calls'] / count:.2f} s)")
    print(f"start-up                           {few['processor'] - FEW * processor:6.2f} s of processor time")
    print(f"a bare `import torch`              {torch:6.2f} s of processor time")
    print(f"ratio: one submission / import     {processor / torch:6.2f}")
    print(f"fork servers started               {many['servers']:6.0f}")
    print(f"peak memory of one process         {many['peak_mib']:6.0f} MiB")


def run_of(count: int) -> dict[str, float]:
    """Grade `count` submissions in a process of its own and give its figures."""
    command = [sys.executable, __file__, "--run", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in json.loads(done.stdout.splitlines()[-1]).items()}


def grader_share(few: dict[str, float], many: dict[str, float], extra: int) -> float:
    """Give the part of a submission's processor time that the grader's own process spends."""
    return (many["grader"] - few["grader"]) / extra


def processor_of(command: list[str]) -> float:
    """Run a command and give the processor time it took."""
    before = spent(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    return spent(resource.RUSAGE_CHILDREN) - before


def spent(whose: int) -> float:
    """Give user and system time together."""
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def grade_copies(count: int) -> None:
    """Grade `count` copies of the reference solutions and print the figures as one line of JSON."""
    course = load_course(find_course(Path(__file__).parent))
    submission = read_submission(course.paths.solutions, [exercise.name for exercise in course.exercises])
    reports = []
    started = time.perf_counter()
    servers = counted_servers()
    grade_all([submission] * count, course, receive=reports.append)
    checks = [check for report in reports for exercise in report.exercises for check in exercise.checks]
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    figures = {
        "wall": time.perf_counter() - started,
        "grader": spent(resource.RUSAGE_SELF),
        "processor": spent(resource.RUSAGE_SELF) + spent(resource.RUSAGE_CHILDREN),
        "calls": sum(check.seconds for check in checks),
        "full": sum(report.earned == report.points for report in reports),
        "servers": len(servers),
        "peak_mib": peak / 1024,
    }
    print(json.dumps(figures))


def counted_servers() -> list[object]:
    """Count the fork servers, each of which imports torch once."""
    servers: list[object] = []
    start = starting.ForkServer.__init__

    def counting(self: starting.ForkServer, libraries: tuple[str, ...]) -> None:
        servers.append(self)
        start(self, libraries)

    starting.ForkServer.__init__ = counting  # type: ignore[method-assign]
    return servers


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        grade_copies(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)

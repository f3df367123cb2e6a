"""What comparing a class costs: `./run python tests/benchmarks/similar.py [N]`, N submissions (default 400).

Every submission has all exercises; each module is put together from the lines of three right answers, chosen at random,
with numbers of its own here and there, so that much is shared by some and little by all, as in a class.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import time
from pathlib import Path

from processes import positive

from autograder.course import find_course, load_course
from autograder.similar import find_similar
from autograder.submission import Submission


def main(count: int) -> None:
    """Measure and print."""
    course, choose = load_course(find_course(Path(__file__).parent)), random.Random(1)
    variants = {
        exercise.name: [path.read_text() for path in course.variants_of(exercise)] for exercise in course.exercises
    }
    submissions = [
        Submission(f"id-{place}", {name: _module(texts, choose) for name, texts in variants.items()})
        for place in range(count)
    ]
    started, processor = time.perf_counter(), time.process_time()
    likeness = find_similar(submissions, course)
    print(f"{count} submissions, {count * (count - 1) // 2} pairs, of which {likeness.n_pairs} are alike")
    print(
        f"{time.perf_counter() - started:.1f} s on the clock, {time.process_time() - processor:.1f} s of processor time"
    )
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def _module(texts: list[str], choose: random.Random) -> bytes:
    lines = [line for text in choose.sample(texts, 3) for line in text.splitlines() if choose.random() < 0.4]
    return re.sub(r"\b1\b", lambda _: str(choose.randrange(9)), "\n".join(lines)).encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what comparing the submissions of a class costs.")
    parser.add_argument("count", metavar="N", nargs="?", type=positive, default=400, help="submissions (default 400)")
    main(parser.parse_args().count)

"""How soon the page of a class opens: `./run python tests/benchmarks/class_page.py [N]...` (default 400 2000).

A class of N is made up: eight exercises of twenty checks, thirty mistakes, a few who are late, missing or not graded.
The page is opened three times in Chromium; said are the medians until it is loaded and painted, and those of a sort and
of a letter typed into the filter, until the next painting.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright
from processes import positive

from autograder.course import Course, find_course, load_course
from autograder.outputs.html.class_page import class_page
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report
from autograder.tally import Tally

N_CHECKS = 20
N_MISTAKES = 4
MOST_SECONDS = 2.0
TIMES = 3

LOADED = """() => {
  const [loaded] = performance.getEntriesByType('navigation');
  const painted = performance.getEntriesByType('paint').map((each) => each.startTime);
  return Math.max(loaded.loadEventEnd, ...painted) / 1000;
}"""
PAINTED_AFTER = """async (act) => {
  const started = performance.now();
  new Function(act)();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return (performance.now() - started) / 1000;
}"""
SORT = "document.querySelectorAll('#table thead button')[1].click()"
TYPE = "const find = document.getElementById('find'); find.value = 'no'; find.dispatchEvent(new Event('input'))"


def main(counts: list[int]) -> None:
    """Measure and print."""
    course = load_course(find_course(Path(__file__).parent))
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for count in counts:
            file = Path(folder, f"{count}.html")
            started = time.perf_counter()
            file.write_text(class_page(_tally(course, count), course, "en", linked=lambda _: True), encoding="utf-8")
            made = time.perf_counter() - started
            opened = []
            for _ in range(TIMES):
                # The policy of the page is not what is measured, and it does not let a stranger's code in.
                context = browser.new_context(bypass_csp=True)
                opened.append(_opened(context.new_page(), file))
                context.close()
            loaded, sort, filtered = (statistics.median(seconds) for seconds in zip(*opened, strict=True))
            print(f"{count} learners: {file.stat().st_size / 1e6:.1f} MB, counted and made in {made:.1f} s")
            print(f"  opens in {loaded:.2f} s; the bound is {MOST_SECONDS} s")
            print(f"  sorts in {sort:.2f} s, filters in {filtered:.2f} s")
        browser.close()


def _opened(page: Page, file: Path) -> tuple[float, float, float]:
    page.goto(file.as_uri(), wait_until="load")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    return page.evaluate(LOADED), page.evaluate(PAINTED_AFTER, SORT), page.evaluate(PAINTED_AFTER, TYPE)


def _tally(course: Course, count: int) -> Tally:
    tally, choose = Tally(), random.Random(1)
    for place in range(count):
        tally.add(_report(course, place, choose))
    return tally


def _report(course: Course, place: int, choose: random.Random) -> Report:
    name = choose.choice(["Eze", "Novak", "Okafor", "Lindqvist", "Müller", "李雷", "Śliwa"]) + f" {place}"
    if place % 50 == 7:
        return Report(submission=f"id-{place}", status="not_graded", reason="not a zip", points=100, learner_name=name)
    exercises = []
    for exercise in course.exercises:
        checks = [
            CheckResult(f"c{check}", f"check {check}", choose.choice([*[Outcome.PASSED] * 5, Outcome.FAILED]), 1, 0)
            for check in range(N_CHECKS)
        ]
        mistake = f"{exercise.name}_{choose.randrange(N_MISTAKES)}"
        told = [Diagnosis(mistake, {"en": f"The words of {mistake}. What would be right?"})] * (choose.random() < 0.4)
        earned = round(choose.random() * exercise.points * 2) / 2
        exercises.append(ExerciseResult(exercise.name, exercise.points, earned, "", told, checks, bonus=exercise.bonus))
    return Report(
        submission=f"id-{place}",
        status="graded",
        points=100,
        seconds=choose.random() * 3,
        exercises=exercises,
        learner_name=name,
        handed_in="2026-03-01T21:14:05+00:00",
        late=choose.random() < 0.05,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure how soon the page of a class opens.")
    parser.add_argument("counts", metavar="N", nargs="*", type=positive, default=[400, 2000], help="learners")
    main(parser.parse_args().counts)

"""A browser for the whole run of tests, and a report with one of everything in it."""

import shutil
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Figure, Outcome, Report

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    assert executable, "these tests need Chromium: install the package chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Give a function that opens HTML as a file."""
    contexts = []

    def open_page(html, **settings):
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_bytes(html if isinstance(html, bytes) else html.encode())
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def course():
    return load_course(REPOSITORY)


MASK = [
    Figure("came back", "mask", "query", "key", [["0", "0"], ["1", "0"]]),
    Figure("right", "mask", "query", "key", [["1", "0"], ["1", "1"]]),
]
WEIGHTS = [
    Figure("came back", "weights", "query", "key", [["nan", "nan"], ["0.67", "0.33"]]),
    Figure("right", "weights", "query", "key", [["0.5", "0.5"], ["0.67", "0.33"]]),
]
CODE = "import numpy as np\n\n\ndef softmax(scores, axis=-1, temperature=1.0):\n    return scores.nothing\n"


def one_report(**facts):
    """Give a report of one learner: a mask that is wrong, a softmax that raises, a module that does not load."""
    softmax = ExerciseResult(
        "softmax",
        20,
        16,
        diagnosis=[
            Diagnosis(
                "no_shift",
                {"en": "`exp` overflows. What may be added?", "zh": "`exp` 溢出了。可以加上什么？"},
                "softmax([1000., 1000.]) → [nan, nan] ≠ [0.5, 0.5]",
                [Figure("scores", "numbers", "", "key", [["1000", "-inf", "-500"]])],
            )
        ],
        checks=[
            CheckResult("test_a", "a row of scores becomes its weights", Outcome.PASSED, 16, 16),
            CheckResult(
                "test_b", "ties share", Outcome.FAILED, 2, 0, "NaN at (0, 0)", "softmax.ties", "softmax([1., 1.])",
                figures=WEIGHTS,
            ),
            CheckResult(
                "test_c", "no warning", Outcome.FAILED, 1, 0, "AttributeError: nothing (line 5)", "softmax.no_warning",
                "softmax([2.])", line=5,
            ),
            CheckResult("test_d", "float16", Outcome.TIMED_OUT, 1, 0, "no answer in 10 s", "softmax.dtype", line=5),
        ],
        code=CODE,
    )  # fmt: skip
    mask = ExerciseResult(
        "causal_mask", 15, 0,
        checks=[
            CheckResult(
                "t", "the triangle", Outcome.FAILED, 15, 0,
                "returned [[0 0] [1 0]], right is [[1 0] [1 1]]", "causal_mask.rule", figures=MASK,
            )
        ],
    )  # fmt: skip
    broken = ExerciseResult(
        "attention",
        20,
        0,
        "attention.py cannot be loaded: SyntaxError (line 2: x = ()",
        line=2,
        code="import torch\nx = (\n",
    )
    bonus = ExerciseResult("by_hand", 5, 0, "not handed in", bonus=True)
    known = {
        "submission": "chidi-eze",
        "status": "graded",
        "points": 100,
        "earned": 16,
        "learner_name": "Chidi Eze",
        "handed_in": "2026-03-01T21:14:05+00:00",
        "late": True,
        "notes": ["softmax.py is the newer of two"],
        "exercises": [softmax, mask, broken, bonus],
    }
    return Report(**{**known, **facts})


@pytest.fixture
def report():
    return one_report()

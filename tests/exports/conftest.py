"""A class of four: one mark with a bonus, one with a tail, one of hostile texts, and one that was not graded."""

import pytest

from autograder.exports.order import Order
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report

HOSTILE = '=HYPERLINK("http://evil")\x00\x1b[31m\ufffe]]></failure><script>\ud800'


def graded(id, earned=18.0, bonus=0.0, **facts):
    checks = [
        CheckResult("test_rows", "rows sum to one", Outcome.PASSED, 16, 16, seconds=0.01),
        CheckResult(
            "test_shift", "a constant changes nothing", Outcome.FAILED, 4, earned - 16, "returned nan, right is 0.5",
            "softmax.shift", "softmax([1000.])", seconds=0.02,
        ),
    ]  # fmt: skip
    explained = [Diagnosis("no_shift", {"en": "What may be added?", "zh": "可以加上什么？"})]
    exercises = [
        ExerciseResult("softmax", 20, earned, diagnosis=explained, checks=checks),
        ExerciseResult(
            "by_hand", 5, bonus, bonus=True, checks=[CheckResult("test_one", "one query", Outcome.PASSED, 5, bonus)]
        )
        if bonus
        else ExerciseResult("by_hand", 5, 0, "not handed in", bonus=True),
    ]
    return Report(
        submission=id, status="graded", points=20, earned=earned + bonus, exercises=exercises, seconds=2.4, **facts
    )


def hostile(id):
    check = CheckResult("test_x", HOSTILE, Outcome.TIMED_OUT, 20, 0, HOSTILE, "", HOSTILE)
    exercise = ExerciseResult("softmax", 20, 0, HOSTILE, checks=[check])
    return Report(submission=id, status="graded", points=20, exercises=[exercise], learner_name=HOSTILE)


def not_graded(id):
    return Report(submission=id, status="not_graded", reason="torn.zip is not a whole zip archive", points=20)


@pytest.fixture
def course(small_course):
    softmax = {'name = "double"': 'name = "softmax"', "points = 5": "points = 20"}
    return small_course({"course.toml": softmax | {'title = "Small"': 'title = "Attention"'}})


@pytest.fixture
def ordered(course, tmp_path):
    """Give a function that makes an order for reports, its files in a temporary folder."""

    def order(reports, template=None, **options):
        if template is not None:
            (tmp_path / "template.csv").write_bytes(template if isinstance(template, bytes) else template.encode())
            options["template"] = tmp_path / "template.csv"
        return Order(tmp_path / "grades", options.pop("course", course), reports, **options)

    return order

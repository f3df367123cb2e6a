"""What is said of a class in a line: how many, how well, how long."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from autograder.language import Phrase, say, say_many
from autograder.outputs.terminal import ENDINGS
from autograder.outputs.text import number
from autograder.report import Outcome
from autograder.tally import CheckTally, ExerciseTally, Tally


def percent(share: float) -> str:
    """Give a part of one in percent; what is not all or nothing never reads so."""
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded}\u00a0%"  # never broken before the sign


def class_facts(tally: Tally) -> Iterator[Phrase]:
    """Say in a few lines how many were graded, what they have, and how long that took."""
    graded = tally.of("graded")
    yield say_many("{count} learner graded", "{count} learners graded", len(graded))
    if graded:
        marks = [row.earned for row in graded]
        mean, middle = number(round(statistics.mean(marks), 1)), number(round(statistics.median(marks), 1))
        yield say(
            "mean {mean} and median {median} of {points} points",
            mean=mean,
            median=middle,
            points=number(max(row.points for row in graded)),
        )
    if count := len(tally.of("not_graded")):
        yield say("{count} {what}", count=count, what=say("not graded"))
    if count := len(tally.of("missing")):
        yield say("{count} {what}", count=count, what=say("handed nothing in"))
    if late := sum(row.late for row in tally.rows.values()):
        yield say("{count} late", count=late)
    if graded:
        seconds = [row.seconds for row in graded]
        yield say(
            "graded in {median} s each (median), {most} s at most",
            median=f"{statistics.median(seconds):.1f}",
            most=f"{max(seconds):.1f}",
        )


def exercise_facts(tally: ExerciseTally) -> Iterator[Phrase]:
    """Say what the class earned, and who is not in the rates of the checks."""
    if tally.earned:
        mean = number(round(statistics.mean(tally.earned), 1))
        yield say("mean {mean} of {points} points", mean=mean, points=number(tally.points))
        yield say("all passed by {share}", share=percent(tally.n_full / len(tally.earned)))
    if lost := sum(len(loss.ids) for loss in tally.lost.values()):
        yield say_many("{count} module earned nothing", "{count} modules earned nothing", lost)
    if tally.n_unwritten:
        yield say("{count} not written yet", count=tally.n_unwritten)
    if tally.n_not_handed_in:
        yield say("{count} not handed in", count=tally.n_not_handed_in)


def endings(check: CheckTally) -> Iterator[Phrase]:
    """Say how many passed a check, and how it ended for those for whom it did not simply fail."""
    yield say("{passed} of {count} passed", passed=check.outcomes[Outcome.PASSED], count=check.done)
    for outcome, said in ENDINGS.items():
        if count := check.outcomes[outcome]:
            yield say("{count} {what}", count=count, what=said)

"""Hints on the terminal, in the learner's language."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from autograder.hints import Shown
from autograder.language import Phrase, say
from autograder.outputs.text import visible
from autograder.outputs.wrapping import wrapped

INDENT = 2
WIDEST = 100


def show_hints(console: Console, shown: Shown, language: str, *, again: bool) -> None:
    """Print the hints, and below them how to get on; where there is none to show, say why."""
    for number, hint in shown.hints:
        heading = say("{exercise}, hint {number} of {total}", exercise=shown.exercise, number=number, total=shown.total)
        console.print(Text(heading.in_(language), style="bold"))
        _print_folded(console, hint, INDENT)
        console.print()
    _print_folded(console, _way_on(shown, again=again).in_(language))


def _way_on(shown: Shown, *, again: bool) -> Phrase:
    name = shown.exercise
    if not shown.hints and again:
        return say("You have not seen a hint for {exercise} yet.\nThe first one: attend hint {exercise}", exercise=name)
    if not shown.hints:
        return say(
            "You have seen all {total} hints for {exercise}.\nRead them again: attend hint {exercise} --again",
            exercise=name,
            total=shown.total,
        )
    if shown.seen < shown.total:
        return say("The next one: attend hint {exercise}", exercise=name)
    return say("That was the last one.")


def _print_folded(console: Console, text: str, indent: int = 0) -> None:
    width = min(console.width, WIDEST) - indent
    for line in (part for whole in text.split("\n") for part in wrapped(visible(whole), width)):
        console.print(Text(" " * indent + line), soft_wrap=True)

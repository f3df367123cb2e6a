"""Hints on the terminal, in the learner's language."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from autograder.hints import Shown
from autograder.outputs.text import visible
from autograder.outputs.wrapping import wrapped

INDENT = 2
WIDEST = 100

PHRASES = {
    "en": {
        "heading": "{exercise}, hint {number} of {total}",
        "next": "The next one: attend hint {exercise}",
        "last": "That was the last one.",
        "none_left": "You have seen all {total} hints for {exercise}.\nRead them again: attend hint {exercise} --again",
        "none_seen": "You have not seen a hint for {exercise} yet.\nThe first one: attend hint {exercise}",
    },
    "zh": {
        "heading": "{exercise}，第 {number} 条提示，共 {total} 条",
        "next": "看下一条：attend hint {exercise}",
        "last": "这是最后一条了。",
        "none_left": "{exercise} 的 {total} 条提示你都看过了。\n再看一遍：attend hint {exercise} --again",
        "none_seen": "{exercise} 的提示你还没有看过。\n看第一条：attend hint {exercise}",
    },
}


def show_hints(console: Console, shown: Shown, language: str, *, again: bool) -> None:
    """Print the hints, and below them how to get on; where there is none to show, say why."""
    phrases = {
        key: phrase.format(exercise=shown.exercise, total=shown.total, number="{number}")
        for key, phrase in PHRASES[language].items()
    }
    for number, hint in shown.hints:
        console.print(Text(phrases["heading"].format(number=number), style="bold"))
        _print_folded(console, hint, INDENT)
        console.print()
    if not shown.hints:
        _print_folded(console, phrases["none_seen" if again else "none_left"])
    else:
        _print_folded(console, phrases["next" if shown.seen < shown.total else "last"])


def _print_folded(console: Console, text: str, indent: int = 0) -> None:
    width = min(console.width, WIDEST) - indent
    for line in (part for whole in text.split("\n") for part in wrapped(visible(whole), width)):
        console.print(Text(" " * indent + line), soft_wrap=True)

"""Text of others, made safe to show: names, messages and printed output may hold anything."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from autograder.language import Phrase, say

# Joiners that Persian, Indic scripts and emoji need; other invisible characters are shown as escapes.
JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    """Give `text` as one line in which nothing acts on a terminal or reorders what stands beside it.

    Control characters (line ends and tabs too), bidirectional overrides, surrogates and unassigned code points become
    escapes such as `\\x1b`.
    """
    if text.isprintable():
        # The same judgement by Python itself, many times quicker.
        return text
    return "".join(letter if _is_visible(letter) else _escape(letter) for letter in text)


def visible_lines(text: str) -> list[str]:
    """Give the lines of `text`, each of them `visible`, with tabs widened to columns of four."""
    return [visible(line) for line in text.expandtabs(4).replace("\r\n", "\n").strip("\n").split("\n")]


def attributed(reason: str, exercises: Sequence[str]) -> str:
    """Put the names of the exercises in front of a reason that does not begin with the module itself."""
    return reason if reason.startswith(f"{exercises[0]}.py ") else f"{', '.join(exercises)}: {reason}"


def number(value: float) -> str:
    """Give points as people write them: 18, 87.5, and never a tail that only binary fractions have."""
    return f"{round(value, 4):.12g}"


def n_done(done: int, count: int, bonus_done: int, bonus_count: int) -> Phrase:
    """Say how many exercises are done, the bonus apart; of a kind of which there is none nothing is said."""
    core = say("{done} of {count} exercises done", done=done, count=count)
    bonus = say("{done} of {count} bonus exercises done", done=bonus_done, count=bonus_count)
    if count and bonus_count:
        return say("{first}, {second}", first=core, second=bonus)
    return bonus if bonus_count else core


def _is_visible(letter: str) -> bool:
    category = unicodedata.category(letter)
    return letter in JOINERS or category == "Zs" or category[0] in "LMNPS"


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")

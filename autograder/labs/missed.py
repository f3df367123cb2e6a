"""What a prediction missed, told from the prediction and the result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.language import Phrase, say

CLOSE = 0.02
MOST_KEYS_TOLD = 3
# Beyond this a difference is thought of as a factor.
FACTOR = 1.5
# Below this a number is what rounding left of 0.
NOTHING = 1e-12


@dataclass(frozen=True)
class Missed:
    """Whether the prediction was right, and the sentences that tell it from the result."""

    right: bool
    sentences: tuple[Phrase, ...]


def missed_choice(predicted: str, right: str, options: Mapping[str, str]) -> Missed:
    """Tell a choice from what happened; `options` are the texts of the choices, where they are known."""
    if predicted == right:
        return Missed(True, (say("You predicted {choice}, and so it is.", choice=named(predicted, options)),))
    return Missed(
        False,
        (
            say("You predicted {choice}.", choice=named(predicted, options)),
            say("What happened is {choice}.", choice=named(right, options)),
        ),
    )


def judged(given: str | float, right: str | float, options: Mapping[str, str]) -> Missed:
    """Tell an answer of the self-test from the right one."""
    if isinstance(given, str) or isinstance(right, str):
        choice, other = named(str(given), options), named(str(right), options)
        if given == right:
            return Missed(True, (say("You answered {choice}. That is right.", choice=choice),))
        return Missed(False, (say("You answered {choice}; right is {other}.", choice=choice, other=other),))
    if _is_close(given, right):
        return Missed(True, (say("You answered {number}. That is right.", number=shown(given)),))
    return Missed(False, (say("You answered {number}; right is {right}.", number=shown(given), right=shown(right)),))


def missed_number(predicted: float, measured: float) -> Missed:
    """Tell how far a number is from what was measured: as a factor where that is how one thinks of it."""
    measured = 0.0 if abs(measured) < NOTHING else measured
    facts = {"predicted": shown(predicted), "measured": shown(measured)}
    if _is_close(predicted, measured):
        return Missed(True, (say("You predicted {predicted}; it is {measured}. That is right.", **facts),))
    return Missed(False, (_how_far(predicted, measured, facts),))


def _is_close(number: float, measured: float) -> bool:
    return math.isclose(number, measured, rel_tol=CLOSE, abs_tol=CLOSE / 10)


def _how_far(predicted: float, measured: float, facts: Mapping[str, str]) -> Phrase:
    ratio = measured / predicted if predicted * measured > 0 else 1.0
    if ratio >= FACTOR:
        return say("You predicted {predicted}; it is {measured}, {factor} times as much.", factor=shown(ratio), **facts)
    if ratio <= 1 / FACTOR:
        factor = shown(1 / ratio)
        return say(
            "You predicted {predicted}; it is {measured}: your number is {factor} times as large.",
            factor=factor,
            **facts,
        )
    difference = shown(abs(measured - predicted))
    if measured > predicted:
        return say("You predicted {predicted}; it is {measured}, {difference} more.", difference=difference, **facts)
    return say("You predicted {predicted}; it is {measured}, {difference} less.", difference=difference, **facts)


def missed_row(predicted: Sequence[float], measured: Sequence[float]) -> Missed:
    """Tell a drawn row of weights from the real one, key by key, the largest differences first."""
    told = [
        say(
            "You drew {predicted}; the row is {measured}.", predicted=shown_row(predicted), measured=shown_row(measured)
        )
    ]
    total = math.fsum(predicted)
    if not math.isclose(total, 1.0, abs_tol=CLOSE):
        told.append(say("Your row adds up to {total}; weights that softmax makes add up to 1.", total=shown(total)))
    differences = [drawn - real for drawn, real in zip(predicted, measured, strict=True)]
    wrong = sorted(
        (key for key, difference in enumerate(differences) if not abs(difference) <= CLOSE),
        key=lambda key: -abs(differences[key]),
    )
    told += [_missed_key(key, differences[key]) for key in wrong[:MOST_KEYS_TOLD]]
    if not wrong:
        told.append(say("No weight is off by more than {close}.", close=CLOSE))
    return Missed(not wrong, tuple(told))


def shown(number: float) -> str:
    """Show a number with as many digits as one reads."""
    if abs(number) < NOTHING:
        return "0"
    if abs(number) < 0.0005:
        return f"{number:.1e}"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3f}".rstrip("0").rstrip(".")


def shown_row(row: Sequence[float]) -> str:
    """Show a row of weights."""
    return f"[{', '.join(shown(weight) for weight in row)}]"


def _missed_key(key: int, difference: float) -> Phrase:
    amount = shown(abs(difference))
    if difference > 0:
        return say("Key {key} gets {difference} less than you drew.", key=key, difference=amount)
    return say("Key {key} gets {difference} more than you drew.", key=key, difference=amount)


def named(choice: str, options: Mapping[str, str]) -> Phrase:
    """Show a choice: its letter, and its sentence where that is known."""
    if choice in options:
        return say("({letter}) {text}", letter=choice, text=options[choice])
    return say("({letter})", letter=choice)

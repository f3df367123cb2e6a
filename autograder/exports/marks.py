"""One mark for a submission, as the platforms take it: a decimal number, never more exact than they show it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from autograder.report import Report

HUNDREDTH = Decimal("0.01")
# A sum of points that are decimal fractions is off by less than this, and a mark is never that fine.
NOISE = 9


def mark_of(report: Report, *, with_bonus: bool, maximum: Decimal | None = None) -> Decimal | None:
    """Give the mark of a submission, or None where it was not graded.

    That of the core exercises, with `with_bonus` the bonus added; with a `maximum`, that share of it which the
    mark is of the course's points. Two decimals, halves rounded up.
    """
    if not report.graded:
        return None
    earned = exactly(report.core_earned + (report.bonus_earned if with_bonus else 0.0))
    if maximum is not None and report.points:
        earned = earned * maximum / exactly(report.points)
    return earned.quantize(HUNDREDTH, ROUND_HALF_UP)


def exactly(points: float) -> Decimal:
    """Give points as the decimal number that they stand for."""
    return Decimal(repr(round(points, NOISE)))


def written(mark: Decimal, *, comma: bool = False) -> str:
    """Write a mark without zeros at its end, with a decimal point or comma."""
    text = f"{mark:.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def read_number(text: str) -> Decimal | None:
    """Read a number that a platform wrote, with a decimal point or comma; None where it is none."""
    plain = text.strip().replace(",", ".")
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None

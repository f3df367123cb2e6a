"""What is said between the machine that has the submissions, a worker, and the worker's workshop."""

from __future__ import annotations

import msgspec


class Terms(msgspec.Struct, frozen=True):
    """What a worker has to hold to, for its marks to be those of the machine that asks.

    `course` is the path of the course.toml, or "" for the one that belongs to the kit; `parts` are those of the
    fingerprint; `trust` is whether learner code runs where layers of the jail are missing, `many` whether the solutions
    pass before anyone else.
    """

    course: str
    parts: dict[str, str]
    trust: bool
    many: bool


class Opened(msgspec.Struct, frozen=True):
    """What a workshop says first: the address that it takes submissions at, or why it takes none."""

    address: str = ""
    refusal: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What a workshop gives for a submission: its report, or why it can grade none."""

    report: bytes = b""
    refusal: str = ""


def differing(needed: dict[str, str], found: dict[str, str]) -> str:
    """Say which parts of two fingerprints differ, or nothing where none do."""
    names = [name for name in {**needed, **found} if needed.get(name) != found.get(name)]
    return ", ".join(_difference(name, needed.get(name, "none"), found.get(name, "none")) for name in names)


def _difference(name: str, needed: str, found: str) -> str:
    if name in ("course", "kit"):
        return f"its {name} is another one"
    return f"its {name} is {found} and not {needed}"

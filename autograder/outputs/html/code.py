"""The learner's own module, the lines marked in which it raised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.language import Phrase, Reader, say, say_many
from autograder.outputs.html.cutting import cut
from autograder.outputs.text import visible
from autograder.report import ExerciseResult

# A module longer than this is shown around its first line that raised.
MOST_CODE = 400


@dataclass(frozen=True)
class CodeLine:
    """A line of the learner's module, and which checks raised in it."""

    number: int
    text: str
    raised: str = ""


@dataclass(frozen=True)
class CodeView:
    """The learner's module."""

    heading: str
    lines: Sequence[CodeLine]

    @property
    def raising(self) -> bool:
        """Whether a line of it is marked."""
        return any(line.raised for line in self.lines)


def code_view(result: ExerciseResult, reader: Reader) -> CodeView | None:
    """Give the learner's module as the result has it, or None where it has none."""
    if not result.code:
        return None
    raised = _raised(result, reader)
    texts = visible_source(result.code)
    first = max(0, min(raised, default=1) - MOST_CODE // 2) if len(texts) > MOST_CODE else 0
    lines = [
        CodeLine(position, cut(text), raised.get(position, ""))
        for position, text in enumerate(texts[first : first + MOST_CODE], first + 1)
    ]
    module = visible(f"{result.name}.py")
    return CodeView(reader.read(say("Your {module}", module=module)), lines)


def visible_source(code: str) -> list[str]:
    """Give the lines of a module as Python counts them, none of which can act on the page."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return [visible(line) for line in (lines[:-1] if lines[-1] == "" else lines)]


def _raised(result: ExerciseResult, reader: Reader) -> dict[int, str]:
    """Say of each line that raised in which check, or that the reason is about it."""
    if result.reason:
        return {result.line: reader.read(say("this line"))} if result.line else {}
    titles: dict[int, list[str]] = defaultdict(list)
    for check in result.checks:
        if check.line:
            titles[check.line].append(visible(reader.title(check.title)))
    return {line: reader.read(_raised_in(of_line)) for line, of_line in titles.items()}


def _raised_in(titles: Sequence[str]) -> Phrase:
    first, others = titles[0], len(titles) - 1
    if not others:
        return say("raised here: {check}", check=first)
    return say_many(
        "raised here: {check}, and in {count} more check",
        "raised here: {check}, and in {count} more checks",
        others,
        check=first,
    )

"""A solution beside the learner's own code, or below it where the terminal is narrow."""

from __future__ import annotations

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograder.language import SOURCE, say
from autograder.outputs.text import visible_lines

# Two columns in which most lines of code fit without being folded.
WIDE_ENOUGH = 150
# Colours that the terminal's own theme makes legible, whether it is dark or light.
THEME = "ansi_dark"
GAP = 2
CONTINUED = 4


def show_solution(console: Console, exercise: str, own: str, solution: str, language: str = SOURCE) -> None:
    """Print both, the learner's own first; `own` is "" where nothing was written.

    Where the output is no terminal its lines are left as they are, for whatever reads them.
    """
    titled = [
        (say("your {file}", file=f"{exercise}.py").in_(language), _coloured(own, language)),
        (say("the solution").in_(language), _coloured(solution, language)),
    ]
    if console.is_terminal and console.width >= WIDE_ENOUGH:
        console.print(_beside_each_other(console, titled))
        return
    for title, text in titled:
        console.print(Text(f"--- {title} ---", style="bold"))
        console.print(_folded(console, text, console.width) if console.is_terminal else text, soft_wrap=True)
        console.print()


def _beside_each_other(console: Console, titled: list[tuple[str, Text]]) -> Table:
    width = (console.width - GAP) // len(titled)
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for title, _ in titled:
        table.add_column(title, header_style="bold", width=width)
    table.add_row(*(_folded(console, text, width) for _, text in titled))
    return table


def _coloured(code: str, language: str) -> Text:
    if not code.strip():
        return Text(say("(nothing is there)").in_(language), style="italic")
    shown = "\n".join(visible_lines(code))
    text = Syntax("", "python", theme=THEME, background_color="default").highlight(shown)
    text.rstrip()
    return text


def _folded(console: Console, code: Text, width: int) -> Text:
    """Fold the lines that are too long between words, and indent what continues them further than they are."""
    return Text("\n").join(part for line in code.split("\n") for part in _parts_of(console, line, width))


def _parts_of(console: Console, line: Text, width: int) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    indent = min(len(line.plain) - len(line.plain.lstrip()), width // 2)
    parts = line[indent:].wrap(console, width - indent - CONTINUED, overflow="fold", no_wrap=False)
    for part in parts:
        part.rstrip()
    margins = [" " * indent, *[" " * (indent + CONTINUED)] * (len(parts) - 1)]
    return [Text(margin).append_text(part) for margin, part in zip(margins, parts, strict=True)]

"""Verdicts on the suites: a table, and in lines below it what has to be mended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.outputs.text import number
from autograder.verify.verdict import Share, Verdict

COLUMNS = ("", "faults\nkilled", "pairs\nkilled", "right", "empty", "faults\nnamed", "pairs\nnamed")
MORE_COLUMNS = ("ms to\nname", "points", "idle", "open")
LEGEND = """right: right answers that pass; empty: answers that do nothing, at 0 points;
named: mistakes that the diagnosis names; idle: checks that catch nothing alone
and do not say why they stay; open: sentences of the contract without a check"""
MOST_PROBLEMS = 60


def show_verdicts(console: Console, verdicts: Sequence[Verdict], *, by_check: bool = False) -> None:
    """Print one row for each exercise, with `by_check` what each check catches, then the problems."""
    console.print(_table(verdicts))
    console.print(Text(LEGEND, style="dim"))
    for verdict in verdicts if by_check else ():
        console.print(_checks(verdict))
    for verdict in verdicts:
        _show_problems(console, verdict)
    broken = [verdict.exercise for verdict in verdicts if not verdict.holds]
    line = f"to be mended: {', '.join(broken)}" if broken else "every suite holds"
    console.print(Text(line, style="bold red" if broken else "bold green"))


def to_json(verdicts: Sequence[Verdict]) -> str:
    """Give everything that was found out."""
    return msgspec.json.format(msgspec.json.encode(verdicts), indent=2).decode()


def _table(verdicts: Iterable[Verdict]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    for position, heading in enumerate((*COLUMNS, *MORE_COLUMNS)):
        table.add_column(heading, justify="right" if position else "left", no_wrap=True)
    for verdict in verdicts:
        table.add_row(*_row(verdict))
    return table


def _row(verdict: Verdict) -> list[Text]:
    name = Text(verdict.exercise, style="green" if verdict.holds else "red")
    whole = [_counted(share) for share in (verdict.faults, verdict.pairs, verdict.variants, verdict.trivial)]
    parts = [Text(f"{share.ratio:.0%}") for share in (verdict.named_faults, verdict.named_pairs)]
    naming = Text(f"{verdict.slowest_diagnosis * 1000:.0f}")
    points = Text(number(verdict.points_of_checks), style="" if _adds_up(verdict) else "red")
    return [name, *whole, *parts, naming, points, _none(verdict.idle), _none(verdict.unchecked)]


def _none(found: Sequence[str]) -> Text:
    return Text(str(len(found)), style="red" if found else "")


def _adds_up(verdict: Verdict) -> bool:
    return number(verdict.points_of_checks) == number(verdict.points)


def _counted(share: Share) -> Text:
    return Text(f"{share.of}") if share.count == share.of else Text(f"{share.count}/{share.of}", style="red")


def _checks(verdict: Verdict) -> Table:
    table = Table(title=verdict.exercise, box=box.SIMPLE_HEAD, title_justify="left", show_edge=False)
    table.add_column("check", overflow="fold")
    table.add_column("faults\ncaught", justify="right")
    table.add_column("caught by it alone, or why it stays", overflow="fold")
    for check, caught in verdict.killed_by.items():
        alone = ", ".join(verdict.killed_alone[check]) or verdict.stays.get(check, "")
        table.add_row(Text(check.removeprefix("test_")), str(len(caught)), Text(alone))
    return table


def _show_problems(console: Console, verdict: Verdict) -> None:
    if verdict.holds:
        return
    console.print(Text(f"\n{verdict.exercise}", style="bold"))
    for problem in verdict.problems[:MOST_PROBLEMS]:
        console.print(Padding(Text(problem), (0, 0, 0, 2)))
    if len(verdict.problems) > MOST_PROBLEMS:
        console.print(Text(f"  and {len(verdict.problems) - MOST_PROBLEMS} more; --json names them all"))

"""Reports on the terminal: the table of a class for its instructor, the checks of an exercise for its learner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.course import Course, Exercise
from autograder.language import ENGLISH, Phrase, Reader, say, say_many
from autograder.outputs.grid import Grids, differing, drawn
from autograder.outputs.text import attributed, n_done, number, visible, visible_lines
from autograder.outputs.wrapping import has_wide, wrapped
from autograder.policy import allowed
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Outcome, Report, alphabetical

if TYPE_CHECKING:
    # What grades a class is not loaded to show a check to its learner.
    from autograder.batch import Batch
    from autograder.roster import Attendance
    from autograder.submission import Found

WIDEST_NAME = 24
NARROWEST_REMARK = 30
HEADING_LINES = 3
# Terminals disagree by a cell or two about letters of some scripts; a line must not break because of it.
SLACK = 4
MOST_LINES = 24
LONGEST_LINE = 1_000
# The report has the whole reason.
LONGEST_REMARK = 110
MOST_NOTES = 20
LONGEST_NOTE = 200

SIGNS = ("✓", "✗")
ASCII_SIGNS = ("+", "x")

# With those of the diagnosis; who has mended what they show sees the next ones.
MOST_DRAWN = 4
# Of a call with more in it only the names of its arguments are read.
LONGEST_CALL = 160
# A message that has nothing in it but the arrays that are drawn.
REPEATS_FIGURES = "returned "

# How a check that did not simply fail is spoken of.
ENDINGS = {
    Outcome.TIMED_OUT: say("timed out"),
    Outcome.OUT_OF_MEMORY: say("ran out of memory"),
    Outcome.CRASHED: say("crashed"),
    Outcome.ERROR: say("could not be run"),
}
# What a learner reads of a check that met a stub.
NOT_WRITTEN = say("not written yet")


def progress_bar(console: Console, doing: str = "grading") -> Progress:
    """Give a bar with count and remaining time, which draws nothing where `console` is no terminal."""
    return Progress(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def show_batch(console: Console, batch: Batch, course: Course) -> None:
    """Print the table of a class, what was left aside, and where the reports are."""
    show_class(console, batch.reports, course, _names(batch.found))
    if batch.stopped:
        n_left = len(batch.found.submissions) - len(batch.reports)
        console.print(
            Text(f"Stopped with {n_left} submissions not graded yet; what is graded is kept.", style="yellow")
        )
    _show_attendance(console, batch.attendance)
    _show_notes(console, batch.found)
    if batch.known:
        line = f"{batch.known} graded before, and nothing they depend on has changed; --again grades them anew"
        console.print(Text(line), soft_wrap=True)
    if batch.found.ignored:
        console.print(Text(f"Not submissions, ignored: {', '.join(map(visible, batch.found.ignored))}"))
    _show_others(console, batch)
    if batch.reports:
        console.print(Text(f"Reports: {batch.reports_folder}\nMarks:   {batch.marks}"), soft_wrap=True)


def _show_others(console: Console, batch: Batch) -> None:
    """Say which reports are of nobody in this class: the table leaves them out, but gradebook and pages have them."""
    others = [visible(name) for name in batch.others]
    if others:
        named = ", ".join(others[:MOST_NOTES])
        more = f" and {len(others) - MOST_NOTES} more" if len(others) > MOST_NOTES else ""
        line = f"Of earlier classes, and still in gradebook and pages until you delete them: {named}{more}"
        console.print(Text(line, style="yellow"), soft_wrap=True)


def _names(found: Found) -> dict[str, str]:
    return {each.id: each.learner_name for each in found.submissions if each.learner_name}


def _show_attendance(console: Console, attendance: Attendance | None) -> None:
    """Name who handed nothing in, and whose submission nobody on the roster has."""
    if attendance is None:
        return
    missing = [_labelled(learner.id, learner.name) for learner in attendance.missing]
    console.print(Text(f"Handed nothing in: {', '.join(missing) or 'nobody'}"))
    if attendance.unknown:
        console.print(Text(f"Not on the roster: {', '.join(map(visible, attendance.unknown))}", style="yellow"))


def _show_notes(console: Console, found: Found) -> None:
    """Say what was chosen among files and attempts, for as many submissions as one can still read."""
    from autograder.submission import Submission

    notes = [(each.id, note) for each in found.submissions if isinstance(each, Submission) for note in each.notes]
    for id, note in notes[:MOST_NOTES]:
        console.print(Text(f"{visible(id)}: {_cut(visible(note), LONGEST_NOTE)}"))
    if len(notes) > MOST_NOTES:
        console.print(Text(f"and {len(notes) - MOST_NOTES} more notes like these"))


def _labelled(id: str, name: str) -> str:
    return f"{visible(name)} ({visible(id)})" if name else visible(id)


def show_class(
    console: Console, reports: Iterable[Report], course: Course, names: Mapping[str, str] | None = None
) -> None:
    """Print one row per submission: earned points by exercise, the total, and a remark where something was unusual.

    Where the terminal is too narrow for the remarks they follow below the table, and where it is too narrow for the
    bonus exercises only the sum of their points is shown. `names` are those of learners, by id, where they are known.
    """
    ordered = sorted(reports, key=lambda report: alphabetical(report.submission))
    core = [exercise for exercise in course.exercises if not exercise.bonus]
    width = console.width - SLACK
    table = partial(_class_table, ordered, course, names or {})
    whole = table(course.exercises)
    left = width - _widest(console, whole)
    if left >= NARROWEST_REMARK:
        console.print(table(course.exercises, with_remarks=True), width=width)
    else:
        console.print(whole if left >= 0 else table(core))
        if any(map(_remark, ordered)):
            console.print(_remarks_below(ordered), width=width)
    console.print()
    console.print(_counted(ordered))


def _widest(console: Console, table: Table) -> int:
    """Give the width that the table would take if there were room for everything."""
    return Measurement.get(console, console.options.update(width=1_000), table).maximum


def _class_table(
    reports: Sequence[Report],
    course: Course,
    names: Mapping[str, str],
    exercises: Sequence[Exercise],
    *,
    with_remarks: bool = False,
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(_headed("submission"), overflow="fold")
    if names:
        table.add_column(_headed("name"), overflow="fold")
    for exercise in exercises:
        heading = _headed(*exercise.name.split("_"), of=exercise.points)
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(_headed("total", of=course.points), justify="right", style="bold", no_wrap=True)
    if _has_bonus(course):
        table.add_column(_headed("bonus"), justify="right", no_wrap=True)
    if with_remarks:
        table.add_column(_headed(" remark"), overflow="fold")
    for report in reports:
        learner = [report.submission, *([names.get(report.submission, "")] if names else [])]
        row = [*map(_shortened, learner), *_marks(report, exercises), *_totals(report, course)]
        table.add_row(*row, *([Padding(_remark(report), (0, 0, 0, 1))] if with_remarks else []))
    return table


def _has_bonus(course: Course) -> bool:
    return any(exercise.bonus for exercise in course.exercises)


def _headed(*words: str, of: float | None = None) -> Text:
    """Give a heading with a word on each line and the points last, filled up from above so that all end level."""
    points = [] if of is None else [f"/{number(of)}"]
    above = [""] * (HEADING_LINES - len(words) - len(points))
    return Text("\n".join([*above, *words, *points]))


def _marks(report: Report, exercises: Sequence[Exercise]) -> list[Text]:
    """Give the mark of each exercise; what was not graded has dashes, since 0 would be a mark."""
    results = {result.name: result for result in report.exercises} if report.graded else {}
    return [_mark(results.get(exercise.name), exercise) for exercise in exercises]


def _totals(report: Report, course: Course) -> list[Text]:
    totals = [report.core_earned, *([report.bonus_earned] if _has_bonus(course) else [])]
    return [Text(number(total)) if report.graded else Text("-", style="dim") for total in totals]


def _mark(result: ExerciseResult | None, exercise: Exercise) -> Text:
    if result is None:
        return Text("-", style="dim")
    style = "green" if result.earned >= exercise.points else "red" if result.earned == 0 else "yellow"
    return Text(number(result.earned), style=style)


def _remark(report: Report) -> Text:
    """Say what the marks do not: a reason for a 0, a time-out, a failure of ours."""
    if not report.graded:
        return Text(f"not graded: {visible(report.reason)}", style="red")
    if len({exercise.reason for exercise in report.exercises}) == 1 and report.exercises[0].reason:
        return Text(_cut(f"everything: {visible(report.exercises[0].reason)}", LONGEST_REMARK))
    by_reason: dict[str, list[str]] = defaultdict(list)
    for exercise in report.exercises:
        if exercise.left_out:
            continue
        for reason in [exercise.reason] if exercise.reason else _endings(exercise):
            by_reason[visible(reason)].append(exercise.name)
    remarks = [attributed(reason, names) for reason, names in by_reason.items()]
    return Text("\n".join(_cut(remark, LONGEST_REMARK) for remark in remarks))


def _endings(exercise: ExerciseResult) -> list[str]:
    """Name how checks ended other than passed or failed, each once."""
    return list({str(ENDINGS[check.outcome]): None for check in exercise.checks if check.outcome in ENDINGS})


def _remarks_below(reports: Sequence[Report]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for report in reports:
        if remark := _remark(report):
            grid.add_row(_shortened(report.submission), remark)
    return Padding(grid, (1, 0, 0, 0))


def _counted(reports: Sequence[Report]) -> Text:
    graded = [report for report in reports if report.graded]
    line = Text(f"{len(graded)} of {len(reports)} submissions graded")
    if graded:
        mean = sum(report.core_earned for report in graded) / len(graded)
        line.append(f"; mean {mean:.1f} of {number(graded[0].points)} points")
    return line


def show_check(
    console: Console,
    results: Sequence[ExerciseResult],
    feedback: str,
    sentence_of: Callable[[str], str],
    reader: Reader = ENGLISH,
) -> None:
    """Print each exercise for its learner, and of several how many are done and which one is next.

    `feedback` says how much of a failed hidden check is shown: "full", "hint", "title", or "none" for the marks alone;
    public tests, which carry no points, are shown in full. `sentence_of` gives the text for a hint id, or "".
    """
    for result in results:
        show_exercise(console, result, feedback, sentence_of, reader)
    if len(results) > 1:
        show_done(console, results, reader)


def show_done(console: Console, results: Sequence[ExerciseResult], reader: Reader = ENGLISH) -> None:
    """Print how many exercises are done and which one is next."""
    console.print(Text(reader.read(_progress(results)), style="bold"))


def _progress(results: Sequence[ExerciseResult]) -> Phrase:
    """Say how many exercises are done and which one is next: the bonus is counted apart, and comes after the others."""
    core, bonus = ([result for result in results if result.bonus is wanted] for wanted in (False, True))
    n_core, n_bonus = (sum(result.passed for result in group) for group in (core, bonus))
    done = n_done(n_core, len(core), n_bonus, len(bonus))
    left = [result.name for result in (*core, *bonus) if not result.passed]
    return say("{done}; next: {exercise}", done=done, exercise=left[0]) if left else done


def show_exercise(
    console: Console,
    result: ExerciseResult,
    feedback: str,
    sentence_of: Callable[[str], str],
    reader: Reader = ENGLISH,
    *,
    only_failed: bool = False,
) -> None:
    """Print one exercise: its checks by title, or in their place what kept them from being run.

    With `only_failed` those that passed are counted and not listed.
    """
    result = allowed(result, feedback)
    console.print(_headline(result, reader))
    if result.reason:
        console.print(_Indented(_lines(reader.read(result.reason_phrase or result.reason), reader), 2))
    elif _is_unwritten(result):
        console.print(_Indented(Text(reader.read(NOT_WRITTEN)), 2))
    elif any(check.title for check in result.checks):
        signs = ASCII_SIGNS if console.options.ascii_only else SIGNS
        console.print(
            Group(
                *_diagnosis_lines(result.diagnosis, reader),
                *_check_lines(_without_passed(result) if only_failed else result, sentence_of, signs, reader),
            )
        )
    console.print()


def _without_passed(result: ExerciseResult) -> ExerciseResult:
    failed = [check for check in result.checks if check.outcome is not Outcome.PASSED]
    return msgspec.structs.replace(result, checks=failed)


def _is_unwritten(result: ExerciseResult) -> bool:
    """Say whether every check met a function that is still a stub: then a list of them tells nothing."""
    return bool(result.checks) and all(check.is_stub for check in result.checks)


def _headline(result: ExerciseResult, reader: Reader) -> Text:
    line = Text(result.name, style="bold green" if result.passed else "bold red")
    facts = _passed(result), _earned(result)
    said = say("{first}, {second}", first=facts[0], second=facts[1]) if all(facts) else facts[0] or facts[1]
    return line.append(f"  {reader.read(said)}" if said else "", style="not bold default")


def _passed(result: ExerciseResult) -> Phrase | None:
    if result.reason or not result.checks:
        return None
    n_passed = sum(check.outcome is Outcome.PASSED for check in result.checks)
    return say("{passed} of {count} checks passed", passed=n_passed, count=len(result.checks))


def _earned(result: ExerciseResult) -> Phrase | None:
    if not result.points:
        return None
    earned, points = number(result.earned), number(result.points)
    if result.bonus:
        return say("{earned} of {points} bonus points", earned=earned, points=points)
    return say("{earned} of {points} points", earned=earned, points=points)


def _diagnosis_lines(diagnoses: Sequence[Diagnosis], reader: Reader) -> Iterable[RenderableType]:
    """Yield the mistakes that explain what was seen, each with the smallest input that shows it."""
    if not diagnoses:
        return
    said = say_many("this mistake explains it:", "these mistakes together explain it:", len(diagnoses))
    yield Text(f"  {reader.read(said)}", style="bold")
    for diagnosis in diagnoses:
        yield _Indented(_lines(_explanation(diagnosis, reader), reader), 6)
        if figures := drawn(diagnosis.figures):
            yield _Indented(_lines(diagnosis.call, reader), 6)
            yield Grids(figures, 6, reader.language)
        elif diagnosis.counterexample:
            yield _Indented(_lines(diagnosis.counterexample, reader), 6)


def _explanation(diagnosis: Diagnosis, reader: Reader) -> str:
    """Give the explanation in the reader's language, else in another one that it is there in."""
    texts = diagnosis.explanation
    return texts.get(reader.language) or texts.get(ENGLISH.language) or next(iter(texts.values()), diagnosis.fault)


def _check_lines(
    result: ExerciseResult, sentence_of: Callable[[str], str], signs: tuple[str, str], reader: Reader
) -> Iterable[RenderableType]:
    """Yield a line for each check, and under a failed one what is known of it; a sentence of the contract only once."""
    said, seen = {""}, [diagnosis.figures for diagnosis in result.diagnosis]
    for check in result.checks:
        yield _title(check, signs, reader)
        if check.outcome is Outcome.PASSED:
            continue
        if check.is_stub:
            yield _Indented(Text(reader.read(NOT_WRITTEN)), 6)
            continue
        figures = drawn(check.figures) if len(seen) < MOST_DRAWN and check.figures not in seen else []
        by_name = figures or (check.call and len(check.counterexample) > LONGEST_CALL)
        details = [check.call if by_name else check.counterexample]
        if not (figures and differing(figures) and check.message.startswith(REPEATS_FIGURES)):
            details.append(reader.read(check.phrase or check.message))
        yield from (_Indented(_lines(detail, reader), 6) for detail in details if detail not in said)
        if figures:
            seen.append(check.figures)
            yield Grids(figures, 6, reader.language)
        sentence = sentence_of(check.hint) if check.hint else ""
        if sentence not in said:
            yield _Indented(_lines(sentence, reader), 6)
        said.add(sentence)


def _title(check: CheckResult, signs: tuple[str, str], reader: Reader) -> Text:
    passed = check.outcome is Outcome.PASSED
    line = Text("  ").append(signs[0] if passed else signs[1], style="green" if passed else "red")
    line.append(f" {visible(reader.title(check.title))}")
    if check.outcome in ENDINGS:
        line.append(reader.read(say(" ({how})", how=ENDINGS[check.outcome])), style="red")
    return line


@dataclass(frozen=True)
class _Indented:
    """Text whose wrapped lines all start at a column, without the blanks at their ends that `Padding` leaves."""

    text: Text
    columns: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - self.columns, 1)
        # Of Chinese rich makes one long word.
        text = Text("\n".join(part for line in self.text.plain.split("\n") for part in wrapped(line, width)))
        for line in (text if has_wide(self.text.plain) else self.text).wrap(console, width, overflow="fold"):
            line.rstrip()
            yield Text(" " * self.columns).append_text(line)


def _lines(text: str, reader: Reader) -> Text:
    """Give the text's own lines, without what could act on the terminal, and of very many only the first."""
    lines = visible_lines(text)
    kept = [_cut(line, LONGEST_LINE) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        kept.append(reader.read(say("... {count} more lines", count=len(lines) - MOST_LINES)))
    return Text("\n".join(kept))


def _cut(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[:length].rstrip()}..."


def _shortened(name: str) -> Text:
    """Give a name in at most WIDEST_NAME terminal cells; Chinese letters take two."""
    shown = visible(name)
    if cell_len(shown) > WIDEST_NAME:
        shown = set_cell_size(shown, WIDEST_NAME - 3).rstrip() + "..."
    return Text(shown)

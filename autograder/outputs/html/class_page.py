"""The page of a class, for its instructor: its marks, which checks and mistakes are common, and who is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from autograder.course import Course, CourseError
from autograder.language import Phrase, say, say_many
from autograder.outputs.html.class_facts import class_facts, endings, exercise_facts, percent
from autograder.outputs.html.distribution import Chart, distribution
from autograder.outputs.html.learner import moment
from autograder.outputs.html.rendering import render_page, script
from autograder.outputs.text import number, visible
from autograder.report import alphabetical, report_name
from autograder.tally import CheckTally, Mistake, Row, Tally

FEEDBACK = "feedback"
COMMA = say(", ")
SEMICOLON = say("; ")
STEPS = 10
# More names than these are behind a heading.
MOST_UNFOLDED = 8
# The learner's own page has the whole.
LONGEST_REMARK = 160


@dataclass(frozen=True)
class Words:
    """The words of the page that do not depend on what it shows."""

    class_page: str
    marks: str
    checks: str
    in_percent: str
    mistakes: str
    no_mistakes: str
    lost: str
    learners: str
    learner: str
    total: str
    bonus: str
    named: str
    handed_in: str
    late: str
    seconds: str
    remarks: str
    filter: str
    show: str
    everyone: str
    hide_names: str
    clear: str
    who: str
    in_table: str
    similar: str


@dataclass(frozen=True)
class CheckCell:
    """A check of an exercise: which part of the class passed it, in percent, and as a step of colour from 0 to 10."""

    number: int
    anchor: str
    title: str
    rate: str
    step: int
    said: str


@dataclass(frozen=True)
class ExerciseRow:
    """An exercise: what the class earned in it, and its checks."""

    title: str
    module: str
    facts: str
    checks: Sequence[CheckCell]


@dataclass(frozen=True)
class Link:
    """A learner, and where the page of feedback is, or "" where there is none."""

    who: str
    address: str
    said: str = ""


@dataclass(frozen=True)
class Listed:
    """Learners, or files, under a heading."""

    heading: str
    links: Sequence[Link]


@dataclass(frozen=True)
class Group:
    """Learners who have something in common, and their rows in the table."""

    heading: str
    text: str
    counted: str
    share: float
    links: Sequence[Link]
    rows: str


@dataclass(frozen=True)
class MarkCell:
    """The points of one exercise or in total, "" where there are none, and their step of colour."""

    text: str
    step: int | None = None


@dataclass(frozen=True)
class LearnerRow:
    """A row of the table."""

    link: Link
    id: str
    kinds: str
    late: bool
    marks: Sequence[MarkCell]
    n_mistakes: str
    handed_in: str
    seconds: str
    remark: str


@dataclass(frozen=True)
class Choice:
    """What may be left in the table: a kind of learners, and how many they are."""

    kind: str
    label: str


def class_page(tally: Tally, course: Course, language: str, *, linked: Callable[[str], bool], similar: str = "") -> str:
    """Give the page of a class in a language as HTML.

    `linked` says of a file name whether there is such a page of feedback; `similar` is the address of the page on
    submissions that are alike, if there is one.
    """
    page = _ClassPage(tally, course, language, linked)
    sorting = script("class.js")
    title = f"{page.words.class_page} · {page.course_title}"
    return render_page(
        "class.html.j2",
        styles=["class.css"],
        scripts=[sorting],
        script=sorting,
        title=title,
        language=language,
        page=page,
        words=page.words,
        similar=similar,
    )


class _ClassPage:
    """Says in one language what was counted; the parts of the page are its attributes."""

    few = MOST_UNFOLDED

    def __init__(self, tally: Tally, course: Course, language: str, linked: Callable[[str], bool]) -> None:
        self._tally = tally
        self._course = course
        self._language = language
        self._linked = linked
        self._reader = course.reader(language)
        self.words = self._words()
        self.course_title = course.titles.get(language, course.title)
        self._rows = tally.sorted_rows()
        self._places = {row.id: place for place, row in enumerate(self._rows)}
        self.exercise_titles = [self._title(name) for name in self._exercise_names()]
        self.facts = [self._say(fact) for fact in class_facts(tally)]
        self.chart = self._chart()
        self.exercises = [self._exercise(name) for name in self._exercise_names() if name in tally.exercises]
        self.mistakes = [self._mistake(mistake) for mistake in tally.mistakes]
        self.lost = list(self._lost())
        self.lists = [each for each in self._lists() if each.links]
        self.has_bonus = any(exercise.bonus for exercise in course.exercises)
        self.has_times = any(row.handed_in or row.late for row in self._rows)
        self.learners = [self._learner(row) for row in self._rows]
        self.choices = self._choices()
        self.counted = self._shown(len(self._rows))
        self.counted_as = self._shown("#")

    def _words(self) -> Words:
        read = self._reader.read
        return Words(
            class_page=read(say("The class")),
            marks=read(say("Marks")),
            checks=read(say("Which checks are passed")),
            in_percent=read(say("In percent of those whose module could be tried; below, each check with its name.")),
            mistakes=read(say("Mistakes that explain what failed")),
            no_mistakes=read(say("No known mistake explains what failed.")),
            lost=read(say("Modules that earned nothing")),
            learners=read(say("Learners")),
            learner=read(say("Learner")),
            total=read(say("Total")),
            bonus=read(say("Bonus")),
            named=read(say("Mistakes named")),
            handed_in=read(say("Handed in")),
            late=read(say("late")),
            seconds=read(say("Grading took, s")),
            remarks=read(say("Remarks")),
            filter=read(say("Find (press /)")),
            show=read(say("Show")),
            everyone=read(say("everyone")),
            hide_names=read(say("blur names on this screen")),
            clear=read(say("Show everyone again")),
            who=read(say("Who")),
            in_table=read(say("Show them in the table")),
            similar=read(say("Submissions that are alike")),
        )

    def _shown(self, shown: object) -> str:
        return self._say(say("{shown} of {count} learners", shown=shown, count=len(self._rows)))

    def _listed(self, texts: Iterable[str]) -> str:
        return self._reader.read(COMMA).join(texts)

    def _say(self, said: Phrase | str) -> str:
        return visible(self._reader.read(said))

    def _exercise_names(self) -> list[str]:
        """Give the course's exercises in its order, then those that only the reports still know."""
        names = [exercise.name for exercise in self._course.exercises]
        return names + [name for name in self._tally.exercises if name not in names]

    def _title(self, name: str) -> str:
        try:
            exercise = self._course.exercise(name)
        except CourseError:
            return visible(name)
        return exercise.titles.get(self._language, exercise.title)

    def _chart(self) -> Chart:
        shares = [row.earned / row.points for row in self._tally.of("graded") if row.points]
        return distribution(shares, max((row.points for row in self._rows), default=0.0))

    def _exercise(self, name: str) -> ExerciseRow:
        tally = self._tally.exercises[name]
        facts = " · ".join(self._say(fact) for fact in exercise_facts(tally))
        cells = [self._check(name, place, check) for place, check in enumerate(tally.checks.values(), 1)]
        return ExerciseRow(self._title(name), visible(name), facts, cells)

    def _check(self, exercise: str, place: int, check: CheckTally) -> CheckCell:
        share = check.share_passed
        return CheckCell(
            number=place,
            anchor=f"check-{visible(exercise)}-{place}",
            title=visible(self._reader.title(check.title)),
            rate=percent(share),
            step=round(share * STEPS),
            said=self._listed(self._say(part) for part in endings(check)),
        )

    def _mistake(self, mistake: Mistake) -> Group:
        explained = mistake.explanation
        text = explained.get(self._language) or next(iter(explained.values()), mistake.fault)
        tried = len(self._tally.exercises[mistake.exercise].earned)
        return self._group(mistake.exercise, visible(text), mistake.ids, tried)

    def _lost(self) -> list[Group]:
        groups = [
            (name, loss)
            for name in self._exercise_names()
            if name in self._tally.exercises
            for loss in self._tally.exercises[name].lost.values()
        ]
        groups.sort(key=lambda pair: -len(pair[1].ids))
        return [
            self._group(name, _cut(self._say(loss.said)), loss.ids, len(self._tally.exercises[name].earned))
            for name, loss in groups
        ]

    def _lists(self) -> Iterator[Listed]:
        """Give those who have no marks, and what does not belong, each list with its heading."""
        tally = self._tally
        yield self._list(say("Not graded"), [self._told(row) for row in tally.of("not_graded")])
        yield self._list(say("Handed nothing in"), [self._link(row) for row in tally.of("missing")])
        unknown = [self._link(tally.rows[id]) for id in sorted(tally.unknown, key=alphabetical)]
        yield self._list(say("Not on the roster"), unknown)
        unreadable = [Link(visible(name), "", self._say(why)) for name, why in tally.unreadable.items()]
        yield self._list(say("Reports that cannot be read"), unreadable)

    def _list(self, title: Phrase, links: Sequence[Link]) -> Listed:
        return Listed(self._say(say("{title} ({count})", title=title, count=len(links))), links)

    def _group(self, exercise: str, text: str, ids: Sequence[str], out_of: int) -> Group:
        places = sorted(self._places[id] for id in ids)
        anchor = f"{self._language}-{visible(exercise)}"
        counted = say_many(
            "{count} learner, {percent}",
            "{count} learners, {percent}",
            len(places),
            percent=percent(len(places) / out_of),
        )
        return Group(
            heading=self._title(exercise),
            text=text,
            counted=self._say(counted),
            share=100 * len(places) / out_of,
            links=[self._link(self._rows[place], anchor) for place in places],
            rows=" ".join(map(str, places)),
        )

    def _link(self, row: Row, anchor: str = "", said: str = "") -> Link:
        page = f"{report_name(row.id).removesuffix('.json')}.html"
        there = row.status != "missing" and self._linked(page)
        address = f"{FEEDBACK}/{quote(page)}" + (f"#{quote(anchor)}" if anchor else "")
        return Link(visible(row.name or row.id), address if there else "", said)

    def _told(self, row: Row) -> Link:
        return self._link(row, said=self._say(row.reason))

    def _learner(self, row: Row) -> LearnerRow:
        return LearnerRow(
            link=self._link(row),
            id=visible(row.id) if row.name else "",
            kinds=" ".join([row.status, *(["late"] if row.late else [])]),
            late=row.late,
            marks=self._marks(row),
            n_mistakes=str(row.n_mistakes) if row.status == "graded" else "",
            handed_in=moment(row.handed_in) if row.handed_in else "",
            seconds=f"{row.seconds:.1f}" if row.status == "graded" else "",
            remark=self._remark(row),
        )

    def _marks(self, row: Row) -> Sequence[MarkCell]:
        """Give the total, the bonus where the course has one, and each exercise."""
        if row.status != "graded":
            return [MarkCell("")] * (1 + self.has_bonus + len(self.exercise_titles))
        cells = [_mark(row.earned, row.points)]
        cells += [MarkCell(number(row.bonus))] if self.has_bonus else []
        for name in self._exercise_names():
            known = self._tally.exercises.get(name)
            cells.append(_mark(row.marks[name], known.points) if known and name in row.marks else MarkCell(""))
        return cells

    def _remark(self, row: Row) -> str:
        if row.status == "missing":
            return self._say(say("handed nothing in"))
        if row.status == "not_graded":
            return _cut(self._say(say("not graded: {why}", why=row.reason)))
        lost: dict[str, list[str]] = {}
        for name, reason in row.lost.items():
            lost.setdefault(self._say(reason), []).append(self._title(name))
        told = (say("{exercises}: {why}", exercises=self._listed(names), why=why) for why, names in lost.items())
        return _cut(self._reader.read(SEMICOLON).join(map(self._say, told)))

    def _choices(self) -> list[Choice]:
        kinds: Mapping[str, Phrase] = {
            "graded": say("graded ({count})", count=len(self._tally.of("graded"))),
            "late": say("late ({count})", count=sum(row.late for row in self._rows)),
            "not_graded": say("not graded ({count})", count=len(self._tally.of("not_graded"))),
            "missing": say("handed nothing in ({count})", count=len(self._tally.of("missing"))),
        }
        there = {kind for learner in self.learners for kind in learner.kinds.split()}
        return [Choice(kind, self._say(said)) for kind, said in kinds.items() if kind in there]


def _mark(earned: float, points: float) -> MarkCell:
    return MarkCell(number(earned), round(min(max(earned / points, 0.0), 1.0) * STEPS) if points else None)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_REMARK else f"{text[:LONGEST_REMARK].rstrip()}..."

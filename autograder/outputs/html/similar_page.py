"""The page of submissions that are alike: both sides of each pair, for a person to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from autograder.course import Course
from autograder.language import Phrase, say, say_many
from autograder.outputs.html.class_facts import percent
from autograder.outputs.html.class_page import FEEDBACK, Link
from autograder.outputs.html.code import visible_source
from autograder.outputs.html.rendering import render_page
from autograder.outputs.text import visible
from autograder.report import report_name
from autograder.similar import (
    LEAST,
    LEAST_IN_ALL,
    LEAST_SHARE,
    LEAST_SHARE_IN_ALL,
    LENGTH,
    AlikeModules,
    Fragment,
    Likeness,
    Pair,
)

# Lines before and after those that are alike.
AROUND = 2
MOST_LINES = 150
LONGEST_LINE = 300


@dataclass(frozen=True)
class Line:
    """A line of a module, whether it is alike, and whether lines were left out before it."""

    number: int
    text: str
    alike: bool
    after_gap: bool


@dataclass(frozen=True)
class ModulesView:
    """The two modules of an exercise."""

    heading: str
    first: Sequence[Line]
    second: Sequence[Line]


@dataclass(frozen=True)
class PairView:
    """A pair, what is said of it, and the code, the module with most in common first."""

    first: Link
    second: Link
    said: str
    modules: Sequence[ModulesView]


@dataclass(frozen=True)
class SameView:
    """Learners who handed in the same module."""

    said: str
    links: Sequence[Link]


def similar_page(likeness: Likeness, course: Course, language: str, *, linked: Callable[[str], bool]) -> str:
    """Give the page as HTML in a language; `linked` says of a file name whether there is such a page of feedback."""
    page = _SimilarPage(likeness, course, language, linked)
    title = f"{page.heading} · {page.course_title}"
    return render_page(
        "similar.html.j2", styles=["class.css", "similar.css"], title=title, language=language, page=page
    )


class _SimilarPage:
    """Says in one language what is alike; the parts of the page are its attributes."""

    def __init__(self, likeness: Likeness, course: Course, language: str, linked: Callable[[str], bool]) -> None:
        self._likeness = likeness
        self._titles = {each.name: each.titles.get(language, each.title) for each in course.exercises}
        self._language = language
        self._reader = course.reader(language)
        self._linked = linked
        self.course_title = course.titles.get(language, course.title)
        self.heading = self._say(say("Submissions that are alike"))
        self.found = self._say(_found(likeness))
        self.explained = [self._say(sentence) for sentence in _explained(likeness)]
        self.nothing_written = self._say(say("not handed in"))
        self.left_out = self._say(say("lines left out"))
        self.pairs = [self._pair(pair) for pair in likeness.pairs]
        self.same = [
            SameView(
                self._say(
                    say("the same module, but for names and layout: {exercise}", exercise=self._title(same.exercise))
                ),
                [self._link(id) for id in same.ids],
            )
            for same in likeness.same
        ]

    def _say(self, said: Phrase | str) -> str:
        return visible(self._reader.read(said))

    def _title(self, exercise: str) -> str:
        return self._titles.get(exercise, visible(exercise))

    def _pair(self, pair: Pair) -> PairView:
        told = [
            self._say(_module_alike(module, self._title(module.exercise))) for module in pair.modules if module.shared
        ]
        whole = say("all together {share} ({shared})", share=percent(pair.share), shared=pair.shared)
        return PairView(
            first=self._link(pair.first),
            second=self._link(pair.second),
            said=" · ".join([*told, self._say(whole)]),
            modules=[self._modules(module) for module in sorted(pair.modules, key=lambda module: -module.shared)],
        )

    def _modules(self, module: AlikeModules) -> ModulesView:
        return ModulesView(self._title(module.exercise), _lines(module.first), _lines(module.second))

    def _link(self, id: str) -> Link:
        page = f"{report_name(id).removesuffix('.json')}.html"
        address = f"{FEEDBACK}/{quote(page)}" if self._linked(page) else ""
        name = self._likeness.names.get(id, "")
        return Link(visible(f"{name} ({id})" if name else id), address)


def _found(likeness: Likeness) -> Phrase:
    count = likeness.n_pairs
    if count > len(likeness.pairs):
        return say(
            "Of {n} submissions {count} pairs are alike; here are the {shown} that are most alike.",
            n=likeness.n_submissions,
            count=count,
            shown=len(likeness.pairs),
        )
    return say_many(
        "Of {n} submissions {count} pair is alike.",
        "Of {n} submissions {count} pairs are alike.",
        count,
        n=likeness.n_submissions,
    )


def _explained(likeness: Likeness) -> list[Phrase]:
    """Say what the numbers mean, and what they do not."""
    return [
        say(
            "No mark depends on this page. It says what is alike, not why: people who learn together, a common source "
            "and chance look the same. Look at both sides, and ask."
        ),
        say(
            "Names, comments, layout and the order of functions do not count; nor does code of the stubs, what "
            "several right answers of the course have, or what more than {count} others have too.",
            count=likeness.common_from,
        ),
        say(
            "A pair is here when, of what is left, at least {least} places and {share} of the shorter module are "
            "alike, or {least_in_all} places and {share_in_all} of the shorter submission. The numbers in parentheses "
            "count such places, each {length} characters long.",
            least=LEAST,
            share=percent(LEAST_SHARE),
            least_in_all=LEAST_IN_ALL,
            share_in_all=percent(LEAST_SHARE_IN_ALL),
            length=LENGTH,
        ),
    ]


def _module_alike(module: AlikeModules, title: str) -> Phrase:
    return say("{exercise} {share} ({shared})", exercise=title, share=percent(module.share), shared=module.shared)


def _lines(fragment: Fragment) -> list[Line]:
    """Give the lines that are alike and a few around them; where none is, the first lines of the module."""
    texts = visible_source(fragment.code)
    near = {line + step for line in fragment.lines for step in range(-AROUND, AROUND + 1)} or set(range(1, MOST_LINES))
    kept = [number for number in range(1, len(texts) + 1) if number in near][:MOST_LINES]
    return [
        Line(number, texts[number - 1][:LONGEST_LINE], number in fragment.lines, number - 1 != before)
        for before, number in zip([0, *kept], kept, strict=False)
    ]

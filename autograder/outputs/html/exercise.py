"""What a learner is told of one exercise, in one language, as the template needs it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.hints import HintError, read_hints
from autograder.language import Phrase, Reader, say, say_many
from autograder.outputs.grid import differing
from autograder.outputs.html.code import CodeView, code_view
from autograder.outputs.html.cutting import cut_lines
from autograder.outputs.html.heat import HeatMap, heat_maps
from autograder.outputs.terminal import ENDINGS, LONGEST_CALL, NOT_WRITTEN, REPEATS_FIGURES
from autograder.outputs.text import number, visible
from autograder.policy import allowed
from autograder.report import CheckResult, Diagnosis, ExerciseResult, Figure, Outcome

# Who has mended what these show looks into the others.
MOST_UNFOLDED = 4


@dataclass(frozen=True)
class CheckView:
    """A check: its title, and where it failed what is known of it; `bare` where that is nothing."""

    title: str
    passed: bool
    ending: str = ""
    sentence: str = ""
    counterexample: str = ""
    message: str = ""
    figures: Sequence[HeatMap] = ()
    unfolded: bool = True

    @property
    def bare(self) -> bool:
        """Whether there is nothing to show but the title."""
        return not (self.sentence or self.counterexample or self.message or self.figures)


@dataclass(frozen=True)
class DiagnosisView:
    """A mistake that explains what was seen."""

    explanation: str
    counterexample: str
    figures: Sequence[HeatMap]


@dataclass(frozen=True)
class HintView:
    """A hint, behind a heading."""

    heading: str
    text: str


@dataclass(frozen=True)
class ExerciseView:
    """An exercise as it is shown."""

    name: str
    title: str
    module: str
    anchor: str
    marks: str
    done: bool
    reason: str
    diagnosed: str
    diagnoses: Sequence[DiagnosisView]
    checks: Sequence[CheckView]
    code: CodeView | None
    hints: Sequence[HintView]

    @property
    def all_passed(self) -> bool:
        """Whether there is nothing to show but checks that passed, as there is for everybody who did it right."""
        own = self.reason or self.diagnoses or self.code or self.hints
        return self.done and not own and all(check.passed for check in self.checks)


class Words:
    """The words of a page that do not depend on what it shows."""

    def __init__(self, reader: Reader) -> None:
        self.passed = reader.read(say("passed"))
        self.failed = reader.read(say("failed"))
        self.differs = reader.read(say("differs from the other"))
        self.empty = reader.read(say("nothing: it has no entries"))
        self.not_graded = reader.read(say("Not graded yet"))
        self.language = LANGUAGE_NAMES.get(reader.language, reader.language)


LANGUAGE_NAMES = {"en": "English", "zh": "中文"}


class ExerciseViews:
    """Makes the views of a course's exercises in one language; contract and hints are read once."""

    def __init__(self, course: Course, language: str) -> None:
        self._course = course
        self._language = language
        self._reader = course.reader(language)
        self.words = Words(self._reader)
        self._contracts: dict[str, dict[str, str]] = {}
        self._hints: dict[str, tuple[str, ...]] = {}
        self._passed_views: dict[str, CheckView] = {}

    def view(self, result: ExerciseResult, *, anchored: bool = False) -> ExerciseView:
        """Give an exercise as the course's feedback policy lets it be shown; `anchored` where a page links to it."""
        told = allowed(result, self._course.feedback)
        unwritten = _is_unwritten(result)
        return ExerciseView(
            name=visible(result.name),
            title=self._title(result.name),
            module=visible(f"{result.name}.py"),
            anchor=f"{self._language}-{visible(result.name)}" if anchored else "",
            marks=self._marks(result),
            done=result.passed,
            reason=self._reason(told, unwritten=unwritten),
            diagnosed=self.say(_diagnosed(told.diagnosis)),
            diagnoses=tuple(self._diagnosis(diagnosis) for diagnosis in told.diagnosis),
            checks=self._checks(told) if not (told.reason or unwritten) and _has_titles(told) else (),
            code=None if unwritten else code_view(told, self._reader),
            hints=self._hints_for(told),
        )

    def say(self, said: Phrase | str) -> str:
        """Give a sentence in the language of the views."""
        return self._reader.read(said)

    def _title(self, name: str) -> str:
        try:
            exercise = self._course.exercise(name)
        except CourseError:
            # The report is of an exercise that the course no longer has.
            return visible(name)
        return exercise.titles.get(self._language, exercise.title)

    def _marks(self, result: ExerciseResult) -> str:
        parts = []
        if result.points:
            earned, points = number(result.earned), number(result.points)
            worth = (
                say("{earned} of {points} bonus points", earned=earned, points=points)
                if result.bonus
                else say("{earned} of {points} points", earned=earned, points=points)
            )
            parts.append(self.say(worth))
        if result.checks and not result.reason:
            n_passed = sum(check.outcome is Outcome.PASSED for check in result.checks)
            parts.append(self.say(say("{passed} of {count} checks passed", passed=n_passed, count=len(result.checks))))
        return " · ".join(parts)

    def _reason(self, result: ExerciseResult, *, unwritten: bool) -> str:
        if result.reason:
            return cut_lines(self.say(result.reason_phrase or result.reason))
        return self.say(NOT_WRITTEN) if unwritten else ""

    def _diagnosis(self, diagnosis: Diagnosis) -> DiagnosisView:
        explained = diagnosis.explanation
        text = explained.get(self._language) or next(iter(explained.values()), diagnosis.fault)
        figures = heat_maps(diagnosis.figures, self._language)
        shown = (figures and diagnosis.call) or diagnosis.counterexample
        return DiagnosisView(visible(text), cut_lines(shown), figures)

    def _checks(self, result: ExerciseResult) -> tuple[CheckView, ...]:
        """Give every check; a failed one says its sentence of the contract and draws its figures where they are new."""
        views: list[CheckView] = []
        said, drawn = {""}, [[], *(diagnosis.figures for diagnosis in result.diagnosis)]
        for check in result.checks:
            if check.outcome is Outcome.PASSED:
                views.append(self._passed(check.title))
                continue
            sentence = self._sentence(check.hint)
            figures = [] if check.figures in drawn else check.figures
            unfolded = sum(not view.passed for view in views) < MOST_UNFOLDED
            views.append(self._failed(check, "" if sentence in said else sentence, figures, unfolded=unfolded))
            said.add(sentence)
            drawn.append(figures)
        return tuple(views)

    def _passed(self, title: str) -> CheckView:
        if title not in self._passed_views:
            self._passed_views[title] = CheckView(self._check_title(title), passed=True)
        return self._passed_views[title]

    def _failed(self, check: CheckResult, sentence: str, figures: Sequence[Figure], *, unfolded: bool) -> CheckView:
        return CheckView(
            title=self._check_title(check.title),
            passed=False,
            ending=self.say(ENDINGS[check.outcome]) if check.outcome in ENDINGS else "",
            sentence=sentence,
            counterexample=cut_lines(check.call if _is_told_by_name(check) else check.counterexample),
            message=cut_lines(self._message(check, figures)),
            figures=heat_maps(figures, self._language),
            unfolded=unfolded,
        )

    def _message(self, check: CheckResult, drawn: Sequence[Figure]) -> str:
        if check.is_stub:
            return self.say(NOT_WRITTEN)
        if check.message.startswith(REPEATS_FIGURES) and differing(drawn):
            return ""
        return self.say(check.phrase or check.message)

    def _check_title(self, title: str) -> str:
        return visible(self._reader.title(title))

    def _sentence(self, hint: str) -> str:
        exercise, _, key = hint.partition(".")
        if not key:
            return ""
        if exercise not in self._contracts:
            self._contracts[exercise] = self._read_contract(exercise)
        return self._contracts[exercise].get(key, "")

    def _read_contract(self, exercise: str) -> dict[str, str]:
        file = self._course.paths.exercises / "contract" / f"{Path(exercise).name}.{self._language}.toml"
        try:
            read = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {key: visible(sentence) for key, sentence in read.items() if isinstance(sentence, str)}

    def _hints_for(self, result: ExerciseResult) -> tuple[HintView, ...]:
        """Give the staged hints, which learners have anyway, of an exercise that is not done but told about."""
        if result.passed or not (result.reason or _has_titles(result)):
            return ()
        if result.name not in self._hints:
            self._hints[result.name] = self._read_hints(result.name)
        texts = self._hints[result.name]
        return tuple(
            HintView(self.say(say("Hint {number} of {total}", number=position, total=len(texts))), visible(text))
            for position, text in enumerate(texts, 1)
        )

    def _read_hints(self, exercise: str) -> tuple[str, ...]:
        try:
            return read_hints(self._course.exercise(exercise), self._course, self._language)
        except (HintError, CourseError):
            return ()


def _is_unwritten(result: ExerciseResult) -> bool:
    """Say whether every check met a function that is still a stub: then a list of them tells nothing."""
    return bool(result.checks) and not result.reason and all(check.is_stub for check in result.checks)


def _has_titles(result: ExerciseResult) -> bool:
    return any(check.title for check in result.checks)


def _is_told_by_name(check: CheckResult) -> bool:
    """Say whether the call is read more easily with its arguments by their names."""
    return bool(check.call) and (bool(check.figures) or len(check.counterexample) > LONGEST_CALL)


def _diagnosed(diagnoses: Sequence[Diagnosis]) -> Phrase:
    return say_many("this mistake explains it:", "these mistakes together explain it:", len(diagnoses))

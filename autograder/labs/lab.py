"""`Lab`: what a notebook calls. It asks, keeps what was predicted, opens the answer, and tells the two apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.labs.asking import Asked, status
from autograder.labs.errors import PredictionMissing, PredictionUnfit
from autograder.labs.missed import Missed, judged
from autograder.labs.picture import Notice, Picture
from autograder.labs.predictions import FILE_NAME, Prediction, Predictions
from autograder.labs.questions import Choice, Number, Question, Row, Unfit, question_like
from autograder.language import Phrase, say

if TYPE_CHECKING:
    from autograder.labs.explorer import Explorer


class Lab:
    """One notebook: its name, its language, and the predictions that lie beside it.

    A cell asks (`choose`, `number`, `draw_row`), the next one begins with `needs`, which shows nothing until there is
    a prediction, and ends with `compare`, which tells what the prediction missed. `predict` records one without a
    form. Raises LabError, which IPython shows as one line.
    """

    def __init__(self, name: str, language: str = "en", folder: Path | None = None) -> None:
        self.language = language
        self.folder = folder or Path.cwd()
        self._questions: dict[str, Question] = {}
        self._predictions = Predictions(self.folder, name, language)
        # Read once, so that a damaged file is spoken of at the top and not in the middle.
        count = len(self._predictions.all())
        self._tell_of_damage()
        self._note(say("Your predictions are kept in {file}, beside this notebook, and sent nowhere.", file=FILE_NAME))
        if count:
            self._note(say("Some are there from last time; lab.forget() begins this lab anew."))

    def choose(self, name: str, **options: str) -> Asked:
        """Ask for one of the sentences, each under its letter: `choose("sum", a="It is 1", b="It is less")`."""
        return self._ask(name, Choice(options))

    def number(self, name: str, unit: str = "") -> Asked:
        """Ask for a number."""
        return self._ask(name, Number(unit))

    def draw_row(self, name: str, keys: int) -> Asked:
        """Ask for a row of weights, to be drawn as bars, for so many keys."""
        return self._ask(name, Row(keys))

    def predict(self, name: str, value: Any) -> None:
        """Record a prediction without a form: a letter, a number, or a list of weights.

        PredictionUnfit where the question of that name asks for something else.
        """
        kept = self._record(name, value)
        self._note(status(kept))

    def needs(self, *names: str) -> None:
        """Let the cell go on only where these predictions were given; PredictionMissing where one was not."""
        for name in names:
            if self._predictions.of(name) is None:
                self._tell_of_damage()
                line = say(
                    "First your prediction: answer the question “{name}” above, press Record, and run this cell again.",
                    name=name,
                )
                raise PredictionMissing(line, self.language)
        for name in names:
            self._predictions.open(name)

    def compare(self, name: str, result: Any) -> None:
        """Tell what the prediction missed: `result` is the letter, the number or the row that came out."""
        self.needs(name)
        prediction = self._predictions.of(name)
        assert prediction is not None
        missed = self._missed(name, prediction, result)
        self._show(Notice(self._in_language(missed.sentences), "right" if missed.right else "missed"))

    def reveal(self, name: str) -> None:
        """Open the answer of a question of the self-test: whether the given one was right, and why."""
        from autograder.labs.answers import answers

        self.needs(name)
        known = answers(self.language)[name]
        told = self._judged(name, known.right)
        self._show(Notice(self._in_language(told.sentences), "right" if told.right else "missed"))
        self._show(Notice((known.why,)))

    def score(self) -> None:
        """Tell how many questions of the self-test were answered, and how many rightly."""
        from autograder.labs.answers import answers

        known = answers(self.language)
        given = [name for name, kept in self._predictions.all().items() if kept.opened and name in known]
        right = sum(self._judged(name, known[name].right).right for name in given)
        self._note(
            say(
                "{right} right of {given} answered; there are {all} questions.",
                right=right,
                given=len(given),
                all=len(known),
            )
        )

    def forget(self) -> None:
        """Drop this lab's predictions, so that every question can be answered anew."""
        self._predictions.forget()
        self._note(say("The predictions of this lab are gone; run its cells from the top."))

    def own(self, name: str) -> Callable[..., Any]:
        """Give the learner's own function where it passes its public tests, else a library's, and say which."""
        from autograder.labs.own_code import choose

        chosen = choose(name, self.folder)
        self._note(chosen.said)
        return chosen.function

    def heat_map(
        self,
        weights: Any,
        allowed: Any = None,
        *,
        title: str = "",
        bars: bool = False,
        queries: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        """Show weights `(n_queries, n_keys)` with row sums; `allowed` says what may be read."""
        from autograder.labs.heat_map import draw_heat_map

        self._show(
            draw_heat_map(weights, self.language, allowed=allowed, title=title, bars=bars, queries=queries, keys=keys)
        )

    def explore(
        self, query: Any, key: Any, value: Any, *, softmax: Callable[..., Any], causal_mask: Callable[..., Any]
    ) -> Explorer:
        """Give the heat map with its switches: mask, temperature, and every cell of Q, K, V and the mask."""
        from autograder.labs.explorer import AttentionState, Explorer

        return Explorer(AttentionState(query, key, value, softmax, causal_mask), self.language)

    def chart(self, draw: Callable[..., Picture], *arguments: Any, **options: Any) -> None:
        """Show one of the charts of `autograder.labs.charts`, in the language of the notebook."""
        self._show(draw(*arguments, language=self.language, **options))

    def _ask(self, name: str, question: Question) -> Asked:
        self._questions[name] = question
        asked = Asked(
            name, question, self.language, self._predictions.of(name), lambda value: self._record(name, value)
        )
        self._tell_of_damage()
        return asked

    def _record(self, name: str, value: Any) -> Prediction:
        question = self._questions.get(name)
        try:
            fitting = (question or question_like(value)).fitting(value)
        except Unfit as error:
            raise PredictionUnfit(error.phrase, self.language) from None
        return self._predictions.record(name, fitting)

    def _judged(self, name: str, right: str | float) -> Missed:
        prediction = self._predictions.of(name)
        question = self._questions.get(name) or question_like(right)
        options = question.options if isinstance(question, Choice) else {}
        try:
            given = question.fitting(None if prediction is None else prediction.value)
        except Unfit as error:
            raise PredictionUnfit(error.phrase, self.language) from None
        assert not isinstance(given, list)
        return judged(given, right, options)

    def _missed(self, name: str, prediction: Prediction, result: Any) -> Missed:
        question = self._questions.get(name) or question_like(result)
        try:
            return question.missed(prediction.value, result)
        except Unfit as error:
            raise PredictionUnfit(error.phrase, self.language) from None

    def _tell_of_damage(self) -> None:
        if self._predictions.said is not None:
            self._note(self._predictions.said)
            self._predictions.said = None

    def _note(self, phrase: Phrase) -> None:
        self._show(Notice(self._in_language([phrase])))

    def _in_language(self, phrases: Sequence[Phrase]) -> tuple[str, ...]:
        return tuple(phrase.in_(self.language) for phrase in phrases)

    def _show(self, shown: Notice | Picture) -> None:
        from IPython.display import display

        display(shown)

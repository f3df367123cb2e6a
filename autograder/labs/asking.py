"""How a prediction is asked for: widgets where the front end has them, and a line that says what to type where not."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from autograder.labs.errors import LabError
from autograder.labs.missed import named, shown, shown_row
from autograder.labs.picture import Notice
from autograder.labs.predictions import Prediction, Value
from autograder.labs.questions import Choice, Number, Question, Row
from autograder.language import Phrase, say

Record = Callable[[Value], Prediction]


class Asked:
    """What a question's cell shows: in JupyterLab a form, elsewhere its choices as text and how to answer."""

    def __init__(self, name: str, question: Question, language: str, kept: Prediction | None, record: Record) -> None:
        self._name = name
        self._question = question
        self._language = language
        self._kept = kept
        self._record = record

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        notice = Notice(tuple(self.lines()))
        bundle: dict[str, Any] = {"text/plain": "\n".join(notice.sentences)}
        form = self.form()
        if form is None:
            return {**bundle, "text/html": notice.html()}
        # The pair that ipywidgets makes also holds a plain text that only a programmer would read.
        widget = form._repr_mimebundle_()
        return {**{kind: data for kind, data in widget.items() if kind != "text/plain"}, **bundle}

    def lines(self) -> list[str]:
        """Say the choices, what is recorded, and how one answers by typing."""
        call = f'lab.predict("{self._name}", {self._question.example()})'
        typed = say("Without a form here: type {call} in a cell, with your own value, and run it.", call=call)
        return [*self._choices(), self._status(self._kept), typed.in_(self._language)]

    def _choices(self) -> list[str]:
        options = self._question.options if isinstance(self._question, Choice) else {}
        return [named(letter, options).in_(self._language) for letter in options]

    def _status(self, kept: Prediction | None) -> str:
        return status(kept).in_(self._language)

    def form(self) -> Any:
        """Give the widgets, or None where ipywidgets is not installed."""
        try:
            import ipywidgets
        except ImportError:
            return None
        value = None if self._kept is None else self._kept.value
        entry, read = _entry(ipywidgets, self._question, value, self._language)
        button = ipywidgets.Button(description=say("Record").in_(self._language), button_style="primary", icon="pencil")
        told = ipywidgets.HTML(escape(self._status(self._kept)))
        if self._kept is not None and self._kept.opened:
            _disable(entry, button)
        button.on_click(lambda _: self._press(read, entry, button, told))
        return ipywidgets.VBox([entry, ipywidgets.HBox([button, told])])

    def _press(self, read: Callable[[], Any], entry: Any, button: Any, told: Any) -> None:
        if (value := read()) is None:
            told.value = say("Choose first, then record.").in_(self._language)
            return
        try:
            kept = self._record(value)
        except LabError as error:
            # It quotes what was typed, and this is HTML.
            told.value = escape(error.line)
            return
        told.value = escape(self._status(kept))
        if kept.opened:
            _disable(entry, button)


def status(kept: Prediction | None) -> Phrase:
    """Say what is recorded, if anything is."""
    if kept is None:
        return say("No prediction yet.")
    facts = {"value": value_said(kept.value)}
    if kept.opened:
        return say("Your prediction was {value}; its answer has been opened, so it stays.", **facts)
    return say("Recorded: {value}. Now run the next cell.", **facts)


def value_said(value: Value) -> Phrase | str:
    """Show a prediction in a sentence."""
    if isinstance(value, str):
        return named(value, {})
    return shown_row(value) if isinstance(value, list) else shown(value)


def _entry(ipywidgets: Any, question: Question, value: Any, language: str) -> tuple[Any, Callable[[], Any]]:
    if isinstance(question, Choice):
        return _choice_entry(ipywidgets, question, value, language)
    if isinstance(question, Number):
        return _number_entry(ipywidgets, question, value)
    return _row_entry(ipywidgets, question, value, language)


def _choice_entry(ipywidgets: Any, question: Choice, value: Any, language: str) -> tuple[Any, Callable[[], Any]]:
    buttons = ipywidgets.RadioButtons(
        options=[(named(letter, question.options).in_(language), letter) for letter in question.options],
        value=value if value in question.options else None,
        layout=ipywidgets.Layout(width="max-content", max_width="100%"),
    )
    return buttons, lambda: buttons.value


def _number_entry(ipywidgets: Any, question: Number, value: Any) -> tuple[Any, Callable[[], Any]]:
    # Text and not a number field: an empty one is no prediction, and 0 is one.
    field = ipywidgets.Text(
        value=shown(value).replace(",", "") if isinstance(value, float) else "",
        layout=ipywidgets.Layout(width="140px"),
    )

    def read() -> Any:
        text = field.value.strip().replace(",", "").replace("，", "")
        try:
            return float(text) if text else None
        except ValueError:
            return text

    return ipywidgets.HBox([field, ipywidgets.Label(question.unit)]), read


def _row_entry(ipywidgets: Any, question: Row, value: Any, language: str) -> tuple[Any, Callable[[], Any]]:
    drawn = value if isinstance(value, list) and len(value) == question.n_keys else [0.0] * question.n_keys
    sliders = [
        ipywidgets.FloatSlider(
            value=weight, min=0.0, max=1.0, step=0.01, orientation="vertical", description=str(key),
            readout_format=".2f", layout=ipywidgets.Layout(height="150px", width="64px"),
        )
        for key, weight in enumerate(drawn)
    ]  # fmt: skip
    total = ipywidgets.Label()

    def tell_sum(_: object = None) -> None:
        drawn = shown(sum(slider.value for slider in sliders))
        total.value = say("row sum: {total}", total=drawn).in_(language)

    for slider in sliders:
        slider.observe(tell_sum, "value")
    tell_sum()
    # A row that nobody has touched is no prediction.
    return ipywidgets.VBox([ipywidgets.HBox(sliders), total]), lambda: _touched([slider.value for slider in sliders])


def _touched(row: list[float]) -> list[float] | None:
    return row if any(row) else None


def _disable(*widgets: Any) -> None:
    for widget in widgets:
        if hasattr(widget, "disabled"):
            widget.disabled = True
        _disable(*getattr(widget, "children", ()))

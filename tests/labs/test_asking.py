"""The form in which a prediction is given, and what a front end without widgets shows in its place."""

import sys
from html import escape, unescape

import pytest

from autograder.labs.errors import PredictionMissing

BEGINS_ANEW = "Your prediction was {}; its answer has been opened, so it stays."


def parts(form):
    """Give the widgets of a form by what they are."""
    entry, (button, status) = form.children[0], form.children[1].children
    return entry, button, status


def sliders(entry):
    return entry.children[0].children


def test_a_choice_is_recorded_by_its_button(lab):
    entry, button, status = parts(lab.choose("sum", a="It is 1", b="It is less").form())
    assert [label for label, _ in entry.options] == ["(a) It is 1", "(b) It is less"]
    assert (entry.value, status.value) == (None, "No prediction yet.")

    entry.value = "b"
    with pytest.raises(PredictionMissing):
        lab.needs("sum")
    button.click()

    assert status.value == "Recorded: (b). Now run the next cell."
    lab.needs("sum")


def test_pressing_before_choosing_records_nothing(lab):
    _, button, status = parts(lab.choose("sum", a="It is 1", b="It is less").form())
    button.click()

    assert status.value == "Choose first, then record."
    with pytest.raises(PredictionMissing):
        lab.needs("sum")


@pytest.mark.parametrize(("typed", "kept"), [("16", 16.0), (" 1,024 ", 1024.0), ("0", 0.0), ("1e3", 1000.0)])
def test_a_number_is_recorded_as_it_is_typed(lab, typed, kept):
    entry, button, _ = parts(lab.number("entries", unit="MiB").form())
    entry.children[0].value = typed
    button.click()

    assert lab._predictions.of("entries").value == kept
    assert entry.children[1].value == "MiB"


@pytest.mark.parametrize(
    ("typed", "line"),
    [("", "Choose first, then record."), ("many", "'many' is not a number"), ("nan", "nan is not a number")],
)
def test_what_is_not_a_number_is_said_beside_the_button(lab, typed, line):
    entry, button, status = parts(lab.number("entries").form())
    entry.children[0].value = typed
    button.click()

    assert unescape(status.value) == line
    assert lab._predictions.of("entries") is None


def test_a_row_is_drawn_with_sliders_that_tell_their_sum(lab):
    entry, button, status = parts(lab.draw_row("weights", keys=2).form())
    assert entry.children[1].value == "row sum: 0"
    button.click()
    assert status.value == "Choose first, then record.", "a row that nobody touched is no prediction"

    sliders(entry)[0].value, sliders(entry)[1].value = 0.7, 0.3
    assert entry.children[1].value == "row sum: 1"
    button.click()

    assert lab._predictions.of("weights").value == [0.7, 0.3]


def test_the_form_shows_what_was_recorded_and_is_closed_once_the_answer_is_open(lab):
    lab.draw_row("weights", keys=2)
    lab.predict("weights", [0.7, 0.3])
    entry, button, _ = parts(lab.draw_row("weights", keys=2).form())
    assert ([slider.value for slider in sliders(entry)], button.disabled) == ([0.7, 0.3], False)

    lab.needs("weights")
    entry, button, status = parts(lab.draw_row("weights", keys=2).form())

    assert button.disabled
    assert all(slider.disabled for slider in sliders(entry))
    assert status.value == BEGINS_ANEW.format("[0.7, 0.3]")


def test_a_form_left_open_over_the_answer_cannot_change_the_prediction(lab):
    entry, button, status = parts(lab.choose("sum", a="It is 1", b="It is less").form())
    entry.value = "a"
    button.click()
    lab.needs("sum")

    entry.value = "b"
    button.click()

    assert status.value == BEGINS_ANEW.format("(a)")
    assert lab._predictions.of("sum").value == "a"
    assert button.disabled


def test_a_front_end_without_widgets_shows_the_choices_and_what_to_type(lab):
    bundle = lab.choose("sum", a="It is 1", b="It is less")._repr_mimebundle_()

    assert bundle["text/plain"].splitlines() == [
        "(a) It is 1",
        "(b) It is less",
        "No prediction yet.",
        "Without a form here: type lab.predict(\"sum\", 'a') in a cell, with your own value, and run it.",
    ]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_without_ipywidgets_the_text_is_all_there_is(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    bundle = lab.number("entries")._repr_mimebundle_()

    assert bundle.keys() == {"text/plain", "text/html"}
    assert "lab.predict(&quot;entries&quot;, 0.5)" in bundle["text/html"]


def test_what_is_typed_cannot_bring_markup_of_its_own(lab):
    entry, button, status = parts(lab.number("entries").form())
    entry.children[0].value = "<img src=x onerror=alert(1)>"
    button.click()

    assert status.value == "&#x27;&lt;img src=x onerror=alert(1)&gt;&#x27; is not a number"


def test_what_a_file_of_predictions_holds_cannot_bring_markup_either(lab):
    lab.predict("sum", "<img src=x>")
    entry, button, status = parts(lab.choose("sum", a="It is 1").form())
    assert status.value == "Recorded: (&lt;img src=x&gt;). Now run the next cell."
    lab.needs("sum")
    entry.value = "a"
    button.click()

    assert status.value == escape(BEGINS_ANEW.format("(<img src=x>)"))

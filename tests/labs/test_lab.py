"""A lab asks, shows nothing until there is a prediction, keeps it, and tells what it missed."""

import pytest

from autograder.labs import Lab
from autograder.labs.errors import PredictionMissing, PredictionUnfit


def test_the_answer_waits_for_the_prediction_and_says_how_to_give_it(lab, shown):
    lab.number("entries")

    with pytest.raises(PredictionMissing) as caught:
        lab.needs("entries")

    line = "First your prediction: answer the question “entries” above, press Record, and run this cell again."
    assert str(caught.value) == line
    assert caught.value._render_traceback_() == [line], "IPython shows this in place of a traceback"
    assert shown == []


def test_a_cell_that_needs_two_predictions_opens_neither_before_both_are_there(lab):
    lab.choose("first", a="Yes", b="No")
    lab.number("second")
    lab.predict("first", "a")
    with pytest.raises(PredictionMissing, match="second"):
        lab.needs("first", "second")

    lab.predict("first", "b")
    lab.predict("second", 1)
    lab.needs("first", "second")
    lab.compare("first", "b")

    # It could still be changed, since no answer had been shown.
    assert lab._predictions.of("first").value == "b"


def test_after_the_answer_the_prediction_stays(lab, shown):
    lab.number("entries")
    lab.predict("entries", 4)
    lab.needs("entries")
    lab.predict("entries", 16)
    lab.compare("entries", 16)

    assert shown == [
        "Recorded: 4. Now run the next cell.",
        "Your prediction was 4; its answer has been opened, so it stays.",
        "You predicted 4; it is 16, 4 times as much.",
    ]


def test_comparing_alone_does_not_give_the_answer_away(lab, shown):
    with pytest.raises(PredictionMissing):
        lab.compare("entries", 16)

    assert shown == []


def test_predictions_outlive_the_kernel_and_the_words_of_a_choice_need_its_cell(tmp_path, lab, shown):
    lab.choose("sum", a="It is 1", b="It is less")
    lab.predict("sum", "a")
    again = Lab("lab", folder=tmp_path)
    shown.clear()

    again.compare("sum", "b")

    assert shown == ["You predicted (a).\nWhat happened is (b)."]


def test_forgetting_begins_the_lab_anew(lab, shown):
    lab.number("entries")
    lab.predict("entries", 4)
    lab.needs("entries")
    lab.forget()

    with pytest.raises(PredictionMissing):
        lab.needs("entries")
    lab.predict("entries", 16)
    assert shown[-1] == "Recorded: 16. Now run the next cell."


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("d", "'d' is none of the choices: a, b"),
        (1, "1 is none of the choices: a, b"),
        (None, "None is none of the choices: a, b"),
    ],
)
def test_a_choice_that_is_not_offered_is_refused(lab, value, line):
    lab.choose("sum", a="It is 1", b="It is less")

    with pytest.raises(PredictionUnfit) as caught:
        lab.predict("sum", value)
    assert str(caught.value) == line


@pytest.mark.parametrize("value", ["many", "16", True, float("nan"), float("inf"), [1], None, 10**400])
def test_what_is_not_a_number_is_refused(lab, value):
    lab.number("entries")

    with pytest.raises(PredictionUnfit) as caught:
        lab.predict("entries", value)
    assert str(caught.value) == f"{value!r} is not a number"


@pytest.mark.parametrize("value", [[1.0], [1.0, 0.0, 0.0], [1.5, 0.0], [-0.1, 1.0], "ab", 1.0, [None, 1], ["1", 0]])
def test_what_is_not_a_row_of_weights_is_refused(lab, value):
    lab.draw_row("weights", keys=2)

    with pytest.raises(PredictionUnfit) as caught:
        lab.predict("weights", value)
    assert str(caught.value) == f"{value!r} is not a row of 2 weights from 0 to 1"


def test_a_prediction_of_another_kind_from_an_older_notebook_is_one_line(tmp_path, lab):
    lab.predict("entries", "a")
    later = Lab("lab", folder=tmp_path)
    later.number("entries")

    with pytest.raises(PredictionUnfit, match=r"^'a' is not a number$"):
        later.compare("entries", 16)


def test_a_damaged_file_is_spoken_of_at_the_top(tmp_path, shown):
    (tmp_path / "predictions.json").write_text("{")

    Lab("lab", "zh", folder=tmp_path)

    assert shown[0] == f"{tmp_path / 'predictions.json'} 已损坏，改名为 predictions.damaged-1.json 留着，预测从头记起"
    assert shown[1] == "你的预测记在本 notebook 旁边的 predictions.json 里，不会发到任何地方。"


def test_the_answer_of_a_question_is_revealed_after_one_was_given(lab, shown):
    lab.number("entries")
    with pytest.raises(PredictionMissing):
        lab.reveal("entries")
    lab.predict("entries", 4)

    lab.reveal("entries")

    assert shown[1] == "You answered 4; right is 16."
    assert shown[2].startswith("The matrix has T · T entries")


def test_the_score_counts_what_was_answered_and_what_was_right(lab, shown):
    lab.number("entries")
    lab.choose("roles", a="One of them does syntax", b="They read with different projections", c="The same")
    lab.number("variance")
    lab.predict("entries", 16)
    lab.predict("roles", "a")
    lab.predict("variance", 1)
    lab.reveal("entries")
    lab.reveal("roles")
    lab.score()

    assert shown[-1] == "1 right of 2 answered; there are 16 questions."

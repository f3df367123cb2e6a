"""What a prediction missed is computed from the prediction and the result."""

import pytest

from autograder.labs.missed import judged, missed_choice, missed_number, missed_row, shown

OPTIONS = {"a": "It grows", "b": "It stays"}


def told(missed, language="en"):
    return [sentence.in_(language) for sentence in missed.sentences]


def test_a_right_choice_is_confirmed_in_its_own_words():
    missed = missed_choice("b", "b", OPTIONS)

    assert missed.right
    assert told(missed) == ["You predicted (b) It stays, and so it is."]


def test_a_wrong_choice_stands_beside_what_happened():
    missed = missed_choice("a", "b", OPTIONS)

    assert not missed.right
    assert told(missed) == ["You predicted (a) It grows.", "What happened is (b) It stays."]
    assert told(missed, "zh") == ["你预测的是（a）It grows。", "实际发生的是（b）It stays。"]


def test_a_choice_whose_words_are_not_known_is_told_by_its_letter():
    assert told(missed_choice("a", "b", {})) == ["You predicted (a).", "What happened is (b)."]


@pytest.mark.parametrize(
    ("predicted", "measured", "sentence"),
    [
        (16, 16, "You predicted 16; it is 16. That is right."),
        (0.67, 0.6698, "You predicted 0.67; it is 0.67. That is right."),
        (4, 16, "You predicted 4; it is 16, 4 times as much."),
        (64, 16, "You predicted 64; it is 16: your number is 4 times as large."),
        (0.5, 0.6, "You predicted 0.5; it is 0.6, 0.1 more."),
        (0.6, 0.5, "You predicted 0.6; it is 0.5, 0.1 less."),
        (0, 0.3, "You predicted 0; it is 0.3, 0.3 more."),
        (-2, 2, "You predicted -2; it is 2, 4 more."),
        (0.5, 2.2e-16, "You predicted 0.5; it is 0, 0.5 less."),
        (0, 2.2e-16, "You predicted 0; it is 0. That is right."),
        (1000, 1_048_576, "You predicted 1,000; it is 1,048,576, 1,049 times as much."),
    ],
)
def test_a_number_is_told_as_a_factor_or_as_a_difference(predicted, measured, sentence):
    missed = missed_number(predicted, measured)

    assert told(missed) == [sentence]
    assert missed.right == sentence.endswith("right.")


def test_a_drawn_row_is_told_key_by_key_the_largest_difference_first():
    missed = missed_row([0.25, 0.25, 0.3, 0.2], [0.0, 0.5, 0.3, 0.2])

    assert not missed.right
    assert told(missed) == [
        "You drew [0.25, 0.25, 0.3, 0.2]; the row is [0, 0.5, 0.3, 0.2].",
        "Key 0 gets 0.25 less than you drew.",
        "Key 1 gets 0.25 more than you drew.",
    ]


def test_a_drawn_row_that_does_not_add_up_to_one_is_told_so():
    assert "Your row adds up to 1.5; weights that softmax makes add up to 1." in told(missed_row([1, 0.5], [1, 0]))


def test_a_drawn_row_close_to_the_real_one_is_right():
    missed = missed_row([0.67, 0.33], [0.6698, 0.3302])

    assert missed.right
    assert told(missed)[-1] == "No weight is off by more than 0.02."


def test_a_row_of_nan_is_not_what_anybody_drew():
    assert not missed_row([1.0, 0.0], [float("nan"), float("nan")]).right


@pytest.mark.parametrize(
    ("given", "right", "sentence"),
    [
        ("b", "b", "You answered (b) It stays. That is right."),
        ("a", "b", "You answered (a) It grows; right is (b) It stays."),
        (16.0, 16.0, "You answered 16. That is right."),
        (4.0, 16.0, "You answered 4; right is 16."),
    ],
)
def test_an_answer_of_the_self_test_is_judged(given, right, sentence):
    judgement = judged(given, right, OPTIONS)

    assert told(judgement) == [sentence]
    assert judgement.right == (given == right)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1, "1"), (0.25, "0.25"), (1 / 3, "0.333"), (1e-4, "1.0e-04"), (1e-15, "0"), (2**24, "16,777,216")],
)
def test_numbers_have_as_many_digits_as_one_reads(number, text):
    assert shown(number) == text

"""Predictions lie beside the notebook, are written whole, and stay once their answer was opened."""

import json

import pytest
from filelock import FileLock

from autograder.labs.errors import LabError
from autograder.labs.predictions import FILE_NAME, Predictions


@pytest.fixture
def predictions(tmp_path):
    return Predictions(tmp_path, "01_one_row")


def test_a_prediction_is_kept_beside_the_notebook(predictions, tmp_path):
    predictions.record("weights", [0.5, 0.5])

    assert json.loads((tmp_path / FILE_NAME).read_text()) == {
        "schema": 1,
        "labs": {"01_one_row": {"weights": {"value": [0.5, 0.5], "opened": False}}},
    }
    assert Predictions(tmp_path, "01_one_row").of("weights").value == [0.5, 0.5]


@pytest.mark.parametrize("value", ["b", 16.0, [1.0, 0.0]])
def test_each_kind_comes_back_as_it_was(predictions, value):
    predictions.record("it", value)

    assert predictions.of("it").value == value


def test_a_prediction_can_be_changed_until_its_answer_is_opened(predictions):
    predictions.record("it", "a")
    predictions.record("it", "b")
    predictions.open("it")

    assert predictions.record("it", "c").value == "b"
    assert predictions.of("it").value == "b"


def test_what_was_not_predicted_cannot_be_opened(predictions, tmp_path):
    assert predictions.open("it") is None
    assert not (tmp_path / FILE_NAME).exists()


def test_two_notebooks_keep_their_predictions_apart_in_one_file(predictions, tmp_path):
    other = Predictions(tmp_path, "02_causal_heat_map")
    predictions.record("it", "a")
    other.record("it", "b")
    predictions.record("more", 1.0)
    other.forget()

    assert (predictions.of("it").value, predictions.of("more").value) == ("a", 1.0)
    assert other.of("it") is None


@pytest.mark.parametrize(
    "damage",
    [b"{", b"", b"\xff\xfe", b"[" * 100_000, b'{"schema": 1, "labs": {"x": {"y": {"value": {}}}}}', b'{"schema": 2}'],
    ids=["cut", "empty", "not text", "nested", "another kind", "another schema"],
)
def test_a_damaged_file_is_kept_aside_and_said(predictions, tmp_path, damage):
    (tmp_path / FILE_NAME).write_bytes(damage)
    (tmp_path / "predictions.damaged-1.json").write_text("an earlier one")

    predictions.record("it", "a")

    assert str(predictions.said) == (
        f"{tmp_path / FILE_NAME} was damaged; it is kept as predictions.damaged-2.json, and predictions begin anew"
    )
    assert (tmp_path / "predictions.damaged-2.json").read_bytes() == damage
    assert (tmp_path / "predictions.damaged-1.json").read_text() == "an earlier one"
    assert predictions.of("it").value == "a"


def test_a_file_that_cannot_be_read_is_one_line(predictions, tmp_path):
    (tmp_path / FILE_NAME).mkdir()

    with pytest.raises(LabError) as caught:
        predictions.record("it", "a")

    assert str(caught.value) == f"{tmp_path / FILE_NAME} cannot be read: Is a directory"


def test_a_prediction_that_cannot_be_written_is_one_line_in_the_language_of_the_notebook(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autograder.report.os.fsync", full)

    with pytest.raises(LabError, match=r"^预测没有记下来：.*predictions\.json cannot be written: No space left"):
        Predictions(tmp_path, "lab", "zh").record("it", "a")
    assert Predictions(tmp_path, "lab").of("it") is None


def test_a_folder_that_cannot_be_written_is_one_line_that_says_what_to_do(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("autograder.labs.predictions.FileLock.acquire", refused)

    with pytest.raises(LabError) as caught:
        Predictions(tmp_path, "lab").record("it", "a")
    assert str(caught.value) == (
        f"{tmp_path} cannot be written: Permission denied; copy the labs to a folder of your own"
    )


def test_a_file_that_another_notebook_holds_is_waited_for_and_then_said(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.labs.predictions.SECONDS_TO_WAIT", 0.1)
    with (
        FileLock(tmp_path / ".predictions.json.lock"),
        pytest.raises(LabError, match="by another notebook; run the cell"),
    ):
        Predictions(tmp_path, "lab").record("it", "a")

    assert Predictions(tmp_path, "lab").record("it", "a").value == "a"

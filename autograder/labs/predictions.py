"""What was predicted, kept in a file beside the notebooks: read anew each time, since two notebooks may be open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Union

import msgspec
from filelock import FileLock, Timeout

from autograder.labs.errors import LabError
from autograder.language import SOURCE, Phrase, say
from autograder.report import ReportError, write_whole

FILE_NAME = "predictions.json"
SCHEMA: Literal[1] = 1
SECONDS_TO_WAIT = 10

Value = Union[str, float, list[float]]  # noqa: UP007  (msgspec reads it at run time, as Python 3.11 does)


class Prediction(msgspec.Struct):
    """What was predicted; `opened` once the answer was asked for, after which it stays as it is."""

    value: Value
    opened: bool = False


class _Kept(msgspec.Struct):
    schema: Literal[1] = SCHEMA
    labs: dict[str, dict[str, Prediction]] = {}


class Predictions:
    """The predictions of one lab. `said` is what had to be done about a damaged file, once."""

    def __init__(self, folder: Path, lab: str, language: str = SOURCE) -> None:
        self.path = folder / FILE_NAME
        self.said: Phrase | None = None
        self._lab = lab
        self._language = language

    def of(self, name: str) -> Prediction | None:
        """Give what was predicted, if anything was."""
        return self._read().labs.get(self._lab, {}).get(name)

    def all(self) -> dict[str, Prediction]:
        """Give every prediction of this lab, by name."""
        return self._read().labs.get(self._lab, {})

    def record(self, name: str, value: Value) -> Prediction:
        """Keep a prediction, and give what is kept: the earlier one where its answer was opened already."""
        with self._locked():
            kept = self._read()
            predictions = kept.labs.setdefault(self._lab, {})
            if name not in predictions or not predictions[name].opened:
                predictions[name] = Prediction(value)
                self._write(kept)
            return predictions[name]

    def open(self, name: str) -> Prediction | None:
        """Mark that the answer is being looked at; gives the prediction, or None where there is none to mark."""
        with self._locked():
            kept = self._read()
            prediction = kept.labs.get(self._lab, {}).get(name)
            if prediction is not None and not prediction.opened:
                prediction.opened = True
                self._write(kept)
            return prediction

    def forget(self) -> None:
        """Drop the predictions of this lab, and of no other."""
        with self._locked():
            kept = self._read()
            if kept.labs.pop(self._lab, None) is not None:
                self._write(kept)

    def _read(self) -> _Kept:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_Kept)
        except FileNotFoundError:
            return _Kept()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise LabError(say("{path} cannot be read: {why}", path=self.path, why=why), self._language) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.said = self._put_aside()
            return _Kept()

    def _put_aside(self) -> Phrase:
        """Give a damaged file another name, so that nothing is lost and the lab goes on."""
        number = 1
        while (aside := self.path.with_name(f"predictions.damaged-{number}.json")).exists():
            number += 1
        try:
            self.path.rename(aside)
        except OSError as error:
            why = error.strerror or type(error).__name__
            line = say("{path} is damaged and cannot be renamed: {why}; move it away", path=self.path, why=why)
            raise LabError(line, self._language) from None
        return say(
            "{path} was damaged; it is kept as {aside}, and predictions begin anew", path=self.path, aside=aside.name
        )

    def _write(self, kept: _Kept) -> None:
        try:
            write_whole(self.path, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
        except ReportError as error:
            line = say("the prediction is not kept: {why}", why=error)
            raise LabError(line, self._language) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Beside the file, and hidden.
        lock = FileLock(self.path.with_name(f".{FILE_NAME}.lock"), timeout=SECONDS_TO_WAIT)
        try:
            lock.acquire()
        except Timeout:
            line = say("{path} is being written by another notebook; run the cell again", path=self.path)
            raise LabError(line, self._language) from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            line = say("{folder} cannot be written: {why}; copy the labs to a folder of your own",
                       folder=self.path.parent, why=why)  # fmt: skip
            raise LabError(line, self._language) from None
        try:
            yield
        finally:
            lock.release()

"""The record of one graded submission: every output is made from it, and other programs read it."""

from __future__ import annotations

import enum
import hashlib
import os
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.language import Phrase, as_phrase, say

SCHEMA = 1
NOT_HANDED_IN = say("not handed in")

# File systems allow 255 bytes a name, some that encrypt only 143.
LONGEST_NAME = 120
# Windows opens a device for these, whatever follows the first dot.
DEVICE_NAMES = frozenset(["con", "prn", "aux", "nul", *(port + n for port in ("com", "lpt") for n in "0123456789¹²³")])


class ReportError(Exception):
    """A file that is no report, or one that cannot be written; one line that says what is wrong."""


class Outcome(enum.StrEnum):
    """How one check ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    ERROR = "error"


class Figure(msgspec.Struct):
    """A small array to be drawn as a grid: a mask, weights, or plain numbers, its axes named.

    `cells` are as they are read ("1" and "0" in a mask; "0.25", "nan", "-inf"), row by row.
    """

    title: str
    kind: Literal["mask", "weights", "numbers"]
    rows: str
    columns: str
    cells: list[list[str]]


class Diagnosis(msgspec.Struct):
    """A fault that explains what was seen, in each language of the course, and the smallest input that shows it.

    `call` is the call as it is written beside the figures, with the arrays that are drawn by their names.
    """

    fault: str
    explanation: dict[str, str]
    counterexample: str = ""
    figures: list[Figure] = []
    call: str = ""


class CheckResult(msgspec.Struct):
    """What became of one check; `hint` is the id of a hint text, `seconds` are those of the learner's calls.

    `message` is in English; `phrase` is the same for those who read another language, where it has more than facts.
    `call` is the call as it is written beside the figures, with the arrays that are drawn by their names.
    `line` is that of the learner's module where it raised, from 1, and 0 where it did not.
    """

    name: str
    title: str
    outcome: Outcome
    points: float
    earned: float
    message: str = ""
    hint: str = ""
    counterexample: str = ""
    seconds: float = 0.0
    phrase: Phrase | None = None
    figures: list[Figure] = []
    call: str = ""
    line: int = 0

    @property
    def is_stub(self) -> bool:
        """Whether the check met a function that is not written yet."""
        return self.outcome is Outcome.FAILED and "NotImplementedError" in self.message


class ExerciseResult(msgspec.Struct):
    """The checks of one exercise; `reason` says why it earned nothing where no single check can.

    `reason` is in English; `reason_phrase` is the same for those who read another language. `public` is set where the
    checks are the tests that lie in the learner's own folder, which carry no points. `line` is that of the learner's
    module which the reason is about, or 0. `code` is the module where something was lost, so that it can be shown
    beside what became of it; "" where nothing was, or there was none.
    """

    name: str
    points: float
    earned: float
    reason: str = ""
    diagnosis: list[Diagnosis] = []
    checks: list[CheckResult] = []
    bonus: bool = False
    public: bool = False
    line: int = 0
    code: str = ""
    reason_phrase: Phrase | None = None

    def lose(self, said: Phrase | str) -> None:
        """Keep a reason, in English and, where it was said in a sentence, for other languages."""
        self.reason_phrase = as_phrase(said)
        self.reason = str(self.reason_phrase or said)

    @property
    def left_out(self) -> bool:
        """Whether it is a bonus exercise that was not handed in, which nobody has to."""
        return self.bonus and self.reason == str(NOT_HANDED_IN)

    @property
    def passed(self) -> bool:
        """Whether the exercise is done: checks were run and every one of them passed."""
        outcomes = {check.outcome for check in self.checks}
        return not self.reason and outcomes == {Outcome.PASSED}


class Report(msgspec.Struct, kw_only=True):
    """One submission, graded or not; `points` are those of the core exercises, `earned` counts the bonus too.

    `handed_in` is a moment in ISO 8601 with its offset from UTC, and None where nothing tells; `late` is None where
    nobody set a date. `notes` say what was chosen among several files or attempts. `reason` is in English, and
    `reason_phrase` the same for those who read another language.
    """

    schema: int = SCHEMA
    submission: str
    status: Literal["graded", "not_graded"]
    reason: str = ""
    fingerprint: str = ""
    isolation: list[str] = []
    points: float
    earned: float = 0.0
    seconds: float = 0.0
    exercises: list[ExerciseResult] = []
    extra_files: list[str] = []
    learner_name: str = ""
    handed_in: str | None = None
    late: bool | None = None
    notes: list[str] = []
    reason_phrase: Phrase | None = None

    @property
    def graded(self) -> bool:
        """Whether the marks mean anything; a submission that was not graded has none, not even zero."""
        return self.status == "graded"

    @property
    def core_earned(self) -> float:
        """What the core exercises earned, of `points`."""
        return sum(exercise.earned for exercise in self.exercises if not exercise.bonus)

    @property
    def bonus_earned(self) -> float:
        """What the warm-up and stretch exercises earned on top."""
        return sum(exercise.earned for exercise in self.exercises if exercise.bonus)


class _Versioned(msgspec.Struct):
    schema: int


def alphabetical(id: str) -> tuple[str, str]:
    """Give the key that sorts ids as a class list does, small and capital letters together."""
    return id.casefold(), id


def to_json(report: Report) -> bytes:
    """Give the report as indented JSON in UTF-8; text that has no UTF-8 form is written as escapes."""
    return indented(report)


def indented(value: Any) -> bytes:
    """Give anything that msgspec can encode as indented JSON in UTF-8, what has no UTF-8 form as escapes."""
    return msgspec.json.format(on_one_line(value), indent=2) + b"\n"


def on_one_line(value: Any) -> bytes:
    """Give anything that msgspec can encode as JSON without a line end, what has no UTF-8 form as escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def from_json(data: bytes) -> Report:
    """Read a report back; ReportError with one line when `data` is not one, or one of another schema."""
    try:
        schema = msgspec.json.decode(data, type=_Versioned).schema
        if schema != SCHEMA:
            raise ReportError(f"a report of schema {schema}, where this version reads schema {SCHEMA}: grade again")
        return msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"not a report: {error}") from None


def write_report(report: Report, folder: Path) -> Path:
    """Write the report whole or not at all, into `folder` (made where missing), and give its path."""
    path = folder / report_name(report.submission)
    write_whole(path, to_json(report))
    return path


def reports_in(folder: Path) -> Iterator[Report]:
    """Read the reports of a folder one after the other; ReportError names the one that cannot be read."""
    if not folder.is_dir():
        raise ReportError(f"{folder}: there is no such folder; grade first, or name the folder of the marks")
    for path in sorted(folder.glob("*.json")):
        try:
            yield from_json(path.read_bytes())
        except ReportError as error:
            raise ReportError(f"{path}: {error}") from None
        except OSError as error:
            raise ReportError(f"{path}: cannot be read: {error.strerror}") from None


def report_name(id: str) -> str:
    """Give a file name for any id: the id itself where every platform takes it, else a likeness and a hash.

    Two ids never share a name. Ids that differ only in upper and lower case have names that differ only so,
    which is why `find_submissions` refuses such pairs.
    """
    if _is_plain(id):
        return f"{id}.json"
    digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # Without dots, since the part before the first one must not name a device.
    plain = "".join(letter if _is_plain_letter(letter) else "_" for letter in unicodedata.normalize("NFC", id))
    likeness = plain.replace(".", "_")
    start = likeness.encode()[: LONGEST_NAME - len(digest)].decode(errors="ignore").strip(" .-")
    return f"{start}~{digest}.json"


def write_whole(path: Path, data: bytes) -> None:
    """Leave at `path` either what was there or all of `data`, also after a power cut; ReportError where it fails."""
    partial = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        why = error.strerror or error
        raise ReportError(say("{file} cannot be written: {why}", file=path, why=why)) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself last, where the platform can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems know no such call; the file itself is safe by then.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_plain(id: str) -> bool:
    return (
        bool(id)
        and len(id.encode("utf-8", "surrogatepass")) <= LONGEST_NAME
        and all(map(_is_plain_letter, id))
        and id == unicodedata.normalize("NFC", id)
        and id == id.strip(" .").lstrip("-")
        and id.partition(".")[0].strip().casefold() not in DEVICE_NAMES
    )


def _is_plain_letter(letter: str) -> bool:
    """Say whether a letter, mark or digit of any script, or punctuation that no file system or shell minds."""
    return letter in " -_.,@+" or unicodedata.category(letter)[0] in "LMN"


def _encodable(value: Any) -> Any:
    """Give the same tree with every text encodable as UTF-8."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [_encodable(item) for item in value]
        case dict():
            return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value

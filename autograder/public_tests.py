"""The public tests of an exercise, run as learners run them: by plain pytest in their folder."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import msgspec

from autograder.language import Phrase, say
from autograder.public_runners import Fresh, Runner
from autograder.report import CheckResult, ExerciseResult, Figure, Outcome

# By name: it is loaded in pytest's process alone.
WITNESS = "autograder.witness"
# Where a module lies is known to whoever wrote it.
_OWN_FILE = re.compile(r'(?<=File ")[^"\n]*[/\\]([^"/\\\n]+)(?=", line)')


def has_public_tests(folder: Path, exercise: str) -> bool:
    """Say whether the folder has public tests for the exercise."""
    return _tests_of(folder, exercise).is_file()


def run_public_tests(
    folder: Path, exercise: str, seconds: float, runner: Runner | None = None, *, course: Path | None = None
) -> ExerciseResult:
    """Run the exercise's public tests in `folder` for at most `seconds`; they carry no points.

    The result has a reason instead of checks when pytest could not run them or did not end in time. `runner` is how
    pytest is started, by default anew; what it raises when it is stopped is passed on. The file of the
    `course` says what the axes of arrays are called: with it a failure has figures.
    """
    result = ExerciseResult(name=exercise, points=0, earned=0, public=True)
    with TemporaryDirectory() as scratch:
        record = Path(scratch, "results.xml")
        try:
            status = (runner or Fresh()).run(folder, _arguments(folder, exercise, record, course), seconds)
        except subprocess.TimeoutExpired:
            result.lose(say("stopped after {seconds} s: is there a loop that never ends?", seconds=f"{seconds:g}"))
            return result
        cases = _cases(record)
    if not cases:
        result.lose(
            say("pytest ended with status {status} and no results: does the module end the program?", status=status)
        )
    elif (failure := cases[0].find("error[@message='collection failure']")) is not None:
        result.line = _own_line(failure.text or "", exercise)
        error = _placed(_last_error(failure.text or ""), folder / f"{exercise}.py", result.line)
        result.lose(say("Python cannot import {file}:\n{error}", file=f"{exercise}.py", error=error))
    else:
        result.checks = [_check(case, exercise) for case in cases]
    return result


def _tests_of(folder: Path, exercise: str) -> Path:
    return folder / "public_tests" / f"test_{exercise}.py"


def _arguments(folder: Path, exercise: str, record: Path, course: Path | None) -> list[str]:
    # The last of these walks five times through all objects at the end, which with torch takes as long as the tests.
    options = ["-q", "--color=no", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", WITNESS]
    options += [f"--junitxml={record.absolute()}", f"--rootdir={folder.absolute()}"]
    options += [f"--course-of-witness={course.absolute()}"] if course else []
    return [*options, str(_tests_of(folder, exercise).absolute())]


def _cases(record: Path) -> list[ElementTree.Element]:
    try:
        return list(ElementTree.parse(record).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def _check(case: ElementTree.Element, exercise: str) -> CheckResult:
    """Turn pytest's record of one test into a check; a test without a failure or an error in it has passed."""
    name = case.get("name", "")
    trouble = next((element for element in case if element.tag in ("failure", "error")), None)
    seen = {each.get("name", ""): each.get("value", "") for each in case.iter("property")}
    said = _said(seen, trouble)
    return CheckResult(
        name=name,
        title=name.removeprefix("test_").replace("_", " "),
        outcome=Outcome.PASSED if trouble is None else Outcome.FAILED,
        points=0,
        earned=0,
        message=str(said),
        hint=f"{exercise}.{seen['contract']}" if "contract" in seen else "",
        counterexample=seen.get("call", ""),
        seconds=float(case.get("time", 0)),
        phrase=said if isinstance(said, Phrase) else None,
        figures=msgspec.json.decode(seen.get("figures", "[]"), type=list[Figure]),
        call=seen.get("beside", ""),
        line=0 if trouble is None else _own_line(trouble.text or "", exercise),
    )


def _own_line(traceback: str, exercise: str) -> int:
    """Give the line of the learner's module that comes last in pytest's traceback, or 0 where there is none."""
    module = rf"(?:[^\s\"]*[/\\])?{re.escape(exercise)}\.py"
    lines = re.findall(rf'^{module}:(\d+):|^E +File "{module}", line (\d+)', traceback, re.MULTILINE)
    return int("".join(lines[-1])) if lines else 0


def _said(seen: dict[str, str], trouble: ElementTree.Element | None) -> Phrase | str:
    """Give the words of the witness, and those of pytest where it was not there, as for an error before the test."""
    if trouble is None:
        return ""
    if "said" in seen:
        return msgspec.json.decode(seen["said"], type=Phrase | str)
    return trouble.get("message", "")


def _placed(error: str, module: Path, line: int) -> Phrase | str:
    """Add the learner's line to an error that does not show it itself, as one of syntax does."""
    lines = module.read_text(encoding="utf-8", errors="replace").splitlines()
    if not 0 < line <= len(lines) or f'File "{module.name}"' in error:
        return error
    text = lines[line - 1].strip()
    return say("{error}, on line {line} of {file}: {text}", error=error, line=line, file=module.name, text=text)


def _last_error(report: str) -> str:
    """Give the error that kept the tests from being collected, from pytest's lines that begin with E.

    They keep what they are indented by: an error of syntax points at a place in the line above.
    """
    lines = [line[1:] for line in report.splitlines() if line.startswith("E ")]
    return _OWN_FILE.sub(r"\1", textwrap.dedent("\n".join(lines))).strip("\n") or report.strip()

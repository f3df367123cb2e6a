"""What `attend check` does: find the learner's modules, try them, and say what is missing."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from autograder.course import FILE_NAME, Course, Exercise, libraries_of
from autograder.downloads.model import Wanted
from autograder.language import Phrase, say
from autograder.own_code import with_code
from autograder.public_runners import Runner
from autograder.public_tests import has_public_tests, run_public_tests
from autograder.report import ExerciseResult
from autograder.submission import SubmissionError, has_module, read_submission

# On a slow disk PyTorch takes that long to be there the first time, and public tests begin with it.
LOADING_SECONDS = 60


def learner_folder(chosen: Path | None, course: Course) -> Path:
    """Give the folder with the learner's modules: `chosen`, else this one, ./exercises, or the course's own.

    SubmissionError where the chosen one does not exist, or none of them holds a module.
    """
    if chosen is not None and not chosen.is_dir():
        raise SubmissionError(
            say("{folder}: there is no such folder; --in names the folder that holds your modules", folder=chosen)
        )
    names = [exercise.name for exercise in course.exercises]
    for folder in [chosen] if chosen else [Path.cwd(), Path.cwd() / "exercises", course.paths.exercises]:
        if folder == chosen or has_module(folder, names):
            return folder
    modules = ", ".join(f"{name}.py" for name in names)
    raise SubmissionError(
        say("there is no exercise module here ({modules}); go to their folder or name it with --in", modules=modules)
    )


def check(folder: Path, exercises: Sequence[Exercise], course: Course) -> list[ExerciseResult]:
    """Try the exercises in `folder`, each by its hidden suite where the kit has it, else by the public tests."""
    hidden = [exercise for exercise in exercises if is_hidden(exercise, course)]
    results = {result.name: result for result in _graded(folder, hidden, course)}
    return [results.get(exercise.name) or tried_in_public(folder, exercise, course) for exercise in exercises]


def is_hidden(exercise: Exercise, course: Course) -> bool:
    """Say whether this copy of the kit can grade the exercise, or only knows its public tests."""
    return course.suite_of(exercise).is_file() and course.solution_of(exercise).is_file()


def contract_sentence(hint: str, course: Course, language: str = "en") -> str:
    """Quote the sentence of the contract that a hint id such as "softmax.shift" points at, or give nothing.

    `language` is one of `autograder.course.LANGUAGES`; what the contract does not say in it is not quoted.
    """
    exercise, _, key = hint.partition(".")
    file = course.paths.exercises / "contract" / f"{exercise}.{language}.toml"
    try:
        sentence = tomllib.loads(file.read_text(encoding="utf-8")).get(key)
    except (OSError, ValueError):
        return ""
    return say("The contract says: {sentence}", sentence=sentence).in_(language) if sentence else ""


def _graded(folder: Path, exercises: Sequence[Exercise], course: Course) -> list[ExerciseResult]:
    """Grade without insisting on the jail: it is the learner's own code on the learner's own machine."""
    if not exercises:
        return []
    # It loads NumPy, which public tests need in their own process alone.
    from autograder.sandbox.starting import starter_for_one_check

    submission = read_submission(folder, Wanted({exercise.name: exercise.functions for exercise in exercises}))
    # Before anything else is loaded: its processes hold what this one does now.
    with closing(starter_for_one_check(libraries_of(exercises))) as starter:
        from autograder.grade import GradingError, grade

        of_these = msgspec.structs.replace(course, exercises=tuple(exercises))
        report = grade(submission, of_these, trust=True, starter=starter)
    if not report.graded:
        raise GradingError(report.reason_phrase or report.reason)
    for result in report.exercises:
        if result.name not in submission.modules and result.name not in submission.problems:
            result.lose(missing(folder, result.name))
    return report.exercises


def tried_in_public(folder: Path, exercise: Exercise, course: Course, runner: Runner | None = None) -> ExerciseResult:
    """Try an exercise by its public tests; `runner` is how pytest is started, by default anew."""
    result = ExerciseResult(name=exercise.name, points=0, earned=0, public=True)
    if not has_module(folder, [exercise.name]):
        result.lose(missing(folder, exercise.name))
    elif not has_public_tests(folder, exercise.name):
        tests = folder / "public_tests" / f"test_{exercise.name}.py"
        result.lose(say("there is no {tests} to try it with", tests=tests))
    else:
        try:
            source = (folder / f"{exercise.name}.py").read_bytes()
        except OSError as error:
            module = folder / f"{exercise.name}.py"
            result.lose(say("{name} cannot be read: {why}", name=module, why=error.strerror))
        else:
            tried = _forbidden(exercise, source) or _run_public_tests(folder, exercise, course, runner)
            result = with_code(tried, {exercise.name: source})
    result.bonus = exercise.bonus
    return result


def _run_public_tests(folder: Path, exercise: Exercise, course: Course, runner: Runner | None) -> ExerciseResult:
    file = course.root / FILE_NAME
    seconds = course.limits.exercise_seconds + (LOADING_SECONDS if "torch" in exercise.libraries else 0)
    return run_public_tests(folder, exercise.name, seconds, runner, course=file if file.is_file() else None)


def missing(folder: Path, exercise: str) -> Phrase:
    """Say that the module of an exercise is not there."""
    return say("there is no {file} in {folder}", file=f"{exercise}.py", folder=folder)


def _forbidden(exercise: Exercise, source: bytes) -> ExerciseResult | None:
    """Give the result of a module that names what it may not use; one that cannot be parsed is left to the tests."""
    from autograder.sandbox.banned import scan

    try:
        found = scan(source, exercise.banned) if exercise.banned else ()
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not found:
        return None
    from autograder.grade import forbidden

    result = ExerciseResult(name=exercise.name, points=0, earned=0, public=True, line=found[0].line)
    result.lose(forbidden(found, source))
    return result

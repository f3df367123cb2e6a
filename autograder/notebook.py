"""In a notebook: `check("softmax")` tries the module beside it, and `%%check softmax` the cell itself.

    from autograder.notebook import check
    check("softmax")

Importing this in a notebook makes `%%check` known there, and so does `%load_ext autograder.notebook`. Either shows what
`attend check` says, in HTML where that can be shown. Learner code runs in another process, never in the kernel; a cell
with `%%check` runs in the kernel too, as it would without.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import Course, CourseError, Exercise, find_course, load_course
from autograder.language import SOURCE, LanguageError, Phrase, chosen_language, said_by, say
from autograder.outputs.html.notebook import Feedback, Trouble
from autograder.practice import is_hidden, learner_folder
from autograder.progress import digests_of, record_check
from autograder.public_tests import has_public_tests
from autograder.report import ExerciseResult
from autograder.submission import SubmissionError
from autograder.tried import CheckFailed, tried_apart

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["check", "load_ipython_extension"]

KNOWN = (CourseError, SubmissionError, LanguageError, CheckFailed)
USAGE = "%%check EXERCISE [--lang en|zh]"


def check(exercise: str, lang: str = "") -> None:
    """Try `<exercise>.py` in this notebook's folder (or `exercises` in it, or the course's), and show what is wrong.

    `lang` is "en" or "zh"; without it the language is that of the user's locale, else the course's first.
    """
    _show(_told(lambda course, language: _check_file(course, exercise, language), lang))


def check_cell(line: str, cell: str) -> None:
    """Run a cell as usual, and try what stands in it as the module of the exercise that `line` names."""
    try:
        words = shlex.split(line)
    except ValueError:
        # A quotation that does not end.
        words = []
    lang = _taken_option(words, "--lang")
    if len(words) != 1:
        return _show(Trouble(say("write {usage}", usage=USAGE), SOURCE))
    shell = _shell()
    ran = shell.run_cell(cell) if shell else None
    if ran is not None and isinstance(ran.error_in_exec, KeyboardInterrupt):
        return None
    return _show(_told(lambda course, language: _check_source(course, words[0], language, cell), lang))


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Make `%%check` known: what `%load_ext autograder.notebook` calls."""
    # The library's decorator hides the signature from a checker of types.
    ipython.register_magic_function(check_cell, "cell", "check")  # type: ignore[arg-type]


def _told(checked: Any, lang: str) -> Feedback | Trouble:
    """Give the feedback, or one line that says why there is none."""
    language = SOURCE
    try:
        course = load_course(find_course())
        language = chosen_language(lang, course.languages)
        feedback: Feedback = checked(course, language)
    except KNOWN as error:
        return Trouble(said_by(error), language)
    return feedback


def _check_file(course: Course, name: object, language: str) -> Feedback:
    if not isinstance(name, str):
        # The function itself, most likely.
        call = f'check("{course.exercises[0].name}")'
        raise CheckFailed(say("put the name of the exercise in quotes, as in {call}", call=call))
    exercise = course.exercise(name)
    folder = learner_folder(None, course)
    digests = digests_of(folder, [exercise.name])
    result = tried_apart(find_course(), folder, exercise.name)
    kept = record_check(folder, [result], digests)
    said = [say("Checked: {file}", file=folder / f"{exercise.name}.py"), *_defined_here(exercise), *kept]
    return Feedback(result, course, language, said)


def _check_source(course: Course, name: str, language: str, cell: str) -> Feedback:
    exercise = course.exercise(name)
    with _as_module(exercise, cell, _home(course), course) as folder:
        result = tried_apart(find_course(), folder, exercise.name)
    said = [say("Checked: this cell by itself, as {file}", file=f"{name}.py"), *_defined_elsewhere(result)]
    return Feedback(result, course, language, said)


def _home(course: Course) -> Path:
    """Give the folder whose public tests and other modules stand beside a cell."""
    try:
        return learner_folder(None, course)
    except SubmissionError:
        return course.paths.exercises


@contextmanager
def _as_module(exercise: Exercise, cell: str, home: Path, course: Course) -> Iterator[Path]:
    """Give a folder in which the cell is the exercise's module, beside what the learner has of the others."""
    if not is_hidden(exercise, course) and not has_public_tests(home, exercise.name):
        home = course.paths.exercises
        if not has_public_tests(home, exercise.name):
            raise CheckFailed(say("there is no {tests} to try it with", tests=course.public_tests_of(exercise)))
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(home.glob("*.py")) + sorted(home.glob("*.ini")):
            shutil.copy(path, scratch)
        if (home / "public_tests").is_dir():
            shutil.copytree(home / "public_tests", Path(scratch, "public_tests"))
        Path(scratch, f"{exercise.name}.py").write_text(plain_python(cell), encoding="utf-8")
        yield Path(scratch)


def plain_python(cell: str) -> str:
    """Give a cell as a module has it: lines that only a notebook understands, `%time` or `!ls`, do nothing.

    Every line keeps its number.
    """
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError):
        return re.sub(r"^([ \t]*)([%!?].*)$", r"\1pass  # \2", cell, flags=re.MULTILINE)
    return cell


def _defined_here(exercise: Exercise) -> Iterator[Phrase]:
    """Say so where the notebook defines the exercise's function itself, which a check of the file does not see."""
    names = [name for name in exercise.functions if _is_of_the_notebook(_namespace().get(name))]
    if names:
        yield say(
            "{name} is defined in this notebook too, and that one was not checked: "
            "put %%check {exercise} at the top of its cell",
            name=names[0],
            exercise=exercise.name,
        )


def _is_of_the_notebook(value: Any) -> bool:
    return callable(value) and getattr(value, "__module__", "") == "__main__"


def _defined_elsewhere(result: ExerciseResult) -> Iterator[Phrase]:
    """Say so where the cell lacks a name that another cell of the notebook has."""
    messages = [result.reason, *(check.message for check in result.checks)]
    missing = [name for message in messages for name in re.findall(r"name '(\w+)' is not defined", message)]
    for name in dict.fromkeys(missing):
        if name in _namespace():
            yield say(
                "{name} is known in this notebook, but not in this cell: import or define it here, "
                "for the cell is a module of its own",
                name=name,
            )


def _taken_option(words: list[str], name: str) -> str:
    """Take `--lang zh` or `--lang=zh` out of the words, and give its value."""
    for position, word in enumerate(words):
        if word == name and position + 1 < len(words):
            value = words[position + 1]
            del words[position : position + 2]
            return value
        if word.startswith(f"{name}="):
            del words[position]
            return word.partition("=")[2]
    return ""


def _show(shown: Feedback | Trouble) -> None:
    """Show it at once, also from the middle of a cell; outside of a notebook in words."""
    if _shell() is None:
        print(repr(shown))
        return
    from IPython.display import display

    display(shown)


def _namespace() -> Mapping[str, Any]:
    shell = _shell()
    return shell.user_ns if shell else {}


def _shell() -> InteractiveShell | None:
    """Give the shell that this runs in, where it is one; nothing is imported where there is none."""
    import sys

    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()


if (_running_in := _shell()) is not None:
    load_ipython_extension(_running_in)

"""The leak check on the course itself: what learners rightfully get passes, and what is hidden is known again."""

import ast
import io
import json
import re
import textwrap
import tokenize
import zipfile
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.release.hidden import Passage, hidden_passages
from autograder.release.leaks import LeakCheck, LeakError

REPOSITORY = Path(__file__).parents[2]
COURSE = load_course(REPOSITORY)
PASSAGES = hidden_passages(COURSE)
SOLUTIONS = [passage for passage in PASSAGES if passage.what.startswith("the solution of")]
HIDDEN_CHECKS = [passage for passage in PASSAGES if re.match(r"the hidden checks of \w+ \(test_", passage.what)]
MISTAKES = [passage for passage in PASSAGES if passage.what.startswith("the mistakes of")]
KINDS = (".py", ".md", ".toml", ".ini", ".ipynb")
GIVEN = sorted(path for path in COURSE.paths.exercises.rglob("*") if path.suffix in KINDS)

each_solution = pytest.mark.parametrize("passage", SOLUTIONS, ids=lambda passage: passage.what[16:])


@pytest.fixture(scope="module")
def check():
    return LeakCheck(PASSAGES)


def given_away(check, name, text):
    content = text if isinstance(text, bytes) else text.encode()
    return {leak.passage.what for leak in check.leaks_in(name, content)}


def without_comments(text):
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(f"{text}\n").readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(line for line in lines if line.strip())


def renamed(text):
    """Give every name that the passage could call otherwise another name, modules too."""
    tree = ast.parse(text)
    free = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(dir(__builtins__))
    free |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    free -= set(__builtins__ if isinstance(__builtins__, dict) else dir(__builtins__))
    for number, name in enumerate(sorted(free, key=len, reverse=True)):
        text = re.sub(rf"(?<![.\w]){name}\b(?!\s*=[^=\s])", f"thing_{number}", text)
    return text


def notebook(source):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def packed(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


PASTED = {
    "as it is": lambda text: text,
    "indented": lambda text: textwrap.indent(text, " " * 7),
    "with tabs": lambda text: text.replace("    ", "\t"),
    "without comments": without_comments,
    "in other line breaks": lambda text: without_comments(text).replace("(", "(\n").replace(", ", ",\n"),
    "as Python writes it": lambda text: ast.unparse(ast.parse(text)),
    "with other names": renamed,
    "with Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "as a comment": lambda text: textwrap.indent(text, "# ", lambda line: True),
    "in a docstring": lambda text: f'def f():\n    """Like this:\n\n{textwrap.indent(text, " " * 8)}\n    """\n',
    "as an example": lambda text: textwrap.indent(text, ">>> ", lambda line: True),
    "in a Markdown block": lambda text: f"## Traps\n\nDon't forget:\n\n```python\n{text}\n```\n\nIt isn't hard.\n",
    "in a Markdown quotation": lambda text: textwrap.indent(f"```python\n{text}\n```", "> ", lambda line: True),
    "in a notebook": notebook,
    "in a TOML hint": lambda text: f"hints = [{json.dumps('Try this:' + chr(10) + text)}]\n",
    "in a TOML hint of several lines": lambda text: f"hints = ['''\nTry this:\n{text}\n''']\n",
    "in a Python string": lambda text: f"SOURCE = {text!r}\n",
}


@each_solution
@pytest.mark.parametrize("way", PASTED)
def test_a_solution_is_known_again(check, passage, way):
    exercise = passage.what.removeprefix("the solution of ").partition(" ")[0]

    assert any(
        what.startswith(f"the solution of {exercise}") for what in given_away(check, "file", PASTED[way](passage.text))
    )


@each_solution
def test_a_solution_put_back_into_its_stub_is_known_again(check, passage):
    stub = COURSE.stub_of(COURSE.exercise(passage.what.split()[3].rstrip(","))).read_text()
    body = textwrap.indent(passage.text, "    ")

    assert given_away(check, "stub.py", stub.replace("    raise NotImplementedError", body, 1))


@pytest.mark.parametrize("passage", HIDDEN_CHECKS, ids=lambda passage: passage.what[21:])
def test_a_hidden_check_is_known_again(check, passage):
    text = textwrap.indent(renamed(passage.text), "    ")
    # One line of calls and strings, like many.
    is_too_plain = passage.function == "test_three_tokens_each_read_themselves_and_what_came_before"

    found = given_away(check, "public_tests/test_x.py", f"def test_x(learner, reference):\n{text}\n")
    assert bool(found) != is_too_plain


def test_nearly_every_function_of_the_mistakes_is_known_again(check):
    missed = [each.what for each in MISTAKES if not given_away(check, "lab.py", textwrap.indent(each.text, "    "))]

    assert len(missed) < 0.1 * len(MISTAKES), missed


def test_half_a_solution_is_enough(check):
    (attention,) = [each for each in SOLUTIONS if each.what == "the solution of attention"]
    lines = attention.text.split("\n")

    assert given_away(check, "lab.py", "\n".join(lines[: len(lines) // 2]))
    assert given_away(check, "lab.py", "\n".join(lines[len(lines) // 2 :]))


def test_a_right_answer_in_another_style_is_known_again(check):
    loops = (REPOSITORY / "tests" / "variants" / "causal_mask" / "slice_of_each_row.py").read_text()

    assert "slice_of_each_row.py, a right answer to causal_mask (causal_mask)" in given_away(check, "lab.py", loops)


@pytest.mark.parametrize("file", GIVEN, ids=lambda path: path.name)
def test_what_learners_rightfully_get_gives_nothing_away(check, file):
    assert given_away(check, file.name, file.read_bytes()) == set()


def test_the_program_gives_nothing_away(check):
    program = REPOSITORY / "autograder"
    hidden = {COURSE.paths.suites, COURSE.paths.faults, program / "stand_ins", program / "skeleton"}
    files = [path for path in program.rglob("*.py") if not hidden & set(path.parents)]

    assert len(files) > 50
    assert {path: found for path in files if (found := given_away(check, path.name, path.read_bytes()))} == {}


def test_prose_and_lists_of_names_give_nothing_away(check):
    text = "The query, the key, the value and the mask, (query, key, value, allowed), and so on, and so on.\n" * 50

    assert given_away(check, "README.md", text) == set()


@pytest.mark.parametrize("names", [("bundle.zip",), ("outer.zip", "inner.whl")], ids=["once", "twice"])
def test_a_solution_in_an_archive_is_named_with_its_place(check, names):
    content = (REPOSITORY / "solutions" / "softmax.py").read_bytes()
    inside = "autograder/x.py"
    for name in reversed(names):
        content, inside = packed(**{inside: content}), name

    with pytest.raises(LeakError) as caught:
        check.insist({names[0]: content})
    assert str(caught.value).startswith(
        f"{'/'.join(names)}/autograder/x.py, line 24: gives away the solution of softmax;"
    )


def test_the_first_file_that_gives_something_away_is_named_with_the_line(check):
    text = "# A lab\n\nTry it.\n\n```python\n" + SOLUTIONS[0].text + "\n```\n"

    with pytest.raises(LeakError) as caught:
        check.insist({"a.md": b"nothing", "b.md": text.encode(), "c.md": text.encode()})
    assert re.fullmatch(
        r"b\.md, line \d: gives away the solution of \w+.*; take it out, nothing was written", str(caught.value)
    )


def test_text_in_utf16_is_read(check):
    assert given_away(check, "notes.txt", SOLUTIONS[0].text.encode("utf-16"))


def test_what_is_too_short_to_tell_is_not_looked_for():
    passage = Passage("the solution of double", "return x * 2", solves=True)

    assert list(LeakCheck([passage]).leaks_in("lab.py", b"def f(x):\n    return x * 2\n")) == []

"""Every sentence of a contract is checked, and every check keeps to the contract."""

import ast
import doctest
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from autograder.course import Exercise, load_course

COURSE = load_course(Path(__file__).parents[2])
# A ban is enforced for the whole exercise, from course.toml, and not by a check of the suite.
ENFORCED_BY_THE_COURSE = {"not_allowed"}
IMPORTABLE = {"autograder", "numpy", "torch", "pytest", "hypothesis", *sys.stdlib_module_names}
# Written the same in every language, as code or not.
EXACT = re.compile(r"`[^`]*`|\b(?:\w+Error|\w+Warning|NaN|True|False|b?float\d+|\d+(?:\.\d+)?(?:e\d+)?)\b", re.ASCII)
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Names of things stand alone in Chinese text; three words in a row are a piece of English.
ENGLISH = re.compile(r"[A-Za-z]+(?: [A-Za-z]+){2}")
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+|https?://\S+|[\w.-]+\.\w+/\S+")

each_exercise = pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
each_language = pytest.mark.parametrize("language", COURSE.languages)


def sentences(exercise: Exercise, language: str = "en") -> dict[str, str]:
    return tomllib.loads(COURSE.contract_of(exercise, language).read_text(encoding="utf-8"))


def instructions(exercise: Exercise, language: str = "en") -> str:
    return COURSE.instructions_of(exercise, language).read_text(encoding="utf-8")


def folded(text: str) -> str:
    return " ".join(text.split())


def suite(exercise: Exercise) -> ast.Module:
    return ast.parse(COURSE.suite_of(exercise).read_text(encoding="utf-8"))


def checks(exercise: Exercise) -> dict[str, dict[str, list]]:
    """For each check its decorators: `{"test_...": {"points": [2], "promise": ["shift", "finite"], ...}}`."""
    functions = [node for node in suite(exercise).body if isinstance(node, ast.FunctionDef)]
    return {node.name: decorators(node) for node in functions if node.name.startswith("test_")}


def decorators(function: ast.FunctionDef) -> dict[str, list]:
    calls = [node for node in function.decorator_list if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    ours = [call for call in calls if call.func.id in ("points", "promise", "hint", "seen_in")]
    return {call.func.id: [ast.literal_eval(argument) for argument in call.args] for call in ours}


def promised(exercise: Exercise) -> set[str]:
    return {key for marks in checks(exercise).values() for key in marks.get("promise", [])}


@each_exercise
def test_every_sentence_of_the_contract_has_a_check(exercise):
    assert sorted(set(sentences(exercise)) - promised(exercise) - ENFORCED_BY_THE_COURSE) == []


@each_exercise
def test_every_promise_of_a_check_is_a_sentence_of_the_contract(exercise):
    assert sorted(promised(exercise) - set(sentences(exercise))) == []


@each_exercise
def test_what_is_not_allowed_is_said_exactly_where_the_course_bans_something(exercise):
    assert ("not_allowed" in sentences(exercise)) == bool(exercise.banned)


@each_language
@each_exercise
def test_the_instructions_say_every_sentence_word_for_word(exercise, language):
    text = folded(instructions(exercise, language))
    assert [key for key, sentence in sentences(exercise, language).items() if folded(sentence) not in text] == []


@each_language
@each_exercise
def test_no_two_keys_say_the_same(exercise, language):
    counts = Counter(folded(sentence) for sentence in sentences(exercise, language).values())
    assert [sentence for sentence, count in counts.items() if count > 1] == []


@each_language
@each_exercise
def test_the_instructions_name_the_points(exercise, language):
    points = {"en": f"{exercise.points:g} points", "zh": f"，{exercise.points:g} 分"}
    assert points[language] in instructions(exercise, language).splitlines()[0]


@each_exercise
def test_the_points_of_the_checks_add_up_to_those_of_the_course(exercise):
    assert sum(marks["points"][0] for marks in checks(exercise).values()) == exercise.points


@each_exercise
def test_every_check_has_points_a_promise_and_a_hint_of_its_own_exercise(exercise):
    for name, marks in checks(exercise).items():
        assert marks.keys() >= {"points", "promise", "hint"}, name
        assert marks["points"][0] > 0, name
        assert len(marks["promise"]) > 0, name
        assert re.fullmatch(rf"{exercise.name}\.[a-z_]+", marks["hint"][0]), name


@each_exercise
def test_every_report_that_a_check_names_can_be_looked_up(exercise):
    reports = [report for marks in checks(exercise).values() for report in marks.get("seen_in", [])]
    assert [report for report in reports if not REPORT.fullmatch(report)] == []


@each_exercise
def test_no_check_hides_another_of_the_same_name(exercise):
    counts = Counter(node.name for node in ast.walk(suite(exercise)) if isinstance(node, ast.FunctionDef))
    assert [name for name, count in counts.items() if name.startswith("test_") and count > 1] == []


@each_exercise
def test_a_suite_needs_nothing_but_the_checks_and_the_libraries(exercise):
    for node in ast.walk(suite(exercise)):
        if isinstance(node, ast.ImportFrom):
            assert node.module and node.module.partition(".")[0] in IMPORTABLE, ast.unparse(node)
            ours = {"autograder.checks", "autograder.examples"}
            assert not node.module.startswith("autograder") or node.module in ours, ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert {name.name.partition(".")[0] for name in node.names} <= IMPORTABLE - {"autograder"}


@each_exercise
def test_learners_get_a_public_test_file(exercise):
    assert (COURSE.paths.exercises / f"public_tests/test_{exercise.name}.py").is_file()


# Both languages together


def examples(text: str) -> list[str]:
    return re.findall(r"```.*?```", text, re.DOTALL)


def prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def code_in(text: str) -> set[str]:
    return set(re.findall(r"`[^`]+`", folded(prose(text))))


def without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "", prose(text))


def headings(text: str) -> list[str]:
    return [line.split()[0] for line in prose(text).splitlines() if line.startswith(("#", "**"))]


def points_of_a_list(text: str) -> int:
    return sum(line.startswith("- ") for line in prose(text).splitlines())


def test_the_course_is_there_in_english_and_in_chinese():
    assert COURSE.languages == ("en", "zh")


@each_exercise
def test_the_contract_has_the_same_keys_in_both_languages(exercise):
    assert list(sentences(exercise, "zh")) == list(sentences(exercise))


@each_exercise
def test_a_sentence_has_the_same_code_names_and_numbers_in_both_languages(exercise):
    chinese = sentences(exercise, "zh")
    differing = {
        key: (english, chinese[key])
        for key, english in sentences(exercise).items()
        if set(EXACT.findall(english)) != set(EXACT.findall(chinese[key]))
    }
    assert differing == {}


@each_exercise
def test_every_chinese_sentence_is_chinese(exercise):
    chinese = {key: without_code(sentence) for key, sentence in sentences(exercise, "zh").items()}
    assert [key for key, text in chinese.items() if not CHINESE.search(text) or ENGLISH.search(text)] == []
    assert [key for key, text in chinese.items() if not text.endswith("。")] == []


@each_exercise
def test_no_english_is_left_in_the_chinese_instructions(exercise):
    lines = without_code(instructions(exercise, "zh")).splitlines()
    assert [line for line in lines if ENGLISH.search(line)] == []


@each_exercise
def test_the_instructions_have_the_same_code_examples_and_outline_in_both_languages(exercise):
    english, chinese = instructions(exercise), instructions(exercise, "zh")
    assert examples(chinese) == examples(english)
    assert code_in(chinese) == code_in(english)
    assert len(headings(chinese)) == len(headings(english))
    assert points_of_a_list(chinese) == points_of_a_list(english)


@pytest.fixture
def importable_solutions(monkeypatch):
    """Let `from softmax import softmax` find the solution, and forget it afterwards."""
    monkeypatch.syspath_prepend(COURSE.paths.solutions)
    before = {exercise.name: sys.modules.pop(exercise.name, None) for exercise in COURSE.exercises}
    yield
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module:
            sys.modules[name] = module


@each_exercise
def test_the_examples_in_the_instructions_print_what_they_say(exercise, importable_solutions):
    code = "\n".join(re.findall(r"```python\n(.*?)```", instructions(exercise), re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, exercise.name, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0

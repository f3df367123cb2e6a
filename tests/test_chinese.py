"""The Chinese that learners read: one word for each thing, and the punctuation and spaces of Chinese type."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from autograder.course import load_course
from autograder.faults.shelf import Families
from autograder.language import CATALOGUES

COURSE = load_course(Path(__file__).parents[1])
FAMILIES = Families(COURSE)
PROGRAM = COURSE.root / "autograder"
LABS = COURSE.paths.exercises / "labs" / "sources" / "zh"
ANSWERS = PROGRAM / "labs" / "answers" / "self_test.zh.toml"
# The course says 遮罩, key, batch, 大小, 前导维度 and 加性遮罩; these are other words for the same.
OTHER_WORDS = re.compile(r"\bmasks?\b|掩码|掩膜|蒙版|(?<!关)键|批次|尺寸|前置维度|前面的维度|加法遮罩", re.ASCII)
STAY_LATIN = {"key", "value", "batch", "token"}
HAN = "\u4e00-\u9fff"
WIDE = "，。；：！？（）“”、"
SLIPS = {
    "a narrow mark beside Chinese": re.compile(rf"[{HAN}][,;:!?()]|[{HAN}]\.|[,;:!?()][{HAN}]"),
    "no space between Chinese and Latin": re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]"),
    "a space beside a wide mark": re.compile(rf"\S [{WIDE}]|[{WIDE}] "),
    "two spaces": re.compile(r"\S  +\S"),
    # Between a wide mark and a letter Markdown does not take ** for the end of bold type.
    "bold type that does not end": re.compile(rf"^(?:[^*]*\*\*[^*]+\*\*)*[^*]*\*\*[^*]*[{WIDE}]\*\*\w"),
}

CATALOGUES_IN_CHINESE = [*sorted((CATALOGUES / "zh").glob("*.po")), *COURSE.catalogues("zh")]

each_exercise = pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)


def lines_for(exercise):
    """Give every line of Chinese about an exercise, with code and exponentials as a Latin word."""
    instructions = COURSE.instructions_of(exercise, "zh").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", instructions, flags=re.DOTALL)
    contract = COURSE.contract_of(exercise, "zh").read_text(encoding="utf-8")
    sentences = re.findall(r'^\w+ = "(.*)"$', contract, re.MULTILINE)
    explanations = [fault.zh for fault in FAMILIES.of(exercise.name).faults]
    return [re.sub(r"`[^`]+`|exp\([^)]*\)", "CODE", line) for line in [*prose.splitlines(), *sentences, *explanations]]


def translations_in(file):
    """Give every line of a catalogue, with the places that facts stand in as a Latin word."""
    with file.open("rb") as opened:
        texts = [str(message.string) for message in read_po(opened, locale="zh") if message.id]
    return [re.sub(r"`[^`]+`|\{\w+\}", "CODE", line) for text in texts for line in text.splitlines()]


def slips_in(line):
    return [name for name, pattern in SLIPS.items() if pattern.search(line)]


@each_exercise
def test_each_thing_has_one_word(exercise):
    assert [line for line in lines_for(exercise) if OTHER_WORDS.search(line)] == []


@each_exercise
def test_punctuation_is_wide_and_latin_stands_between_spaces(exercise):
    assert {line: slips_in(line) for line in lines_for(exercise) if slips_in(line)} == {}


each_catalogue = pytest.mark.parametrize(
    "file", CATALOGUES_IN_CHINESE, ids=lambda file: f"{file.parent.name}-{file.stem}"
)


@each_catalogue
def test_each_thing_has_one_word_in_the_catalogues_too(file):
    assert [line for line in translations_in(file) if OTHER_WORDS.search(line)] == []


@each_catalogue
def test_the_catalogues_have_wide_punctuation_and_latin_stands_between_spaces(file):
    assert {line: slips_in(line) for line in translations_in(file) if slips_in(line)} == {}


@each_catalogue
def test_a_translation_is_in_chinese_unless_there_is_nothing_to_translate(file):
    words = {line: re.findall(r"[a-z]+", re.sub("CODE", "", line).lower()) for line in translations_in(file)}
    english = {line for line, latin in words.items() if set(latin) - STAY_LATIN}

    assert [line for line in english if not re.search(f"[{HAN}]", line)] == []


def test_the_titles_of_the_exercises_are_held_to_the_same():
    titles = [COURSE.titles["zh"], *(exercise.titles["zh"] for exercise in COURSE.exercises)]

    assert {title: slips_in(title) for title in titles if slips_in(title) or OTHER_WORDS.search(title)} == {}


def prose_of_lab(source):
    """Give the Chinese of a lab: its Markdown and the texts in its code, with code and addresses as a Latin word."""
    cells = re.split(r"^# %%(.*)$", source.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for kind, cell in zip(cells[::2], cells[1::2], strict=True):
        if "[markdown]" in kind:
            for line in cell.splitlines():
                text = re.sub(r"^# ?(#* )?|</?\w+>", "", line)
                text = re.sub(r"!\[|\]\(\S+\)|\*", "", text)
                yield from (part.strip() for part in re.sub(r"`[^`]+`", "CODE", text).split("|"))
        else:
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"', cell)
            yield from (re.sub(r"\{[^}]*\}", "9", text).strip() for text in texts if re.search(f"[{HAN}]", text))


@pytest.mark.parametrize("source", sorted(LABS.glob("*.py")), ids=lambda source: source.stem)
def test_the_labs_are_set_as_the_rest_is(source):
    lines = [line for line in prose_of_lab(source) if re.search(f"[{HAN}]", line)]

    assert len(lines) > 10
    assert [line for line in lines if OTHER_WORDS.search(line)] == []
    # Columns of a print are set with spaces.
    assert {line: slips for line in lines if (slips := set(slips_in(line)) - {"two spaces"})} == {}


def test_the_answers_of_the_self_test_are_set_as_the_rest_is():
    lines = re.findall(r'^why = "(.+)"$', ANSWERS.read_text(encoding="utf-8"), re.MULTILINE)

    assert len(lines) > 10
    assert {line: slips_in(line) for line in lines if slips_in(line)} == {}


@pytest.mark.parametrize(
    ("line", "slip"),
    [
        ("分数除以温度,再取指数", "a narrow mark beside Chinese"),
        ("每个key一列", "no space between Chinese and Latin"),
        ("返回 CODE ，不返回权重", "a space beside a wide mark"),
        ("输出  是 0", "two spaces"),
        ("**True 表示可以。**在这里", "bold type that does not end"),
        ("先看：**True 表示可以**。在 CODE（第 1 轴）里，a.b、-1e9 都一样……", "no slip"),
    ],
)
def test_a_slip_is_seen(line, slip):
    assert slips_in(line) == ([] if slip == "no slip" else [slip])

"""Sentences are said in English and shown in the language of whoever reads them; the catalogues keep in step."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from autograder.course import load_course
from autograder.language import (
    CATALOGUES,
    LanguageError,
    Phrase,
    Reader,
    as_phrase,
    catalogue,
    chosen_language,
    read_catalogues,
    recognised,
    said_by,
    say,
    say_many,
)

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "autograder"
COURSE = load_course(ROOT)
SAID_WITH = {"say": None, "say_many": (1, 2)}
# What stands in these is the course's, and has the course's catalogue.
OF_THE_COURSE = [("suites/**", "ignore"), ("skeleton/**", "ignore")]


def sentences_in(folder, left_out=()):
    found = extract_from_dir(folder, [*left_out, ("**.py", "python")], keywords=SAID_WITH, comment_tags=())
    ids = [message[2] for message in found]
    return {sentence for id in ids for sentence in (id if isinstance(id, tuple) else (id,))}


def titles_in(folder):
    names = [
        name for file in folder.glob("test_*.py") for name in re.findall(r"^def test_(\w+)\(", file.read_text(), re.M)
    ]
    return {name.replace("_", " ") for name in names}


def messages_in(*files):
    for file in files:
        with file.open("rb") as opened:
            yield from (message for message in read_po(opened, locale="zh") if message.id)


def files_of_the_program():
    return sorted((CATALOGUES / "zh").glob("*.po"))


def places(text):
    return set(re.findall(r"\{(\w+)\}", text))


def test_a_phrase_reads_as_english_and_keeps_its_facts():
    phrase = say("{n_keys} keys of {kind}", n_keys=3, kind=say("one batch"))

    assert str(phrase) == "3 keys of one batch"
    assert msgspec.json.decode(msgspec.json.encode(phrase), type=Phrase) == phrase


def test_a_phrase_and_the_phrases_in_it_are_shown_in_the_language_of_the_reader(monkeypatch):
    monkeypatch.setattr(
        "autograder.language.catalogue", lambda language: {"{n} of {what}": "{what} 的 {n} 个", "keys": "键"}
    )

    assert say("{n} of {what}", n=3, what=say("keys")).in_("zh") == "键的 3 个"


def test_a_sentence_without_a_translation_is_shown_in_english():
    assert say("nobody translated this, {name}", name="Li").in_("zh") == "nobody translated this, Li"


def test_braces_in_a_fact_are_shown_as_they_are():
    assert str(say("it says: {words}", words="{n_keys}")) == "it says: {n_keys}"


@pytest.mark.parametrize(("count", "shown"), [(0, "0 checks"), (1, "1 check"), (2, "2 checks")])
def test_a_count_takes_the_sentence_that_fits(count, shown):
    assert str(say_many("{count} check", "{count} checks", count)) == shown


@pytest.mark.parametrize(
    ("wanted", "environment", "languages", "chosen"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, ["en", "zh"], "zh"),
        ("", {"LANG": "zh_CN.UTF-8"}, ["en", "zh"], "zh"),
        ("", {"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB"}, ["zh", "en"], "en"),
        ("", {"LANG": "zh_CN.UTF-8"}, ["en"], "en"),
        ("", {"LANG": "de_DE.UTF-8"}, ["zh", "en"], "zh"),
        ("", {"LC_ALL": "C"}, ["en", "zh"], "en"),
    ],
)
def test_the_language_is_the_one_asked_for_else_the_users_else_the_courses(
    wanted, environment, languages, chosen, monkeypatch
):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert chosen_language(wanted, languages) == chosen


def test_a_language_that_the_course_is_not_in_is_refused_by_name():
    with pytest.raises(LanguageError, match=r"--lang fr: the course is in en and zh; ask for one of these"):
        chosen_language("fr", ["en", "zh"])


def test_every_sentence_of_the_program_is_translated_and_no_translation_is_stale():
    assert sentences_in(PROGRAM, OF_THE_COURSE) == set(catalogue("zh"))


def test_every_title_and_sentence_of_the_suites_is_translated_and_no_translation_is_stale():
    suites = COURSE.paths.suites
    said = sentences_in(suites) - set(catalogue("zh"))

    assert titles_in(suites) | said == set(read_catalogues([suites / "zh.po"], "zh"))


def test_every_title_of_the_public_tests_is_translated_and_no_translation_is_stale():
    folder = COURSE.paths.exercises / "public_tests"

    assert titles_in(folder) == set(read_catalogues([folder / "zh.po"], "zh"))


def test_every_exercise_has_a_chinese_title():
    assert [exercise.name for exercise in COURSE.exercises if not exercise.titles.get("zh")] == []
    assert COURSE.titles["zh"]


@pytest.mark.parametrize("file", [*files_of_the_program(), *COURSE.catalogues("zh")], ids=lambda file: file.name)
def test_a_translation_is_no_guess_and_has_the_same_places_as_its_sentence(file):
    assert [message.id for message in messages_in(file) if message.fuzzy] == []
    assert [message.id for message in messages_in(file) if places(message.id) != places(message.string)] == []


def test_no_sentence_stands_in_two_catalogues_of_the_program():
    ids = [message.id for message in messages_in(*files_of_the_program())]

    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ("key", "结果与 key 共用内存"),
        (say("an earlier result"), "结果与以前的结果共用内存"),
        ("第 2 个", "结果与第 2 个共用内存"),
    ],
)
def test_between_chinese_and_chinese_there_is_no_space_around_a_fact(fact, shown, monkeypatch):
    known = {"it shares {name} here": "结果与 {name} 共用内存", "an earlier result": "以前的结果"}
    monkeypatch.setattr("autograder.language.catalogue", lambda language: known)

    assert say("it shares {name} here", name=fact).in_("zh") == shown


def test_an_exception_says_the_phrase_that_it_was_raised_with():
    phrase = say("{n_keys} keys", n_keys=3)

    assert said_by(ValueError(phrase)) is phrase
    assert str(ValueError(phrase)) == "3 keys"
    assert (said_by(ValueError("no")), said_by(ValueError())) == ("no", "")
    assert (as_phrase(phrase), as_phrase("no")) == (phrase, None)


def test_what_is_kept_of_a_phrase_is_of_a_length_that_one_reads():
    huge = say("{said} (line {line})", said=say("it says: {words}", words="x" * 10_000_000), line=3)

    kept = as_phrase(huge)
    assert kept == say("{said} (line {line})", said=say("it says: {words}", words="x" * 2_000 + " ..."), line=3)
    assert as_phrase(kept) == kept


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("a value of type list", say("a value of type {kind}", kind="list")),
        ("an array of 3 MiB; at most 1", say("an array of {size} MiB; at most {limit}", size=3, limit=1)),
        (
            "a value of type {kind.__class__:>999999999}",
            say("a value of type {kind}", kind="{kind.__class__:>999999999}"),
        ),
        ("some value of type list", "some value of type list"),
    ],
)
def test_text_of_a_process_that_may_say_anything_is_recognised_and_only_shown(text, phrase):
    known = [say("a value of type {kind}"), say("an array of {size} MiB; at most {limit}")]

    assert recognised(text, known) == phrase
    assert str(recognised(text, known)) == text


def test_a_course_says_its_own_titles_and_sentences_beside_those_of_the_program():
    reader = Reader("zh", {"it holds": "它成立", "{n} of ours": "我们的 {n} 个"})

    assert (reader.title("it holds[3-b]"), reader.title("no title")) == ("它成立[3-b]", "no title")
    assert reader.read(say("not run: {why}", why=say("{n} of ours", n=2))) == "没有运行：我们的 2 个"
    assert reader.read("{n} of ours") == "{n} of ours"


def test_a_course_without_a_catalogue_is_read_in_english(small_course):
    reader = small_course().reader("zh")

    assert (reader.language, reader.title("large numbers are doubled")) == ("zh", "large numbers are doubled")


def test_a_course_elsewhere_has_catalogues_of_its_own(small_course):
    course = small_course(files={"suites/zh.po": 'msgid "large numbers are doubled"\nmsgstr "很大的数也翻倍"\n'})

    assert course.reader("zh").title("large numbers are doubled") == "很大的数也翻倍"
    assert course.reader("en").title("large numbers are doubled") == "large numbers are doubled"


@pytest.mark.parametrize("content", [b"no catalogue at all\n", b'msgid "zero"\nmsgstr "\xff"\n'])
def test_a_broken_catalogue_is_named(small_course, content):
    course = small_course()
    (course.paths.suites / "zh.po").write_bytes(content)

    with pytest.raises(LanguageError, match=r"suites/zh\.po: not a gettext catalogue in UTF-8 .*; correct it there"):
        course.reader("zh")


def test_whoever_reads_english_does_not_wait_for_the_catalogues(small_course):
    course = small_course()
    check = f"from autograder.cli import run; run(['check', '--lang', 'en', '--course', {str(course.root)!r}])"
    asked = f"import sys; {check}; print([name for name in sys.modules if name.startswith('babel')])"
    said = subprocess.run([sys.executable, "-c", asked], cwd=course.root, capture_output=True, text=True, check=True)

    assert "checks passed" in said.stdout or "not written yet" in said.stdout
    assert said.stdout.splitlines()[-1] == "[]"

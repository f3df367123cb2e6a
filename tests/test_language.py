"""Sentences are said in English and shown in the language of whoever reads them; the catalogues keep in step."""

from pathlib import Path

import msgspec
import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from autograder.language import CATALOGUES, LanguageError, Phrase, catalogue, chosen_language, say, say_many

PROGRAM = Path(__file__).parents[1] / "autograder"
SAID_WITH = {"say": None, "say_many": (1, 2)}


def sentences_of_the_program():
    found = extract_from_dir(PROGRAM, [("**.py", "python")], keywords=SAID_WITH, comment_tags=())
    ids = [message[2] for message in found]
    return {sentence for id in ids for sentence in (id if isinstance(id, tuple) else (id,))}


def messages(language):
    for file in sorted((CATALOGUES / language).glob("*.po")):
        with file.open("rb") as opened:
            yield from (message for message in read_po(opened, locale=language) if message.id)


def test_a_phrase_reads_as_english_and_keeps_its_facts():
    phrase = say("{n_keys} keys of {kind}", n_keys=3, kind=say("one batch"))

    assert str(phrase) == "3 keys of one batch"
    assert msgspec.json.decode(msgspec.json.encode(phrase), type=Phrase) == phrase


def test_a_phrase_and_the_phrases_in_it_are_shown_in_the_language_of_the_reader(monkeypatch):
    monkeypatch.setattr(
        "autograder.language.catalogue", lambda language: {"{n} of {what}": "{what} 的 {n} 个", "keys": "键"}
    )

    assert say("{n} of {what}", n=3, what=say("keys")).in_("zh") == "键 的 3 个"


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
    said = sentences_of_the_program()

    assert said == set(catalogue("zh"))
    assert [message.id for message in messages("zh") if message.fuzzy] == []


def test_a_translation_has_the_same_places_as_its_sentence():
    def places(text):
        return {part.partition("}")[0] for part in text.split("{")[1:]}

    assert {key: shown for key, shown in catalogue("zh").items() if places(key) != places(shown)} == {}


def test_no_sentence_stands_in_two_catalogues():
    ids = [message.id for message in messages("zh")]

    assert sorted(ids) == sorted(set(ids))

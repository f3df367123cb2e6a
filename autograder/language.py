"""What learners read, in their language: sentences are said in English, and looked up where they are shown.

A catalogue is a gettext file, `locale/<language>/<area>.po`: whoever translates needs no more than an editor for these.
What a course says itself, the titles of its checks and the sentences of its suites, has catalogues of its own.

Exceptions:
    LanguageError   a language that the course is not in, or a catalogue that cannot be read
"""

from __future__ import annotations

import functools
import locale
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Union

import msgspec

SOURCE = "en"
CATALOGUES = Path(__file__).with_name("locale")
LONGEST_FACT = 2_000
NOTHING: Mapping[str, str] = {}
_PLACE = re.compile(r"\{(\w+)\}")
_SPACED_PLACE = re.compile(r"(?P<before> ?)\{(?P<name>\w+)\}(?P<after> ?)")
# Chinese letters and marks; between two of them there is no space, and between one and a Latin letter there is.
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…]")


class LanguageError(Exception):
    """A language that the course is not written in, or a broken catalogue; one line that says what to do."""


class Phrase(msgspec.Struct, frozen=True):
    """A sentence with named places, `{n_keys}`, and what stands in them; it can be kept in a report.

    Facts that are phrases are translated too; text is shown as it is.
    """

    text: str
    facts: dict[str, Union[str, Phrase]] = {}  # noqa: UP007  (msgspec reads a forward reference only so)

    def __str__(self) -> str:
        return self.in_(SOURCE)

    def in_(self, language: str, more: Mapping[str, str] = NOTHING) -> str:
        """Give the sentence in a language, and in English where neither the program nor `more` has it."""
        pattern = more.get(self.text) or catalogue(language).get(self.text, self.text)
        return _SPACED_PLACE.sub(lambda place: _set_in(place, self._fact(place["name"], language, more)), pattern)

    def _fact(self, name: str, language: str, more: Mapping[str, str]) -> str:
        fact = self.facts.get(name, f"{{{name}}}")
        return fact.in_(language, more) if isinstance(fact, Phrase) else fact


def say(text: str, /, **facts: object) -> Phrase:
    """Make a phrase of a sentence that stands in the catalogues: a literal, or Babel does not find it."""
    return Phrase(text, {name: fact if isinstance(fact, Phrase) else str(fact) for name, fact in facts.items()})


def say_many(one: str, many: str, count: int, /, **facts: object) -> Phrase:
    """Make a phrase of that of two sentences which fits `count`; both may name it, as `{count}`."""
    return say(one if count == 1 else many, count=count, **facts)


def said_by(error: BaseException) -> Phrase | str:
    """Give what an exception says: the phrase that it was raised with, else its text."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Phrase) else str(error)


def as_phrase(said: Phrase | str) -> Phrase | None:
    """Give what is kept beside the English of a report: the phrase, or None where only English, or code, was said.

    Facts are cut to LONGEST_FACT: a learner's code can make its messages and names as long as it likes.
    """
    if not isinstance(said, Phrase):
        return None
    return Phrase(said.text, {name: as_phrase(fact) or _cut(str(fact)) for name, fact in said.facts.items()})


def _cut(fact: str) -> str:
    return fact if len(fact) <= LONGEST_FACT else f"{fact[:LONGEST_FACT]} ..."


def recognised(text: str, phrases: Iterable[Phrase]) -> Phrase | str:
    """Give the text as the one of `phrases` that it reads like, with its own facts, else as it is.

    For what comes from a process that may say anything: its text can be shown in another language, and only shown.
    """
    for phrase in phrases:
        parts = _PLACE.split(phrase.text)
        pattern = "".join(f"(?P<{part}>.*)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
        if match := re.fullmatch(pattern, text, re.DOTALL):
            return Phrase(phrase.text, match.groupdict())
    return text


class Reader:
    """Whoever reads: their language, and the sentences of a course in it, which are no part of the program's."""

    def __init__(self, language: str = SOURCE, sentences: Mapping[str, str] = NOTHING) -> None:
        self.language = language
        self._sentences = sentences

    def read(self, said: Phrase | str) -> str:
        """Give a phrase in the reader's language, and text as it is."""
        return said.in_(self.language, self._sentences) if isinstance(said, Phrase) else said

    def title(self, english: str) -> str:
        """Give the title of a check, whose parameters, `[3]`, are the same in every language."""
        title, bracket, parameters = english.partition("[")
        return self._sentences.get(title, title) + bracket + parameters


ENGLISH = Reader()


@functools.cache
def catalogue(language: str) -> Mapping[str, str]:
    """Give what the program's sentences are in a language; of English there is nothing to look up."""
    return read_catalogues(sorted((CATALOGUES / language).glob("*.po")), language)


def read_catalogues(files: Iterable[Path], language: str) -> Mapping[str, str]:
    """Give what the sentences in these files are in a language; a file that is not there has none.

    Raises:
        LanguageError: when a file is no catalogue.

    """
    known: dict[str, str] = {}
    for file in files if language != SOURCE else ():
        if file.is_file():
            known.update(_read_catalogue(file, language, file.stat().st_mtime_ns))
    return known


@functools.lru_cache(maxsize=32)
def _read_catalogue(file: Path, language: str, _saved_at: int) -> Mapping[str, str]:
    # Whoever reads English has no use for it.
    from babel.messages.pofile import PoFileError, read_po

    try:
        with file.open("rb") as opened:
            messages = read_po(opened, locale=language, abort_invalid=True)
    except (OSError, ValueError, PoFileError) as error:
        said = say("{file}: not a gettext catalogue in UTF-8 ({error}); correct it there", file=file, error=error)
        raise LanguageError(said) from None
    return {str(message.id): str(message.string) for message in messages if message.id and message.string}


def chosen_language(wanted: str, languages: Sequence[str]) -> str:
    """Give the language to speak: the one asked for, else that of the user's locale, else the course's first one.

    Raises:
        LanguageError: when the course is not in the one that was asked for.

    """
    if wanted and wanted not in languages:
        there: Phrase | str = languages[0]
        for language in languages[1:]:
            there = say("{first} and {last}", first=there, last=language)
        said = say("--lang {wanted}: the course is in {there}; ask for one of these", wanted=wanted, there=there)
        raise LanguageError(said)
    of_the_user = _of_the_locale()
    return wanted or (of_the_user if of_the_user in languages else languages[0])


def _of_the_locale() -> str:
    """Give the language that the environment asks for, as gettext reads it, or on Windows the system's."""
    named = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return (named or locale.getlocale()[0] or "").replace("-", "_").partition("_")[0].partition(".")[0].lower()


def _set_in(place: re.Match[str], fact: str) -> str:
    """Put a fact into its place, without the spaces around it where Chinese meets Chinese."""
    sentence = place.string
    before = "" if _are_wide(sentence[: place.start()][-1:], fact[:1]) else place["before"]
    after = "" if _are_wide(fact[-1:], sentence[place.end() :][:1]) else place["after"]
    return before + fact + after


def _are_wide(one: str, other: str) -> bool:
    return bool(_WIDE.match(one) and _WIDE.match(other))

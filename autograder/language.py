"""What learners read, in their language: sentences are said in English, and looked up where they are shown.

A catalogue is a gettext file, `locale/<language>/<area>.po`: whoever translates needs no more than an editor for these.

Exceptions:
    LanguageError   a language that the course is not in
"""

from __future__ import annotations

import functools
import locale
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Union

import msgspec

SOURCE = "en"
CATALOGUES = Path(__file__).with_name("locale")


class LanguageError(Exception):
    """A language that the course is not written in; one line that says which ones there are."""


class Phrase(msgspec.Struct, frozen=True):
    """A sentence with named places, `{n_keys}`, and what stands in them; it can be kept in a report.

    Facts that are phrases are translated too; text is shown as it is.
    """

    text: str
    facts: dict[str, Union[str, Phrase]] = {}  # noqa: UP007  (msgspec reads a forward reference only so)

    def __str__(self) -> str:
        return self.in_(SOURCE)

    def in_(self, language: str) -> str:
        """Give the sentence in a language, and in English where no catalogue has it."""
        pattern = catalogue(language).get(self.text, self.text)
        return pattern.format(**{name: _shown(fact, language) for name, fact in self.facts.items()})


def say(text: str, /, **facts: object) -> Phrase:
    """Make a phrase of a sentence that stands in the catalogues: a literal, or Babel does not find it."""
    return Phrase(text, {name: fact if isinstance(fact, Phrase) else str(fact) for name, fact in facts.items()})


def say_many(one: str, many: str, count: int, /, **facts: object) -> Phrase:
    """Make a phrase of that of two sentences which fits `count`; both may name it, as `{count}`."""
    return say(one if count == 1 else many, count=count, **facts)


@functools.cache
def catalogue(language: str) -> Mapping[str, str]:
    """Give what the program's sentences are in a language; of English there is nothing to look up."""
    if language == SOURCE:
        return {}
    from babel.messages.pofile import read_po

    known: dict[str, str] = {}
    for file in sorted((CATALOGUES / language).glob("*.po")):
        with file.open("rb") as opened:
            messages = read_po(opened, locale=language)
        known.update({str(message.id): str(message.string) for message in messages if message.id and message.string})
    return known


def chosen_language(wanted: str, languages: Sequence[str]) -> str:
    """Give the language to speak: the one asked for, else that of the user's locale, else the course's first one.

    Raises:
        LanguageError: when the course is not in the one that was asked for.

    """
    if wanted and wanted not in languages:
        raise LanguageError(f"--lang {wanted}: the course is in {' and '.join(languages)}; ask for one of these")
    of_the_user = _of_the_locale()
    return wanted or (of_the_user if of_the_user in languages else languages[0])


def _of_the_locale() -> str:
    """Give the language that the environment asks for, as gettext reads it, or on Windows the system's."""
    named = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return (named or locale.getlocale()[0] or "").replace("-", "_").partition("_")[0].partition(".")[0].lower()


def _shown(fact: str | Phrase, language: str) -> str:
    return fact.in_(language) if isinstance(fact, Phrase) else fact

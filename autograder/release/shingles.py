"""Code as overlapping windows of tokens, in which it is known again however it is laid out, commented or named.

Text of any kind is read, not only Python that parses: a solution may stand in a Markdown block, a string or a comment.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WINDOW = 8
# Names that nobody can change.
PYTHON = frozenset(keyword.kwlist) | frozenset(dir(builtins))

Window = tuple[str | int, ...]

_STRING = r"(?<![\w'\"])[rRbBuUfF]{0,2}(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
_TOKEN = r"[^\W\d]\w*|\d[\w.]*|==|!=|<=|>=|//|\*\*|->|:=|\.\.\.|[^\w\s\"'`\\]"
_TRIPLE = re.compile(r"(?<!\w)[rRbBuUfF]{0,2}(?:\"\"\"|''')|\"\"\"|'''")
_COMMENT = re.compile(r"#.*")
# What stands before a line of code that is quoted: a prompt, a comment sign, a quotation or a list in Markdown.
_BEFORE_QUOTED = re.compile(r"^[ \t]*(?:>>>|\.\.\.|[#>|*+-]+(?=\s|$))", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?=\s|$)", re.MULTILINE)
_CLOSING = frozenset(")]}")
_OPENING = frozenset("([{")
_PUNCTUATION = frozenset("()[]{}.,:;=")


@dataclass(frozen=True)
class Token:
    """A name, number, operator or string (all strings are alike), and the line that it stands on, from 1."""

    text: str
    line: int


def readings(text: str) -> Iterator[list[Token]]:
    """Read a text in each way in which code may stand in it.

    With its comments left out or taken for code, and with each string as one token or as the words in it.
    """
    bare = _TRIPLE.sub(" ", text)
    for plain in (_PROMPT.sub(_blank, bare), _BEFORE_QUOTED.sub(_blank, bare)):
        for strings_whole in (True, False):
            yield tokens_of(plain, strings_whole=strings_whole)


def tokens_of(text: str, *, strings_whole: bool) -> list[Token]:
    """Give the tokens of a text without comments.

    A comma before a closing bracket, which layout adds, is left out, and `axis=` is one token where it names an
    argument: whoever calls a variable something else has to leave that as it is.
    """
    found: list[Token] = []
    open_brackets = ["["]
    for number, line in enumerate(text.split("\n"), 1):
        for token in _tokens_of_line(line, strings_whole):
            if token == "=" and open_brackets[-1] == "(" and _names_an_argument(found):
                found[-1] = Token(f"{found[-1].text}=", found[-1].line)
                continue
            if token in _CLOSING and found and found[-1].text == ",":
                found.pop()
            _keep_count(open_brackets, token)
            found.append(Token(token, number))
    return found


def windows(tokens: Sequence[Token], literal: frozenset[str]) -> Iterator[Window]:
    """Give each `WINDOW` tokens in a row, with names that are not `literal` as the numbers of their first use."""
    texts = [token.text for token in tokens]
    for start in range(len(texts) - WINDOW + 1):
        yield _window(texts[start : start + WINDOW], literal)


def outlines(tokens: Sequence[Token], literal: frozenset[str]) -> Iterator[Window]:
    """Give the same windows with all such names alike: quicker to make, and different where the windows are."""
    plain = [0 if _is_free(token.text, literal) else token.text for token in tokens]
    return (tuple(plain[start : start + WINDOW]) for start in range(len(plain) - WINDOW + 1))


def outline_of(window: Window) -> Window:
    """Give what `outlines` makes of the tokens of a window."""
    return tuple(0 if isinstance(token, int) else token for token in window)


def is_telling(token: str, literal: frozenset[str]) -> bool:
    """Say whether a token tells code from other code: a name of a library, a keyword, a number, an operator."""
    return not _is_free(token, literal) if _is_name(token) else token not in _PUNCTUATION


@functools.cache
def _pattern(strings_whole: bool) -> re.Pattern[str]:
    return re.compile(f"{_STRING}|{_COMMENT.pattern}|{_TOKEN}" if strings_whole else f"{_COMMENT.pattern}|{_TOKEN}")


def _tokens_of_line(line: str, strings_whole: bool) -> Iterator[str]:
    for found in _pattern(strings_whole).finditer(line):
        token = found[0]
        if not token.startswith("#"):
            yield '""' if token[-1] in "\"'" else token


def _window(texts: Sequence[str], literal: frozenset[str]) -> Window:
    seen: dict[str, int] = {}
    return tuple(seen.setdefault(text, len(seen)) if _is_free(text, literal) else text for text in texts)


def _is_free(token: str, literal: frozenset[str]) -> bool:
    return _is_name(token) and token not in literal and not token.endswith("=")


def _names_an_argument(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 1 and _is_name(tokens[-1].text) and tokens[-2].text in ("(", ",")


def _keep_count(open_brackets: list[str], token: str) -> None:
    """Keep which brackets are open; text that is no program closes more than it has opened."""
    if token in _OPENING:
        open_brackets.append(token)
    elif token in _CLOSING and len(open_brackets) > 1:
        open_brackets.pop()


def _is_name(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_"


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])

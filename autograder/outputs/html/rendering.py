"""The templates and what surrounds them: everything is escaped, and a page may load or run nothing.

A page is one file. Its Content-Security-Policy allows the styles and scripts that stand in it by their hashes, so text
that found its way into the page as markup would still neither run nor reach the network.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.outputs.html.heat import Cell

TEMPLATES = Path(__file__).with_name("templates")

# When the dark colours hold: on a page where the reader's system says so, in a notebook where its theme does.
DARK_PAGE = "@media screen and (prefers-color-scheme: dark) {{ .attend {{ {colours} }} }}"
DARK_NOTEBOOK = '[data-jp-theme-light="false"] .attend, .vscode-dark .attend {{ {colours} }}'


@functools.cache
def environment() -> Environment:
    """Give the one jinja2 environment: whatever is put into a template is text unless it was made as markup here."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["prose"] = prose
    made.filters["cells"] = cells
    return made


def render(template: str, **facts: Any) -> str:
    """Give what a template makes of the facts."""
    return environment().get_template(template).render(**facts)


def macro(template: str, name: str, *facts: Any) -> Markup:
    """Give what one macro of a template makes of the facts, to stand in a page."""
    made: Markup = getattr(environment().get_template(template).module, name)(*facts)
    return made


def render_page(
    template: str, *, source: str = "", scripts: Sequence[str] = (), styles: Sequence[str] = (), **facts: Any
) -> str:
    """Give a whole page, made from a template that extends `base.html.j2`.

    `source` is kept in the page, to tell what it was made from. The texts of `scripts` are those that may run; `styles`
    are the names of further style sheets.
    """
    style = stylesheet(DARK_PAGE) + Markup("\n").join(Markup(_read(name)) for name in styles)
    return render(template, stylesheet=style, policy=content_policy([style], scripts), source=source, **facts)


@functools.cache
def stylesheet(dark: str) -> Markup:
    """Give the style sheet, its dark colours inside of `dark`, which says when they hold."""
    light, colours = map(_read, ("style.css", "dark.css"))
    return Markup(f"\n{light}{dark.format(colours=colours.strip())}\n")


def content_policy(styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """Give the policy under which nothing is loaded, sent or run except the texts given."""
    parts = ["default-src 'none'", f"style-src {_hashes(styles)}"]
    parts += [f"script-src {_hashes(scripts)}"] if scripts else []
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'"])


def prose(text: str) -> Markup:
    """Give a sentence in which what stands between backticks is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if position % 2 else escape(piece)
        for position, piece in enumerate(pieces)
    )


def cells(row: Sequence[Cell], differs: str) -> Markup:
    """Give the cells of a row of a heat map; there are so many that a loop in a template takes most of the time."""
    return Markup("".join([_cell(cell.text, cell.colour, differs if cell.differs else "") for cell in row]))


# The same few numbers stand in most cells of a class.
@functools.lru_cache(maxsize=1 << 14)
def _cell(text: str, colour: str, differs: str) -> str:
    shown = Markup('<mark title="{}">{}</mark>').format(differs, text) if differs else escape(text)
    return Markup('<td class="{}">{}</td>').format(colour, shown)


def script(name: str) -> Markup:
    """Give a script of ours, to stand in a page."""
    return Markup(_read(name))


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hashes(texts: Sequence[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

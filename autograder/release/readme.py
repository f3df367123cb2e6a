"""The README of a bundle: what somebody who has nothing but the bundle has to know, in their language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from autograder.language import SOURCE

TEXTS = Path(__file__).with_name("texts")
_ABOUT_LABS = re.compile(r"<!-- labs -->\n(.*?)<!-- /labs -->\n", re.DOTALL)
_LISTED_WITH = {"en": ", ", "zh": "、"}


def readme_name(language: str) -> str:
    """Give the name of the README in a language."""
    return "README.md" if language == SOURCE else f"README.{language}.md"


def readme_text(language: str, course: Mapping[str, Any], wheel: str, *, has_labs: bool) -> str:
    """Give the README of a bundle with the course that its course.toml describes, and with this wheel."""
    text = (TEXTS / readme_name(language)).read_text(encoding="utf-8")
    text = _ABOUT_LABS.sub(r"\1" if has_labs else "", text)
    exercises = course["exercises"]
    first = next((each for each in exercises if not each.get("bonus")), exercises[0])
    return Template(text).substitute(
        title=course.get("titles", {}).get(language, course["title"]),
        wheel=wheel,
        exercise=first["name"],
        modules=_LISTED_WITH[language].join(f"`{each['name']}.py`" for each in exercises),
    )

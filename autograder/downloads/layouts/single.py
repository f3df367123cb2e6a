"""One submission by itself: a folder or archive with modules in it."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.downloads.layouts.folders import hand_in
from autograder.downloads.layouts.layout import Grouped, Layout
from autograder.downloads.nodes import Node


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    names = {f"{exercise}.py" for exercise in exercises}
    return any(child.name in names for child in top.children())


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    return Grouped([hand_in(top)])


LAYOUT = Layout(
    name="single",
    title="one submission",
    shape="the modules themselves",
    times="those of the files",
    recognises=_recognises,
    group=_group,
)

"""One submission by itself: a folder or archive with modules in it."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.downloads.layouts.folders import hand_in, stands_for_learner
from autograder.downloads.layouts.layout import Grouped, Layout
from autograder.downloads.nodes import Node, names_of


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    names = names_of(exercises)
    children = top.children()
    if any(child.name in names for child in children):
        return True
    # A notebook may have any name, but one beside the folders of a class is the instructor's.
    return bool(top.notebooks()) and not any(stands_for_learner(child) for child in children)


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

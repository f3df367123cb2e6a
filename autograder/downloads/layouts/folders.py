"""One folder or zip archive for each learner, named for the learner."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from autograder.downloads.layouts.layout import Grouped, Layout
from autograder.downloads.modules import HandIn, Part
from autograder.downloads.nodes import Kind, Node, is_passed_over
from autograder.language import say


def id_of(node: Node) -> str:
    """Give the id: the name of the folder or archive, in one Unicode form so that every platform reads the same id."""
    name = PurePath(node.name).stem if node.is_archive else node.name
    return unicodedata.normalize("NFC", name) or "submission"


def hand_in(node: Node, id: str = "") -> HandIn:
    """Give what lies in one folder or archive as a learner's; a link is refused."""
    linked = say("{name} is a link, and links are not followed", name=node.name) if node.kind is Kind.LINK else ""
    return HandIn(
        id=id or id_of(node),
        place=node.name + "/" * node.stands_for_folder,
        parts=(Part(node),),
        refused=linked,
    )


def stands_for_learner(node: Node) -> bool:
    """Say whether an entry stands for a learner; a link to a folder does, and is refused later."""
    return not is_passed_over(node.name) and (node.stands_for_folder or node.is_archive)


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    return any(stands_for_learner(node) for node in top.children())


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    children = top.children()
    return Grouped(
        [hand_in(node) for node in children if stands_for_learner(node)],
        [node.name for node in children if not stands_for_learner(node)],
    )


LAYOUT = Layout(
    name="folders",
    title="one folder or .zip for each learner",
    shape="a folder or .zip for each learner",
    times="those of the files",
    recognises=_recognises,
    group=_group,
)

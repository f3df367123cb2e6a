"""Clones from a classroom organisation: git repositories named `<assignment>-<username>`.

`gh classroom clone student-repos` puts them into a folder `<assignment>-submissions` (`cmd/gh-classroom/clone/
student-repos/student-repos.go` of github/gh-classroom), as GitHub Classroom names its repositories. The learner's id is
what follows the assignment, which is the folder's name or what all names begin with.

A clone's files are as old as the clone. The time is the last commit's, which the learner's machine wrote.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from autograder.downloads.disk import OnDisk
from autograder.downloads.git import commit_time
from autograder.downloads.layouts.folders import hand_in, stands_for_learner
from autograder.downloads.layouts.layout import Grouped, Layout, most
from autograder.downloads.modules import HandIn
from autograder.downloads.nodes import Node

ENDING = "-submissions"


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    learners = [node for node in top.children() if stands_for_learner(node)]
    return most(sum(_is_clone(node) for node in learners), len(learners))


def _is_clone(node: Node) -> bool:
    return node.is_folder and node.child(".git") is not None


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    children = top.children()
    learners = [node for node in children if stands_for_learner(node)]
    prefix = _prefix(top.name, [node.name for node in learners if _is_clone(node)])
    ignored = [node.name for node in children if not stands_for_learner(node)]
    said = f"learners are named by what follows {prefix!r}" if prefix else ""
    return Grouped([_hand_in(node, prefix) for node in learners], ignored, said)


def _prefix(folder: str, names: Sequence[str]) -> str:
    """Give the assignment and its dash, or nothing where the names tell no assignment."""
    named = folder.removesuffix(ENDING) + "-"
    if folder.endswith(ENDING) and all(name.startswith(named) and name != named for name in names):
        return named
    if len(names) < 2:
        return ""
    # All names begin with what the first and the last in order have in common.
    first, last = min(names), max(names)
    n_common = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: first.rfind("-", 0, n_common) + 1]


def _hand_in(node: Node, prefix: str) -> HandIn:
    handed = hand_in(node, unicodedata.normalize("NFC", node.name.removeprefix(prefix)))
    time = commit_time(node.path) if isinstance(node, OnDisk) and node.is_folder else None
    return replace(handed, handed_in=time, file_times=False)


LAYOUT = Layout(
    name="clones",
    title="clones from a classroom organisation",
    shape="git repositories named <assignment>-<username>",
    times="those of the last commits",
    recognises=_recognises,
    group=_group,
)

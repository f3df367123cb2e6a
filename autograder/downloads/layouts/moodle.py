"""Moodle: "Download all submissions" of an assignment.

In folders, as it is since Moodle 3.1: `<full name>_<number>_assignsubmission_<plugin>[_]/<file>`; without: one flat
folder of `<full name>_<number>_assignsubmission_<plugin>_<file>`. The number is the participant's in this assignment,
as in the grading worksheet ("Participant 657737"); the name is "Participant" where marking is blind, or that of a
group, and the default group has no number. (`mod/assign/classes/downloader.php` of moodle/moodle: `get_student_prefix`
and `load_submissionplugin_filelist`; before it the same in `mod/assign/locallib.php`, where folders end with `_`.)

Newer versions write the moment of the download as the time of each file (`files/classes/local/archive_writer/
zip_writer.php` hands none on), older ones the time of the upload.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.downloads.layouts.layout import Grouped, Layout, most
from autograder.downloads.modules import HandIn, Part
from autograder.downloads.nodes import Node, is_passed_over

NAME = re.compile(r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z0-9]+)(?:_(?P<file>.*))?", re.DOTALL)
FILES = "file"


@dataclass(frozen=True)
class _Handed:
    """One folder or file as its name describes it."""

    node: Node
    id: str
    name: str
    plugin: str
    file: str


def _read_name(node: Node) -> _Handed | None:
    """Take the name of a folder or file apart, or give None where Moodle wrote no such name."""
    found = NAME.fullmatch(node.name)
    if found is None or is_passed_over(node.name):
        return None
    id = found["id"] or found["name"]
    return _Handed(node, id, found["name"], found["plugin"], found["file"] or "")


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    visible = top.visible()
    return most(sum(_read_name(node) is not None for node in visible), len(visible))


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    learners: dict[str, list[_Handed]] = defaultdict(list)
    ignored = []
    for node in top.children():
        if handed := _read_name(node):
            learners[handed.id].append(handed)
        else:
            ignored.append(node.name)
    blind = _is_blind([parts[0].name for parts in learners.values()])
    return Grouped([_hand_in(parts, blind) for parts in learners.values()], ignored)


def _is_blind(names: Sequence[str]) -> bool:
    """Say whether the names are one and the same word, "Participant" in the language of the site."""
    return set(names) == {"Participant"} or (len(names) > 1 and len(set(names)) == 1)


def _hand_in(handed: Sequence[_Handed], blind: bool) -> HandIn:
    return HandIn(
        id=handed[0].id,
        place=handed[0].node.name,
        parts=tuple(_part(each) for each in handed),
        learner_name="" if blind else handed[0].name,
    )


def _part(handed: _Handed) -> Part:
    """Give uploaded files the names they had, and what was typed into other plugins the plugin's name before it."""
    if handed.plugin == FILES:
        return Part(handed.node, "" if handed.node.is_folder else handed.file)
    return Part(handed.node, "/".join(filter(None, [handed.plugin, "" if handed.node.is_folder else handed.file])))


LAYOUT = Layout(
    name="moodle",
    title="a Moodle download",
    shape="folders or files named like Amara Okafor_657737_assignsubmission_file_",
    times="those of the files, where Moodle wrote any but the moment of the download",
    recognises=_recognises,
    group=_group,
)

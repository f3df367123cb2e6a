"""Canvas: "Download Submissions", a flat folder of files that carry names and numbers.

A file is named `<name>[_LATE]_<user id>_<attachment id>_<file>`, or `[LATE_]anon_<anonymous id>_<attachment id>_<file>`
where the assignment is anonymous; a text or link typed into Canvas becomes `<name>[_LATE]_<user id>_text.html` or
`_link.html`. The name is the sortable one in small letters without spaces and punctuation. (`lib/content_zipper.rb` of
instructure/canvas-lms: `get_filename`, `add_upload_submission`, `add_text_or_url`; older versions wrote `late` small.)

A file that is handed in again under a name that the learner has used before gets a number: `softmax-1.py`, or after
several a UUID (`make_unique_filename` in `app/models/attachment.rb`). Attachment ids grow, so the largest is newest.

The entries of the archive are written when it is made, so their times tell nothing of when something was handed in.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.downloads.layouts.layout import Grouped, Layout, most
from autograder.downloads.modules import HandIn, Part
from autograder.downloads.nodes import Node, is_passed_over, names_of

ANONYMOUS = re.compile(
    r"(?:(?P<late>LATE)_)?(?P<id>anon_(?!late_)[A-Za-z0-9]+)_(?P<rest>\d+_.+|text\.html|link\.html)",
    re.IGNORECASE | re.DOTALL,
)
NAMED = re.compile(
    r"(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<id>\d+)_(?P<rest>\d+_.+|text\.html|link\.html)",
    re.IGNORECASE | re.DOTALL,
)
ATTACHMENT = re.compile(r"(\d+)_(.+)", re.DOTALL)
RENAMED = re.compile(r"(.+?)-(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+)(\.[^.]+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class _Attached:
    """One file as its name describes it; typed texts have no attachment id and count as the oldest."""

    node: Node
    id: str
    name: str
    late: bool
    attachment: int
    file: str


def _read_name(node: Node) -> _Attached | None:
    """Take the name of a file apart, or give None where Canvas wrote no such name."""
    anonymous = ANONYMOUS.fullmatch(node.name)
    found = anonymous or NAMED.fullmatch(node.name)
    if found is None or node.is_folder or is_passed_over(node.name):
        return None
    attached = ATTACHMENT.fullmatch(found["rest"])
    number, file = (int(attached[1]), attached[2]) if attached else (0, found["rest"])
    name = "" if anonymous else found["name"]
    return _Attached(node, found["id"], name, found["late"] is not None, number, file)


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    visible = top.visible()
    return most(sum(_read_name(node) is not None for node in visible), len(visible))


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    learners: dict[str, list[_Attached]] = defaultdict(list)
    ignored = []
    for node in top.children():
        if attached := _read_name(node):
            learners[attached.id].append(attached)
        else:
            ignored.append(node.name)
    return Grouped([_hand_in(files, exercises) for files in learners.values()], ignored)


def _hand_in(files: Sequence[_Attached], exercises: Sequence[str]) -> HandIn:
    newest = max(files, key=lambda file: file.attachment)
    parts, notes = _newest_of_each(files, names_of(exercises))
    return HandIn(
        id=newest.id,
        place=newest.node.name,
        parts=tuple(parts),
        learner_name=newest.name,
        file_times=False,
        late=newest.late,
        notes=(*(["Canvas marks it as late"] if newest.late else []), *notes),
    )


def _newest_of_each(files: Sequence[_Attached], modules: set[str]) -> tuple[list[Part], list[str]]:
    """Choose among files that are the same module handed in again; say what was chosen."""
    by_name: dict[str, list[_Attached]] = defaultdict(list)
    for file in files:
        by_name[_original(file.file, modules)].append(file)
    parts: list[Part] = []
    notes: list[str] = []
    for name, same in sorted(by_name.items()):
        chosen = max(same, key=lambda file: file.attachment)
        parts.append(Part(chosen.node, name))
        notes += _said(name, chosen, [file for file in same if file is not chosen])
    return parts, notes


def _original(name: str, modules: set[str]) -> str:
    """Give the name that a module or an archive had before Canvas numbered it."""
    renamed = RENAMED.fullmatch(name)
    original = renamed[1] + renamed[2] if renamed else name
    return original if original in modules or original.casefold().endswith(".zip") else name


def _said(name: str, chosen: _Attached, others: Sequence[_Attached]) -> Iterator[str]:
    if others:
        older = " and ".join(f"{file.file} ({file.attachment})" for file in others)
        yield f"{name}: the newest was taken, {chosen.file} (attachment {chosen.attachment}), not {older}"
    elif chosen.file != name:
        yield f"{chosen.file} was taken for {name}, as Canvas numbers what is handed in again"


LAYOUT = Layout(
    name="canvas",
    title="a Canvas download",
    shape="files named like okaforamara_4711_90210_softmax.py",
    times="not in it, since Canvas writes none",
    recognises=_recognises,
    group=_group,
)

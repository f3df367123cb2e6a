"""nbgrader: `submitted/<learner>/<assignment>/`, as `nbgrader collect` and `nbgrader zip_collect` leave it.

`timestamp.txt` in a learner's assignment holds when it was submitted, by default as "2015-02-02 15:58:23.948203 UTC"
(`exchange/default/submit.py`, `Exchange.timestamp_format`; read by `CourseDirectory.get_existing_timestamp` and
`utils.parse_utc`, for which a time without a zone is in UTC). `submitted` is `CourseDirectory.submitted_directory`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime

from autograder.downloads.layouts.folders import hand_in
from autograder.downloads.layouts.layout import Grouped, Layout, most
from autograder.downloads.model import SubmissionError, UnreadableError
from autograder.downloads.modules import HandIn, Part
from autograder.downloads.nodes import Kind, Node, files_in, holds, is_passed_over, names_of
from autograder.downloads.times import parse_time
from autograder.language import said_by

SUBMITTED = "submitted"
TIMESTAMP = "timestamp.txt"
LONGEST_TIMESTAMP = 1_000


def _learners(top: Node) -> Node:
    """Give the folder with a folder for each learner, where `top` may be the course."""
    submitted = top.child(SUBMITTED)
    return submitted if submitted is not None and submitted.is_folder else top


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    """Expect folders of assignments with times for most learners: one who hands in such a file is not enough."""
    learners = _learners(top).folders()
    stamped = sum(any(work.child(TIMESTAMP) for work in learner.folders()) for learner in learners)
    named = _learners(top).name == SUBMITTED and bool(learners)
    return most(stamped, len(learners)) or (named and not any(_holds_module(each, exercises) for each in learners))


def _holds_module(folder: Node, exercises: Sequence[str]) -> bool:
    names = names_of(exercises)
    return any(child.name in names for child in folder.listed())


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    folder = _learners(top)
    works = {(learner.name, work.name): work for learner in folder.folders() for work in learner.folders()}
    assignment = _assignment(works, exercises, choice)
    hand_ins = [
        _hand_in(learner, work) for learner in folder.folders() for work in learner.folders() if work.name == assignment
    ]
    hand_ins += [hand_in(node) for node in folder.visible() if node.kind is Kind.LINK and node.stands_for_folder]
    beside = [node.name for node in folder.children() if not node.stands_for_folder or is_passed_over(node.name)]
    return Grouped(hand_ins, beside, f"assignment {assignment}")


def _assignment(works: dict[tuple[str, str], Node], exercises: Sequence[str], choice: str) -> str:
    """Give the assignment that is meant: the one chosen, the only one, or the only one with modules of this course."""
    names = sorted({name for _, name in works})
    if choice:
        if choice not in names:
            there = ", ".join(names) or "none"
            raise SubmissionError(f"no learner submitted an assignment {choice!r}; there are: {there}")
        return choice
    if len(names) <= 1:
        return "".join(names)
    ours = sorted({name for (_, name), work in works.items() if _is_ours(work, exercises)})
    if len(ours) != 1:
        raise SubmissionError(
            f"there are several assignments ({', '.join(names)}); choose one, as in --layout nbgrader:{names[0]}"
        )
    return ours[0]


def _is_ours(work: Node, exercises: Sequence[str]) -> bool:
    names = names_of(exercises)
    try:
        return any(file.last_name in names for file in files_in(work))
    except SubmissionError:
        return False


def _hand_in(learner: Node, work: Node) -> HandIn:
    time, notes = _timestamp(work)
    place = f"{learner.name}/{work.name}"
    objection = learner.objection or work.objection
    try:
        parts = [Part(child, child.name) for child in work.children() if _is_handed_in(child)]
        refused = holds(place, objection) if objection else ""
    except SubmissionError as error:
        parts, refused = [], said_by(error)
    id = unicodedata.normalize("NFC", learner.name)
    return HandIn(id, f"{place}/", tuple(parts), handed_in=time, notes=notes, refused=refused)


def _is_handed_in(node: Node) -> bool:
    return node.name != TIMESTAMP and not is_passed_over(node.name)


def _timestamp(work: Node) -> tuple[datetime | None, tuple[str, ...]]:
    node = work.child(TIMESTAMP)
    if node is None:
        return None, ()
    try:
        text = node.read(LONGEST_TIMESTAMP).decode("utf-8", "replace")
    except (UnreadableError, SubmissionError) as error:
        return None, (f"{TIMESTAMP} {error}",)
    time = parse_time(text)
    return time, () if time else (f"{TIMESTAMP} holds no time that can be read: {text[:40].strip()!r}",)


LAYOUT = Layout(
    name="nbgrader",
    title="nbgrader's submitted folder",
    shape="submitted/<learner>/<assignment>/",
    times=f"those of {TIMESTAMP}, else of the files",
    recognises=_recognises,
    group=_group,
    chooses="an assignment",
)

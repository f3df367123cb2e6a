"""Gradescope: "Export Submissions" of a programming assignment.

`submission_metadata.yml` lies beside a folder `submission_<number>` for each submission, and has an entry for each
folder. It is written by Ruby, so its keys are symbols: `:submitters:` is a list with `:name:`, `:sid:` and `:email:` of
each member of a group, `:created_at:` the time of the submission, `:history:` the earlier ones. (Gradescope documents
no schema; so read `otter/grade/metadata.py` of ucbds-infra/otter-grader and the preprocessors that courses publish.)

The members of a group get a submission each, of the same modules.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from autograder.downloads.layouts.layout import Grouped, Layout
from autograder.downloads.model import SubmissionError, UnreadableError
from autograder.downloads.modules import HandIn, Part
from autograder.downloads.nodes import MIB, Node
from autograder.downloads.times import parse_time

if TYPE_CHECKING:
    from autograder.downloads.yaml import Tree

METADATA = "submission_metadata.yml"
# The results of every earlier attempt are in it.
LARGEST_METADATA = 512 * MIB
SUBMITTERS, CREATED_AT, HISTORY = ":submitters", ":created_at", ":history"
NAME, SID, EMAIL = ":name", ":sid", ":email"
WANTED = frozenset([SUBMITTERS, CREATED_AT, HISTORY, NAME, SID, EMAIL])
OLDEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class _Submitter:
    name: str
    sid: str
    email: str

    @property
    def id(self) -> str:
        return unicodedata.normalize("NFC", self.sid or self.email or self.name)


def _recognises(top: Node, exercises: Sequence[str]) -> bool:
    return top.child(METADATA) is not None


def _group(top: Node, exercises: Sequence[str], choice: str = "") -> Grouped:
    metadata = _metadata(top)
    folders = {node.name: node for node in top.folders()}
    hand_ins = [each for name, facts in metadata.items() for each in _hand_ins(name, facts, folders.get(name))]
    ignored = [node.name for node in top.children() if node.name not in metadata and node.name != METADATA]
    return Grouped(_one_of_each(hand_ins), ignored)


def _metadata(top: Node) -> dict[str, Tree]:
    """Read what of the metadata counts; SubmissionError with the line where it is not what Gradescope writes."""
    # Here, since learners' copies of the kit come without PyYAML and read no exports.
    from autograder.downloads.yaml import YamlError, read_yaml

    node = top.child(METADATA)
    try:
        if node is None:
            raise UnreadableError("is not there; expected it beside the folders of the export")
        tree = read_yaml(node.read(LARGEST_METADATA), WANTED)
    except (UnreadableError, YamlError) as error:
        raise SubmissionError(f"{METADATA} {error}") from None
    if not isinstance(tree, dict) or not all(isinstance(facts, dict) for facts in tree.values()):
        raise SubmissionError(f"{METADATA} is no list of submissions, as Gradescope exports one")
    return tree


def _hand_ins(name: str, facts: Tree, folder: Node | None) -> list[HandIn]:
    """Give one for each member of the group; without any submitter the folder's name has to do."""
    assert isinstance(facts, dict)
    submitters = _submitters(facts.get(SUBMITTERS, []))
    created = facts.get(CREATED_AT)
    history = facts.get(HISTORY)
    attempt = len(history) + 1 if isinstance(history, list) else None
    together = [f"handed in together by {' and '.join(_known_as(each) for each in submitters)}"]
    return [
        HandIn(
            id=submitter.id or name,
            place=f"{name}/",
            parts=(Part(folder),) if folder else (),
            learner_name=submitter.name,
            handed_in=parse_time(created) if isinstance(created, str) else None,
            attempt=attempt,
            notes=tuple(together if len(submitters) > 1 else []),
            refused="" if folder else f"{METADATA} names {name}, which is not there; export the submissions again",
        )
        for submitter in submitters or [_Submitter("", "", "")]
    ]


def _submitters(listed: Tree) -> list[_Submitter]:
    people = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [_Submitter(*(_text(each.get(key, "")) for key in (NAME, SID, EMAIL))) for each in people]


def _text(value: Tree) -> str:
    return value.strip() if isinstance(value, str) else ""


def _known_as(submitter: _Submitter) -> str:
    return submitter.name or submitter.id


def _one_of_each(hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """Take the newest submission of a learner who has several, alone and in a group, and say so."""
    by_id: dict[str, list[HandIn]] = defaultdict(list)
    for handed in hand_ins:
        by_id[handed.id].append(handed)
    return [_newest(same) for same in by_id.values()]


def _newest(same: Sequence[HandIn]) -> HandIn:
    newest = max(same, key=lambda handed: handed.handed_in or OLDEST)
    times = Counter(handed.handed_in for handed in same)
    if len(same) == 1 or times[newest.handed_in] > 1:
        # Two of one time are left to be refused as what they are: no one can say which of them counts.
        return newest if len(same) == 1 else replace(newest, refused=_undecided(same))
    older = " and ".join(handed.place for handed in same if handed is not newest)
    return replace(newest, notes=(*newest.notes, f"the newest submission was taken, {newest.place} not {older}"))


def _undecided(same: Sequence[HandIn]) -> str:
    places = " and ".join(handed.place for handed in same)
    return f"{places} stand for the same submission; keep one of them"


LAYOUT = Layout(
    name="gradescope",
    title="a Gradescope export",
    shape=f"{METADATA} beside folders named like submission_90210",
    times=f"those of {METADATA}, else of the files",
    recognises=_recognises,
    group=_group,
)

"""A Gradescope export: numbered folders, and one file that says whose they are."""

from datetime import UTC, datetime

import pytest

from autograder.submission import Refused, SubmissionError, find_submissions

METADATA = """\
---
submission_90210:
  :submitters:
  - :name: Amara Okafor
    :sid: '00417'
    :email: amara@example.org
  :created_at: 2026-03-02 12:00:00.123456789 Z
  :score: 17.5
  :status: processed
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    output: ":name: not this one"
    tests:
    - name: ":submitters:"
      score: 1
  :history:
  - :id: 90001
    :created_at: 2026-03-01 12:00:00.000000000 Z
    :score: 3.0
    :results: {}
submission_90211:
  :submitters:
  - :name: 李雷
    :sid:
    :email: lilei@example.org
  :created_at: 2026-03-02 05:30:00.000000000 -07:00
  :history: []
"""
GROUP = """\
submission_90212:
  :submitters:
  - :name: Bea
    :sid: b1
    :email: bea@example.org
  - :name: Cem
    :sid: c1
    :email: cem@example.org
  :created_at: 2026-03-03 12:00:00 Z
"""


def export(tree, metadata=METADATA, under=""):
    tree.write(f"{under}submission_metadata.yml", metadata)
    for number in (90210, 90211, 90212):
        if f"submission_{number}:" in metadata:
            tree.write(f"{under}submission_{number}/softmax.py", f"number = {number}")


def found(tree, layout=""):
    return find_submissions(tree.path, tree.exercises, layout=layout)


def test_folders_belong_to_those_that_the_metadata_names(tree):
    export(tree)
    gradescope = found(tree)
    assert gradescope.layout == "gradescope"
    assert [(each.id, each.learner_name, each.modules) for each in gradescope.submissions] == [
        ("00417", "Amara Okafor", {"softmax": b"number = 90210"}),
        ("lilei@example.org", "李雷", {"softmax": b"number = 90211"}),
    ]


def test_times_and_attempts_are_those_of_the_metadata(tree):
    export(tree)
    amara, lei = found(tree).submissions
    assert amara.handed_in == datetime(2026, 3, 2, 12, 0, 0, 123_456, UTC)
    assert lei.handed_in == datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
    assert (amara.attempt, lei.attempt) == (2, 1)


def test_each_member_of_a_group_has_a_submission_and_it_is_said(tree):
    export(tree, GROUP)
    assert [(each.id, each.modules, each.notes) for each in found(tree).submissions] == [
        ("b1", {"softmax": b"number = 90212"}, ("handed in together by Bea and Cem",)),
        ("c1", {"softmax": b"number = 90212"}, ("handed in together by Bea and Cem",)),
    ]


def test_of_two_submissions_of_one_learner_the_newest_wins_and_it_is_said(tree):
    export(tree, METADATA + GROUP.replace("c1", "'00417'"))
    amara = found(tree).submissions[0]
    assert amara.modules == {"softmax": b"number = 90212"}
    assert amara.notes[-1] == "the newest submission was taken, submission_90212/ not submission_90210/"


def test_two_submissions_of_one_time_are_refused_since_nothing_says_which_counts(tree):
    twins = METADATA.replace(":sid:\n", ":sid: '00417'\n").replace("05:30:00.000000000 -07", "12:00:00.123456789 +00")
    export(tree, twins)
    assert found(tree).submissions == [
        Refused("00417", "submission_90210/ and submission_90211/ stand for the same submission; keep one of them")
    ]


def test_a_submission_without_submitters_has_the_name_of_its_folder(tree):
    export(tree, "submission_90210:\n  :submitters: []\n")
    assert [each.id for each in found(tree).submissions] == ["submission_90210"]


def test_a_folder_that_is_missing_is_told(tree):
    export(tree)
    (tree.path / "submission_90210" / "softmax.py").unlink()
    (tree.path / "submission_90210").rmdir()
    reason = "submission_metadata.yml names submission_90210, which is not there; export the submissions again"
    assert found(tree).submissions[0] == Refused("00417", reason)


def test_what_the_metadata_does_not_name_is_ignored(tree):
    export(tree)
    tree.write("submission_1/softmax.py")
    assert found(tree).ignored == ["submission_1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "submission_metadata.yml is not YAML, line 2: did not find expected ',' or ']'"),
        ("- a\n- b\n", "submission_metadata.yml is no list of submissions, as Gradescope exports one"),
        ("submission_1: 5\n", "submission_metadata.yml is no list of submissions, as Gradescope exports one"),
        ("\x00", "submission_metadata.yml is not YAML: "),
    ],
)
def test_metadata_that_is_none_is_one_line(tree, text, reason):
    tree.write("submission_metadata.yml", text)
    tree.write("submission_1/softmax.py")
    with pytest.raises(SubmissionError) as error:
        found(tree)
    assert str(error.value).startswith(f"{tree.path}: {reason}")
    assert "\n" not in str(error.value)


def test_an_export_is_found_in_the_folder_that_the_archive_puts_around_it(tree):
    export(tree, under="assignment_9100_export/")
    assert found(tree).layout == "gradescope"
    packed = find_submissions(tree.zipped(), tree.exercises)
    assert [each.id for each in packed.submissions] == ["00417", "lilei@example.org"]
    assert [each.modules["softmax"] for each in packed.submissions] == [b"number = 90210", b"number = 90211"]


def test_metadata_that_a_learner_hands_in_means_nothing(tree):
    tree.write("amara/softmax.py")
    tree.write("mallory/submission_metadata.yml", GROUP)
    tree.write("mallory/submission_90212/softmax.py")
    assert [each.id for each in found(tree).submissions] == ["amara", "mallory"]

"""nbgrader's submitted folder: a folder for each learner, in it one for each assignment."""

from datetime import UTC, datetime, timedelta

import pytest

from autograder.submission import Refused, SubmissionError, find_submissions


def found(tree, layout=""):
    return find_submissions(tree.path, tree.exercises, layout=layout)


def hand_in(tree, learner, assignment="attention", stamp="2026-03-02 12:00:00.250000 UTC", name="softmax.py"):
    tree.write(f"submitted/{learner}/{assignment}/{name}", f"by = {learner!r}")
    if stamp:
        tree.write(f"submitted/{learner}/{assignment}/timestamp.txt", stamp)


@pytest.mark.parametrize("inside", [True, False], ids=["submitted", "the course"])
def test_each_learner_has_the_modules_of_the_assignment(tree, inside):
    hand_in(tree, "bitdiddle")
    hand_in(tree, "李雷")
    path = tree.path / "submitted" if inside else tree.path
    submitted = find_submissions(path, tree.exercises)
    assert submitted.layout == "nbgrader"
    assert [(each.id, each.modules) for each in submitted.submissions] == [
        ("bitdiddle", {"softmax": b"by = 'bitdiddle'"}),
        ("李雷", {"softmax": "by = '李雷'".encode()}),
    ]


def test_the_timestamp_is_the_hand_in_time_and_no_extra_file(tree):
    hand_in(tree, "bitdiddle")
    (bitdiddle,) = found(tree).submissions
    assert bitdiddle.handed_in == datetime(2026, 3, 2, 12, 0, 0, 250_000, UTC)
    assert bitdiddle.extra == ()


def test_a_learner_without_timestamp_has_the_time_of_the_file(tree):
    hand_in(tree, "alyssa")
    hand_in(tree, "ben", stamp="")
    at = tree.noon + timedelta(days=1)
    tree.write("submitted/ben/attention/softmax.py", at=at)
    hand_in(tree, "cy")
    assert [each.handed_in for each in found(tree).submissions][1] == at


def test_a_timestamp_that_is_none_is_said(tree):
    hand_in(tree, "bitdiddle", stamp="yesterday")
    (bitdiddle,) = found(tree).submissions
    assert bitdiddle.notes == ("timestamp.txt holds no time that can be read: 'yesterday'",)


def test_of_several_assignments_the_one_with_modules_is_taken_and_said(tree):
    hand_in(tree, "bitdiddle", "ps1", name="problem1.ipynb")
    hand_in(tree, "bitdiddle", "attention")
    submitted = found(tree)
    assert list(submitted.submissions[0].modules) == ["softmax"]
    assert submitted.said == (
        "Read as nbgrader's submitted folder (assignment attention); "
        "hand-in times are those of timestamp.txt, else of the files."
    )


def test_of_several_assignments_with_modules_one_has_to_be_chosen(tree):
    hand_in(tree, "bitdiddle", "attention")
    hand_in(tree, "bitdiddle", "resit")
    with pytest.raises(SubmissionError) as error:
        found(tree)
    assert str(error.value) == (
        f"{tree.path}: there are several assignments (attention, resit); choose one, as in --layout nbgrader:attention"
    )
    tree.write("submitted/bitdiddle/resit/softmax.py", "again = 1")
    assert found(tree, "nbgrader:resit").submissions[0].modules == {"softmax": b"again = 1"}


def test_an_assignment_that_nobody_submitted_cannot_be_chosen(tree):
    hand_in(tree, "bitdiddle")
    with pytest.raises(SubmissionError, match="no learner submitted an assignment 'ps9'; there are: attention"):
        found(tree, "nbgrader:ps9")


def test_where_nobody_submitted_anything_there_is_nothing_to_choose(tree):
    tree.write("readme.txt")
    with pytest.raises(SubmissionError, match="no learner submitted an assignment 'ps9'; there are: none"):
        found(tree, "nbgrader:ps9")


def test_one_learner_who_hands_in_a_timestamp_does_not_decide_for_the_class(tree):
    tree.write("mallory/hand-in/timestamp.txt", "2026-03-02 12:00:00 UTC")
    tree.write("mallory/hand-in/softmax.py")
    tree.write("amara/softmax.py")
    assert found(tree).layout == "folders"


def test_a_learner_that_is_a_link_is_refused(tree, tmp_path):
    hand_in(tree, "amara")
    (tree.path / "submitted" / "mallory").symlink_to(tree.path / "submitted" / "amara")
    assert found(tree).submissions[1] == Refused("mallory", "mallory is a link, and links are not followed")


def test_the_archive_of_the_folder_can_be_graded(tree):
    hand_in(tree, "amara")
    hand_in(tree, "bea")
    submitted = find_submissions(tree.zipped(), tree.exercises)
    assert (submitted.layout, [each.id for each in submitted.submissions]) == ("nbgrader", ["amara", "bea"])

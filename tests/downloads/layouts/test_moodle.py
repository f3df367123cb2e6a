"""A Moodle download: a folder for each learner, or all files in one folder."""

from datetime import timedelta

import pytest

from autograder.submission import Refused, find_submissions


def found(tree, layout=""):
    return find_submissions(tree.path, tree.exercises, layout=layout)


@pytest.mark.parametrize("ending", ["_", ""], ids=["until 3.11", "later"])
def test_folders_are_read_by_the_number_of_the_participant(tree, ending):
    tree.write(f"Amara Okafor_657737_assignsubmission_file{ending}/softmax.py", "a = 1")
    tree.write(f"李 雷_657738_assignsubmission_file{ending}/week 1/softmax.py", "b = 1")
    moodle = found(tree)
    assert moodle.layout == "moodle"
    assert [(each.id, each.learner_name, each.modules["softmax"]) for each in moodle.submissions] == [
        ("657737", "Amara Okafor", b"a = 1"),
        ("657738", "李 雷", b"b = 1"),
    ]


def test_flat_files_are_gathered_and_have_their_names_back(tree):
    tree.write("Amara Okafor_657737_assignsubmission_file_softmax.py", "a = 1")
    tree.write("Amara Okafor_657737_assignsubmission_file_causal_mask.py", "b = 1")
    tree.write("Amara Okafor_657737_assignsubmission_file_notes_1.txt")
    (amara,) = found(tree).submissions
    assert amara.modules == {"softmax": b"a = 1", "causal_mask": b"b = 1"}
    assert amara.extra == ("notes_1.txt",)


def test_text_typed_into_moodle_belongs_to_the_same_learner(tree):
    tree.write("Amara Okafor_657737_assignsubmission_file_/softmax.py")
    tree.write("Amara Okafor_657737_assignsubmission_onlinetext_/onlinetext.html")
    (amara,) = found(tree).submissions
    assert list(amara.modules) == ["softmax"]
    assert amara.extra == ("onlinetext/onlinetext.html",)


def test_blind_marking_gives_no_names(tree):
    tree.write("Teilnehmer_1_assignsubmission_file_/softmax.py")
    tree.write("Teilnehmer_2_assignsubmission_file_/softmax.py")
    assert [(each.id, each.learner_name) for each in found(tree).submissions] == [("1", ""), ("2", "")]


def test_the_default_group_has_a_name_and_no_number(tree):
    tree.write("Default group_assignsubmission_file/softmax.py")
    (group,) = found(tree).submissions
    assert (group.id, group.learner_name) == ("Default group", "Default group")


def test_the_times_of_files_are_the_hand_in_times(tree):
    for number, day in enumerate([1, 2, 3]):
        at = tree.noon + timedelta(days=day)
        tree.write(f"Learner {number}_{number}_assignsubmission_file_/softmax.py", at=at)
    assert [each.handed_in for each in found(tree).submissions] == [tree.noon + timedelta(days=d) for d in (1, 2, 3)]


def test_files_all_written_by_the_download_tell_no_hand_in_times(tree):
    for number in range(3):
        at = tree.noon + timedelta(seconds=number)
        tree.write(f"Learner {number}_{number}_assignsubmission_file_/softmax.py", at=at)
    moodle = found(tree)
    assert [each.handed_in for each in moodle.submissions] == [None] * 3
    assert moodle.said == (
        "Read as a Moodle download; hand-in times are not known, since all files are of one moment, "
        "when they were downloaded or copied."
    )


def test_the_archive_itself_can_be_graded(tree):
    tree.write("Amara Okafor_657737_assignsubmission_file/softmax.py", "a = 1", at=tree.noon)
    tree.write("Li Lei_657738_assignsubmission_file/softmax.py", "b = 1")
    moodle = find_submissions(tree.zipped("CS101-Attention-42.zip"), tree.exercises)
    assert moodle.layout == "moodle"
    assert [each.modules["softmax"] for each in moodle.submissions] == [b"a = 1", b"b = 1"]
    assert moodle.submissions[0].handed_in == tree.noon


def test_what_a_learner_calls_a_file_does_not_make_another_learner(tree):
    tree.write("Amara Okafor_657737_assignsubmission_file_/Li Lei_657738_assignsubmission_file_softmax.py")
    tree.write("Amara Okafor_657737_assignsubmission_file_/softmax.py", "a = 1")
    (amara,) = found(tree).submissions
    assert amara.modules == {"softmax": b"a = 1"}


def test_a_folder_that_is_a_link_is_refused(tree, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "softmax.py").write_text("secret = 1")
    tree.write("Amara Okafor_657737_assignsubmission_file_/softmax.py")
    (tree.path / "Li Lei_657738_assignsubmission_file_").symlink_to(tmp_path / "elsewhere")
    reason = "Li Lei_657738_assignsubmission_file_ is a link, and links are not followed"
    assert found(tree).submissions[1] == Refused("657738", reason)

"""Clones of repositories named for an assignment and a learner."""

import os
import subprocess
from datetime import UTC, datetime

import pytest

from autograder.submission import Refused, find_submissions


def commit(tree, name, when="2026-03-02T12:00:00+01:00", source="a = 1", **settings):
    tree.write(f"{name}/softmax.py", source)
    folder = tree.path / name
    environment = {
        **os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
    }  # fmt: skip
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "hand in"]):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True)
    return folder


def found(tree, path=None):
    return find_submissions(path or tree.path, tree.exercises)


def test_the_id_is_what_follows_the_assignment(tree):
    commit(tree, "attention-amara")
    commit(tree, "attention-li-lei")
    clones = found(tree)
    assert clones.layout == "clones"
    assert [each.id for each in clones.submissions] == ["amara", "li-lei"]
    assert clones.said == (
        "Read as clones from a classroom organisation (learners are named by what follows 'attention-'); "
        "hand-in times are those of the last commits."
    )


def test_the_assignment_is_the_folder_s_where_that_tells_it(tree):
    commit(tree, "week-1-submissions/week-1-team-a")
    commit(tree, "week-1-submissions/week-1-team-b")
    ids = [each.id for each in found(tree, tree.path / "week-1-submissions").submissions]
    assert ids == ["team-a", "team-b"]


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["hw1-anna", "hw1-anna-2"], ["anna", "anna-2"]),
        (["amara", "amir"], ["amara", "amir"]),
        (["hw1-amara"], ["hw1-amara"]),
    ],
)
def test_names_are_cut_only_where_they_all_begin_alike_up_to_a_dash(tree, names, ids):
    for name in names:
        tree.write(f"{name}/.git/HEAD")
        tree.write(f"{name}/src/softmax.py")
    assert [each.id for each in found(tree).submissions] == ids


def test_the_hand_in_time_is_that_of_the_commit_and_not_of_the_clone(tree):
    commit(tree, "attention-amara")
    commit(tree, "attention-bea", "2026-03-04T23:30:00-08:00")
    amara, bea = found(tree).submissions
    assert amara.handed_in == datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
    assert bea.handed_in == datetime(2026, 3, 5, 7, 30, tzinfo=UTC)


def test_a_clone_whose_objects_and_branches_are_packed_is_read(tree):
    folder = commit(tree, "attention-amara")
    subprocess.run(["git", "gc", "-q", "--aggressive", "--prune=now"], cwd=folder, check=True)
    assert not (folder / ".git" / "refs" / "heads" / "main").exists()
    (amara,) = found(tree).submissions
    assert amara.handed_in == datetime(2026, 3, 2, 11, 0, tzinfo=UTC)


def test_a_detached_head_is_read(tree):
    folder = commit(tree, "attention-amara")
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=folder, check=True)
    assert found(tree).submissions[0].handed_in == datetime(2026, 3, 2, 11, 0, tzinfo=UTC)


@pytest.mark.parametrize("head", ["", "ref: refs/heads/none", "ref: ../../secret", "ref: refs/heads/../../x", "f" * 40])
def test_a_repository_that_tells_no_commit_has_no_time(tree, head):
    folder = commit(tree, "attention-amara")
    (folder / ".git" / "HEAD").write_text(head)
    (amara,) = found(tree).submissions
    assert (amara.handed_in, list(amara.modules)) == (None, ["softmax"])


def test_nothing_that_a_repository_s_settings_name_is_run(tree, tmp_path):
    folder = commit(tree, "attention-mallory")
    mark = tmp_path / "ran"
    program = tree.write("attention-mallory/program.sh", f"#!/bin/sh\necho >> {mark}\n")
    program.chmod(0o755)
    (folder / ".git" / "config").write_text(
        f"[core]\nfsmonitor = {program}\npager = {program}\nsshCommand = {program}\nrepositoryformatversion = 1\n"
        f"[log]\nshowSignature = true\n[gpg]\nprogram = {program}\n[alias]\ncat-file = !{program}\n"
        f'[extensions]\npartialClone = origin\n[remote "origin"]\nurl = ext::{program}\npromisor = true\n'
    )
    (folder / ".git" / "HEAD").write_text("f" * 40)
    assert found(tree).submissions[0].handed_in is None
    assert not mark.exists()


def test_one_learner_who_hands_in_a_repository_does_not_decide_for_the_class(tree):
    tree.write("amara/softmax.py")
    tree.write("bea/softmax.py")
    tree.write("mallory/.git/HEAD")
    assert found(tree).layout == "folders"


def test_a_clone_that_is_a_link_is_refused(tree):
    commit(tree, "hw-amara")
    commit(tree, "hw-bea")
    (tree.path / "hw-mallory").symlink_to(tree.path / "hw-amara")
    assert found(tree).submissions[2] == Refused("mallory", "hw-mallory is a link, and links are not followed")

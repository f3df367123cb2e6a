"""A Canvas download: one flat folder, with all that is known in the names of the files."""

import pytest

from autograder.submission import SubmissionError, find_submissions


def found(tree, layout=""):
    return find_submissions(tree.path, tree.exercises, layout=layout)


def only(tree):
    (submission,) = found(tree).submissions
    return submission


def test_files_are_gathered_by_the_id_of_their_learner(tree):
    tree.write("okaforamara_4711_90210_softmax.py", "a = 1")
    tree.write("okaforamara_4711_90211_causal_mask.py", "b = 1")
    tree.write("lilei_4712_90212_softmax.py", "c = 1")
    canvas = found(tree)
    assert canvas.layout == "canvas"
    assert [(each.id, each.learner_name, each.modules) for each in canvas.submissions] == [
        ("4711", "okaforamara", {"softmax": b"a = 1", "causal_mask": b"b = 1"}),
        ("4712", "lilei", {"softmax": b"c = 1"}),
    ]


def test_the_instructor_is_told_the_layout_and_that_it_has_no_times(tree):
    tree.write("okaforamara_4711_90210_softmax.py", at=tree.noon)
    assert found(tree).said == "Read as a Canvas download; hand-in times are not in it, since Canvas writes none."
    assert only(tree).handed_in is None


@pytest.mark.parametrize("word", ["LATE", "late"])
def test_what_canvas_marks_as_late_is_late_and_said(tree, word):
    tree.write(f"okaforamara_{word}_4711_90210_softmax.py")
    tree.write("lilei_4712_90212_softmax.py")
    amara, lei = found(tree).submissions
    assert (amara.id, amara.learner_name, amara.late) == ("4711", "okaforamara", True)
    assert amara.notes == ("Canvas marks it as late",)
    assert (lei.late, lei.notes) == (False, ())


def test_anonymous_learners_have_their_anonymous_id_and_no_name(tree):
    tree.write("anon_aB3dE_90210_softmax.py")
    tree.write("LATE_anon_12345_90211_softmax.py")
    facts = [(each.id, each.learner_name, each.late) for each in found(tree).submissions]
    assert facts == [("anon_12345", "", True), ("anon_aB3dE", "", False)]


def test_a_file_that_canvas_renamed_is_the_module_it_was(tree):
    tree.write("okaforamara_4711_90210_softmax-1.py", "a = 1")
    assert only(tree).modules == {"softmax": b"a = 1"}
    assert only(tree).notes == ("softmax-1.py was taken for softmax.py, as Canvas numbers what is handed in again",)


def test_of_several_attempts_the_newest_wins_whatever_its_number_and_it_is_said(tree):
    tree.write("okaforamara_4711_90210_softmax.py", "first = 1")
    tree.write("okaforamara_4711_100001_softmax-2.py", "third = 1")
    tree.write("okaforamara_4711_90999_softmax-1.py", "second = 1")
    assert only(tree).modules == {"softmax": b"third = 1"}
    assert only(tree).notes == (
        "softmax.py: the newest was taken, softmax-2.py (attachment 100001), "
        "not softmax.py (90210) and softmax-1.py (90999)",
    )


def test_after_many_attempts_canvas_writes_a_uuid(tree):
    tree.write("okaforamara_4711_90210_softmax-123e4567-e89b-12d3-a456-426614174000.py", "a = 1")
    assert only(tree).modules == {"softmax": b"a = 1"}


def test_only_modules_get_their_old_names_back(tree):
    tree.write("okaforamara_4711_90210_plot-1.py")
    tree.write("okaforamara_4711_90211_softmax.py")
    assert only(tree).extra == ("plot-1.py",)


def test_an_archive_that_was_handed_in_is_looked_into_and_of_two_the_newest(tree, tmp_path):
    work = type(tree)(tmp_path / "work")
    for text, name in (
        ("old = 1", "okaforamara_4711_90210_work.zip"),
        ("new = 1", "okaforamara_4711_90300_work-1.zip"),
    ):
        work.write("hw/softmax.py", text)
        work.zipped(f"class/{name}")
    assert only(tree).modules == {"softmax": b"new = 1"}


def test_text_typed_into_canvas_is_a_submission_without_modules(tree):
    tree.write("okaforamara_4711_text.html")
    tree.write("lilei_LATE_4712_link.html")
    amara, lei = found(tree).submissions
    assert (amara.modules, amara.extra) == ({}, ("text.html",))
    assert (lei.late, lei.extra) == (True, ("link.html",))


@pytest.mark.parametrize("name", ["李雷", "смирноваольга", "ओझादीपिका", "n" * 180])
def test_names_in_any_script_are_read(tree, name):
    tree.write(f"{name}_1_2_softmax.py")
    assert (only(tree).id, only(tree).learner_name) == ("1", name)


def test_numbers_in_the_name_that_a_learner_gave_a_file_change_nothing(tree):
    tree.write("okaforamara_4711_90210_lilei_4712_90212_softmax.py", "forged = 1")
    tree.write("okaforamara_4711_90211_softmax.py", "a = 1")
    assert (only(tree).id, only(tree).modules) == ("4711", {"softmax": b"a = 1"})
    assert only(tree).extra == ("lilei_4712_90212_softmax.py",)


def test_what_canvas_did_not_name_is_ignored(tree):
    tree.write("okaforamara_4711_90210_softmax.py")
    tree.write("lilei_4712_90211_softmax.py")
    tree.write("roster.csv")
    assert found(tree).ignored == ["roster.csv"]


def test_the_archive_itself_can_be_graded(tree):
    tree.write("okaforamara_4711_90210_softmax.py", "a = 1")
    tree.write("lilei_4712_90212_softmax.py", "b = 1")
    canvas = find_submissions(tree.zipped("submissions.zip"), tree.exercises)
    assert canvas.layout == "canvas"
    assert [each.modules["softmax"] for each in canvas.submissions] == [b"a = 1", b"b = 1"]


def test_a_link_among_the_files_is_a_problem_of_its_module(tree, tmp_path):
    (tmp_path / "solution.py").write_text("secret = 1")
    tree.write("okaforamara_4711_90211_causal_mask.py")
    (tree.path / "okaforamara_4711_90210_softmax.py").symlink_to(tmp_path / "solution.py")
    assert list(only(tree).modules) == ["causal_mask"]
    assert str(only(tree).problems["softmax"]) == "softmax.py is a link, and links are not followed"


def test_where_it_is_asked_for_and_not_there_one_line_says_so(tree):
    tree.write("amara/softmax.py")
    with pytest.raises(SubmissionError) as error:
        found(tree, "canvas")
    assert str(error.value) == (
        f"{tree.path}: no submission in it; expected files named like okaforamara_4711_90210_softmax.py"
    )

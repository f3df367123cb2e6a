"""The page of a class is made from its reports, when it was graded and whenever it is wanted."""

import pytest

from autograder.class_page import make_class_page
from autograder.cli import run
from autograder.report import CheckResult, ExerciseResult, Outcome, Report, write_report
from autograder.roster import Learner


def graded(id, **facts):
    failed = CheckResult(
        "test_more", "more is added", Outcome.FAILED, 5, 0, "returned [2.], right is [3.]", "double.more"
    )
    return Report(
        submission=id, status="graded", points=5, exercises=[ExerciseResult("double", 5, 0, checks=[failed])], **facts
    )


@pytest.fixture
def out(tmp_path):
    for id in ("ada", "李雷"):
        write_report(graded(id), tmp_path / "reports")
    return tmp_path


def text_of(path):
    return path.read_text(encoding="utf-8")


def test_learners_link_to_their_pages_where_these_are(small_course, out):
    (out / "feedback").mkdir()
    (out / "feedback" / "李雷.html").write_text("a page", encoding="utf-8")

    html = text_of(make_class_page(out, small_course(), "en"))

    assert 'href="feedback/%E6%9D%8E%E9%9B%B7.html"' in html
    assert 'href="feedback/ada.html"' not in html and '<bdi class="who">ada</bdi>' in html


def test_who_is_on_the_roster_and_has_no_report_is_missing(small_course, out):
    roster = [Learner("ada", "Ada Lovelace"), Learner("bea", "Bea Novak")]

    html = text_of(make_class_page(out, small_course(), "en", roster))

    assert "<h2>Handed nothing in (1)</h2>" in html and "Bea Novak" in html
    assert "<h2>Not on the roster (1)</h2>" in html


def test_a_broken_report_is_named_on_the_page_and_costs_nobody_else(small_course, out):
    (out / "reports" / "bea.json").write_text("{", encoding="utf-8")

    html = text_of(make_class_page(out, small_course(), "en"))

    assert "2 learners graded" in html
    assert "<h2>Reports that cannot be read (1)</h2>" in html and "bea.json" in html


def test_a_submission_that_was_not_graded_says_why_and_has_no_marks(small_course, out):
    write_report(
        Report(submission="torn", status="not_graded", reason="torn.zip is not whole", points=5), out / "reports"
    )

    html = text_of(make_class_page(out, small_course(), "en"))

    assert "<h2>Not graded (1)</h2>" in html
    assert '<td class="remark">not graded: torn.zip is not whole</td>' in html


def test_the_page_of_similar_submissions_is_linked_where_it_is(small_course, out):
    assert "similar.html" not in text_of(make_class_page(out, small_course(), "en"))
    (out / "similar.html").write_text("a page", encoding="utf-8")
    assert '<a href="similar.html">' in text_of(make_class_page(out, small_course(), "en"))


def test_a_class_of_which_nothing_could_be_graded_has_a_page(small_course, tmp_path):
    write_report(Report(submission="torn", status="not_graded", reason="not whole", points=5), tmp_path / "reports")

    html = text_of(make_class_page(tmp_path, small_course(), "en"))

    assert "0 learners graded" in html and "No known mistake explains what failed." in html


def test_the_command_takes_a_roster(small_course, out, capsys):
    roster = out / "roster.csv"
    roster.write_text("id,name\nbea,Bea Novak\n", encoding="utf-8")
    command = ["pages", "--out", str(out), "--course", str(small_course().root), "--roster", str(roster)]

    assert run([*command, "--lang", "zh"]) == 0

    html = text_of(out / "class.html")
    assert '<html lang="zh">' in html and "<h2>什么都没交（1）</h2>" in html
    roster.write_text("name\nBea\n", encoding="utf-8")
    assert run(command) == 2
    assert "there is no column id" in capsys.readouterr().err


@pytest.mark.parametrize("option", [[], ["--no-pages"]], ids=["with", "without"])
def test_grading_ends_with_the_page_unless_told_not_to(small_course, tmp_path, option):
    learner = tmp_path / "class" / "ada"
    learner.mkdir(parents=True)
    (learner / "double.py").write_text("def double(numbers, more=0.0):\n    return numbers * 2\n", encoding="utf-8")
    out = tmp_path / "grades"
    options = ["--out", str(out), "--course", str(small_course().root), "--no-gradebook", "--trust", *option]

    assert run(["grade", str(learner.parent), *options]) == 0

    assert (out / "class.html").exists() is not bool(option)
    if not option:
        assert 'href="feedback/ada.html"' in text_of(out / "class.html")

"""The pages of a class: made from its reports, and made again only where something has changed."""

import pytest

from autograder.cli import run
from autograder.pages import make_pages
from autograder.report import CheckResult, ExerciseResult, Outcome, Report, ReportError, report_name, write_report


def report(id, title="more is added", **facts):
    failed = CheckResult("test_more", title, Outcome.FAILED, 5, 0, "returned [2.], right is [3.]", "double.more")
    return Report(submission=id, status="graded", points=5, exercises=[ExerciseResult("double", 5, 0, checks=[failed])])


@pytest.fixture
def graded(small_course, tmp_path):
    """Give the small course, and a folder with the reports of two learners."""
    out = tmp_path / "grades"
    for id in ("ada", "李雷/.."):
        write_report(report(id), out / "reports")
    return small_course(), out


def moments(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_each_report_has_a_page_with_the_same_name(graded):
    course, out = graded

    pages = make_pages(out, course, ["en", "zh"])

    assert (pages.written, pages.kept, pages.trouble) == (2, 0, [])
    names = {report_name(id).replace(".json", ".html") for id in ("ada", "李雷/..")}
    assert {path.name for path in (out / "feedback").iterdir()} == names
    html = (out / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert "returned [2.], right is [3.]" in html
    assert "<code>more</code> is added to twice the numbers." in html


def test_a_page_whose_report_is_as_it_was_is_not_written_again(graded):
    course, out = graded
    make_pages(out, course, ["en"])
    before = moments(out / "feedback")
    write_report(report("ada", "something else"), out / "reports")

    pages = make_pages(out, course, ["en"])

    after = moments(out / "feedback")
    assert (pages.written, pages.kept) == (1, 1)
    assert {name for name in after if after[name] != before[name]} == {"ada.html"}
    assert "something else" in (out / "feedback" / "ada.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        {"changes": {"course.toml": {'feedback = "full"': 'feedback = "title"'}}},
        {"changes": {"exercises/contract/double.en.toml": {"is added to": "comes on top of"}}},
    ],
    ids=["policy", "contract"],
)
def test_pages_are_made_again_where_the_course_has_changed(graded, small_course, change):
    course, out = graded
    make_pages(out, course, ["en"])
    assert make_pages(out, small_course(**change), ["en"]).written == 2


def test_pages_are_made_again_in_another_language(graded):
    course, out = graded
    make_pages(out, course, ["en", "zh"])
    assert make_pages(out, course, ["zh"]).written == 2


def test_a_broken_report_costs_its_own_page_and_is_named(graded):
    course, out = graded
    (out / "reports" / "bea.json").write_text("{", encoding="utf-8")

    pages = make_pages(out, course, ["en"])

    assert pages.written == 2
    (line,) = pages.trouble
    assert str(line).startswith(f"no page of {out / 'reports' / 'bea.json'}: not a report: ")


def test_without_reports_there_are_no_pages(small_course, tmp_path):
    with pytest.raises(ReportError, match="there is no such folder; grade first"):
        make_pages(tmp_path, small_course(), ["en"])


def test_the_command_says_where_the_pages_are_and_what_has_none(graded, capsys, monkeypatch):
    course, out = graded
    monkeypatch.setenv("LC_ALL", "C")
    command = ["pages", "--out", str(out), "--course", str(course.root)]

    assert run(command) == 0
    of_class = out / "class.html"
    said = f"Pages:   {out / 'feedback'} (2 pages, 2 of them new or changed)\nClass:   {of_class}\n"
    assert capsys.readouterr().out == said
    assert run([*command, "--lang", "zh"]) == 0
    assert capsys.readouterr().out == f"反馈页：{out / 'feedback'}（共 2 页，新写或更新 2 页）\n班级页：{of_class}\n"
    assert 'lang="en"' not in (out / "feedback" / "ada.html").read_text(encoding="utf-8")
    (out / "reports" / "bea.json").write_text("{", encoding="utf-8")
    assert run(command) == 2
    assert "no page of " in capsys.readouterr().err


def test_a_language_that_the_course_has_not_is_one_line(graded, capsys):
    course, out = graded
    assert run(["pages", "--out", str(out), "--course", str(course.root), "--lang", "fr"]) == 2
    assert capsys.readouterr().err == "attend: --lang fr: the course is in en and zh; ask for one of these\n"


@pytest.mark.parametrize("option", [[], ["--no-pages"]], ids=["with", "without"])
def test_grade_ends_with_the_pages_unless_told_not_to(small_course, tmp_path, option, capsys):
    course, out = small_course(), tmp_path / "grades"
    learner = tmp_path / "class" / "ada"
    learner.mkdir(parents=True)
    source = "def double(numbers, more=0.0):\n    if more:\n        return numbers.nothing\n    return numbers * 2\n"
    (learner / "double.py").write_text(source, encoding="utf-8")

    fixed = ["--out", str(out), "--course", str(course.root), "--no-gradebook", "--trust"]
    assert run(["grade", str(learner.parent), *fixed, *option]) == 0

    page = out / "feedback" / "ada.html"
    assert page.exists() is not bool(option)
    if not option:
        html = page.read_text(encoding="utf-8")
        assert "4 of 5 points · 3 of 4 checks passed" in html
        assert '<tr class="raised"><th scope="row">3</th><td><mark>        return numbers.nothing</mark>' in html

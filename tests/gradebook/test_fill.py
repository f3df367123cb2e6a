"""The gradebook says what the reports say, and what people wrote into it stays."""

import logging
import sqlite3
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from nbgrader.api import Gradebook, MissingEntry

from autograder.course import Course
from autograder.gradebook import GradebookError
from autograder.gradebook import fill as fill_module
from autograder.gradebook.fill import file_url, fill_gradebook, reports_in
from autograder.report import ReportError, write_report
from autograder.roster import Learner

from .support import check, not_graded, report_of, result, right, rows_at, wrong

PLACE = ("softmax", "by-hand")


@pytest.fixture
def book(url):
    """Give a function that opens the gradebook as nbgrader does; all are closed as the test ends."""
    opened = []

    def open_book() -> Gradebook:
        opened.append(Gradebook(url, course_id="by-hand"))
        return opened[-1]

    yield open_book
    for gradebook in opened:
        gradebook.close()


def test_a_check_is_a_grade_cell_and_an_exercise_a_notebook_of_the_one_assignment(course, url, book):
    fill_gradebook([right("amara")], course, url)
    assignment = book().find_assignment("by-hand")
    worth = {
        notebook.name: {cell.name: (cell.max_score, cell.cell_type) for cell in notebook.grade_cells}
        for notebook in assignment.notebooks
    }
    assert worth == {
        "mask": {"test_future": (2, "code")},
        "softmax": {"test_sum": (1, "code"), "test_shift[800]": (2, "code"), "test_shape": (0, "code")},
    }
    assert assignment.max_score == 5
    assert assignment.duedate == datetime(2026, 3, 1, 22, 59)
    assert (assignment.course_id, [each.name for each in book().assignments]) == ("by-hand", ["by-hand"])


def test_scores_are_the_graders_and_wait_for_nobody(course, url, book):
    filled = fill_gradebook([right("amara"), wrong("bea")], course, url)
    assert (filled.learners, filled.not_graded, filled.to_review, filled.retired) == (2, [], [], [])
    assert {each["student"]: each["score"] for each in book().submission_dicts("by-hand")} == {"amara": 5, "bea": 3}
    grade = book().find_grade("test_shift[800]", *PLACE, "bea")
    assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade, grade.failed_tests) == (
        0,
        None,
        False,
        True,
    )
    assert not book().find_submission("by-hand", "bea").needs_manual_grade


def test_a_comment_explains_the_mistake_first_and_then_shows_the_failure(course, url, book):
    fill_gradebook([wrong("bea")], course, url)
    assert book().find_comment("test_shift[800]", *PLACE, "bea").comment == (
        "The largest score is not subtracted.\ntitle of test_shift[800]\nsoftmax([800.])\nnan instead of 1.0"
    )
    assert book().find_comment("test_shape", *PLACE, "bea").comment.startswith("The largest score")
    assert book().find_comment("test_sum", *PLACE, "bea").comment is None


def test_a_comment_goes_when_the_check_passes(course, url, book):
    fill_gradebook([wrong("bea")], course, url)
    fill_gradebook([right("bea")], course, url)
    assert book().find_comment("test_shift[800]", *PLACE, "bea").comment is None
    assert book().find_grade("test_shift[800]", *PLACE, "bea").score == 2


def test_a_moment_of_handing_in_is_kept_in_utc(course, url, book):
    fill_gradebook([right("amara", handed_in="2026-03-02T00:29:00+01:00"), right("bea")], course, url)
    submission = book().find_submission("by-hand", "amara")
    assert submission.timestamp == datetime(2026, 3, 1, 23, 29)
    assert submission.total_seconds_late == 30 * 60
    assert book().find_submission("by-hand", "bea").timestamp is None


def test_filling_twice_leaves_the_same_rows(course, url, rows):
    reports = [right("amara", handed_in="2026-03-01T12:00:00+00:00"), wrong("bea"), not_graded("cem")]
    fill_gradebook(reports, course, url, roster=[Learner("amara", "Amara Okafor", "a@example.org")])
    before = rows()
    fill_gradebook(reports, course, url, roster=[Learner("amara", "Amara Okafor", "a@example.org")])
    assert rows() == before
    assert len(before["grade"]) == len(before["comment"]) == 8


def test_names_and_emails_come_from_the_roster_else_from_the_download(course, url, book):
    roster = [Learner("a1", "Amara Okafor", "amara@example.org"), Learner("d1", "Dora"), Learner("e1", "Weber, Jonas")]
    handed = [right("amara@example.org"), right("bea", learner_name="Bea de Vries"), right("cem")]
    fill_gradebook(handed, course, url, roster=roster)
    named = {each.id: (each.first_name, each.last_name, each.email) for each in book().students}
    assert named == {
        "amara@example.org": ("Amara", "Okafor", "amara@example.org"),
        "bea": ("Bea de", "Vries", None),
        "cem": (None, None, None),
        "d1": ("", "Dora", None),
        "e1": ("Jonas", "Weber", None),
    }


def test_a_name_that_nobody_knows_here_stays_as_the_gradebook_has_it(course, url, book):
    fill_gradebook([right("amara")], course, url)
    book().update_or_create_student("amara", first_name="Amara", lms_user_id="77")
    fill_gradebook([wrong("amara")], course, url)
    student = book().find_student("amara")
    assert (student.first_name, student.lms_user_id, student.score) == ("Amara", "77", 3)


def give(gradebook: Gradebook, learner: str, **given: object) -> None:
    grade = gradebook.find_grade("test_shift[800]", *PLACE, learner)
    for name, value in given.items():
        setattr(grade, name, value)
    gradebook.find_comment("test_shift[800]", *PLACE, learner).manual_comment = "We talked about it."
    gradebook.db.commit()


def test_what_a_person_gave_survives_regrading_and_counts(course, url, book):
    fill_gradebook([wrong("bea")], course, url)
    give(book(), "bea", manual_score=1.5, extra_credit=0.25)
    filled = fill_gradebook([wrong("bea")], course, url)
    grade = book().find_grade("test_shift[800]", *PLACE, "bea")
    assert (grade.auto_score, grade.manual_score, grade.extra_credit, grade.score) == (0, 1.5, 0.25, 1.75)
    assert not grade.needs_manual_grade
    assert book().find_comment("test_shift[800]", *PLACE, "bea").comment == "We talked about it."
    assert filled.to_review == []


def test_a_new_mark_beneath_one_given_by_hand_asks_for_a_review(course, url, book):
    fill_gradebook([wrong("bea")], course, url)
    give(book(), "bea", manual_score=1.5)
    assert fill_gradebook([right("bea")], course, url).to_review == ["bea"]
    grade = book().find_grade("test_shift[800]", *PLACE, "bea")
    assert (grade.auto_score, grade.score, grade.needs_manual_grade) == (2, 1.5, True)


def test_what_could_not_be_graded_leaves_the_marks_that_are_there(course, url, rows):
    fill_gradebook([wrong("bea")], course, url)
    before = rows()
    filled = fill_gradebook([not_graded("bea")], course, url)
    assert rows() == before
    assert (filled.learners, filled.not_graded) == (0, ["bea"])


def test_what_was_never_graded_has_a_learner_and_no_marks(course, url, book):
    fill_gradebook([not_graded("cem"), right("bea")], course, url)
    assert {each.id for each in book().students} == {"bea", "cem"}
    with pytest.raises(MissingEntry):
        book().find_submission("by-hand", "cem")


def renamed(id: str) -> object:
    softmax = result("softmax", check("test_sum", 3), check("test_large", 2))
    return report_of(id, softmax, result("mask", check("test_future", 2)))


def test_a_check_that_is_no_more_goes_with_its_marks(course, url, book):
    fill_gradebook([right("amara")], course, url)
    assert fill_gradebook([renamed("amara")], course, url).retired == []
    notebook = book().find_notebook("softmax", "by-hand")
    assert {cell.name: cell.max_score for cell in notebook.grade_cells} == {"test_sum": 3, "test_large": 2}
    assert {cell.name for cell in notebook.solution_cells} == {"test_sum", "test_large"}
    submission = book().find_submission("by-hand", "amara")
    assert (submission.score, submission.max_score) == (7, 7)


def test_what_a_person_gave_for_a_check_that_is_no_more_counts_on(course, url, book):
    fill_gradebook([right("amara"), wrong("bea")], course, url)
    give(book(), "bea", manual_score=1.5)
    filled = fill_gradebook([renamed("amara"), renamed("bea")], course, url)
    assert filled.retired == ["softmax/test_shift[800]"]
    assert book().find_graded_cell("test_shift[800]", *PLACE).max_score == 0
    grade = book().find_grade("test_shift[800]", *PLACE, "bea")
    assert (grade.auto_score, grade.score, grade.needs_manual_grade) == (None, 1.5, False)
    with pytest.raises(MissingEntry):
        book().find_grade("test_shift[800]", *PLACE, "amara")
    scores = {each["student"]: each["score"] for each in book().submission_dicts("by-hand")}
    assert scores == {"amara": 7, "bea": 8.5}


def test_a_learner_who_comes_after_a_check_is_no_more_has_no_mark_for_it(course, url, book):
    fill_gradebook([wrong("bea")], course, url)
    give(book(), "bea", manual_score=1.5)
    fill_gradebook([renamed("bea"), renamed("cem")], course, url)
    grades = [grade.name for grade in book().find_submission_notebook("softmax", "by-hand", "cem").grades]
    assert sorted(grades) == ["test_large", "test_sum"]


def test_an_exercise_that_is_no_more_goes_too(course, url, book):
    fill_gradebook([right("amara")], course, url)
    fill_gradebook([report_of("amara", result("softmax", check("test_sum", 1)))], course, url)
    assert [notebook.name for notebook in book().find_assignment("by-hand").notebooks] == ["softmax"]
    assert [notebook.name for notebook in book().find_submission("by-hand", "amara").notebooks] == ["softmax"]


def test_a_new_exercise_comes_to_the_learners_who_are_there(course, url, book):
    fill_gradebook([report_of("amara", result("softmax", check("test_sum", 1)))], course, url)
    fill_gradebook([right("amara")], course, url)
    submission = book().find_submission("by-hand", "amara")
    assert (submission.score, submission.max_score, len(submission.notebooks)) == (5, 5, 2)


def test_checks_stay_as_long_as_nobody_could_be_graded(course, url, rows):
    fill_gradebook([right("amara")], course, url)
    before = rows()
    fill_gradebook([], course, url)
    assert rows() == before


def test_where_reports_disagree_about_a_check_the_most_it_is_worth_counts(course, url, book):
    old, new = (report_of(id, result("softmax", check("test_sum", worth))) for id, worth in (("amara", 4), ("bea", 3)))
    for reports in ([old, new], [new, old]):
        fill_gradebook(reports, course, url)
        assert book().find_assignment("by-hand").max_score == 4


def test_a_learner_is_there_as_a_whole_or_not_at_all(course, url, rows, monkeypatch):
    fill_gradebook([wrong("amara")], course, url)
    before = rows()
    write_marks = fill_module.write_marks

    def ended_midway(*arguments):
        write_marks(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(fill_module, "write_marks", ended_midway)
    for learner in ("amara", "bea"):
        with pytest.raises(KeyboardInterrupt):
            fill_gradebook([right(learner)], course, url)
        assert rows() == before


def test_learners_who_were_written_stay_when_it_ends_early(course, url, book):
    def reports():
        yield right("amara")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_gradebook(reports(), course, url)
    assert book().find_submission("by-hand", "amara").score == 5


def test_ids_and_texts_that_a_database_minds_are_given_another_form(course, url, book):
    long = "n" * 200
    bad = check("test_sum", 1, passed=False, message="\ud800 and \x00")
    fill_gradebook([right(long), right(long + "n"), report_of("bea", result("softmax", bad))], course, url)
    ids = [each.id for each in book().students]
    assert sorted(map(len, ids)) == [3, 128, 128] and len(set(ids)) == 3
    assert book().find_comment("test_sum", *PLACE, "bea").comment.endswith("\\ud800 and \\x00")


@pytest.mark.parametrize(
    ("feedback", "comment"),
    [("hint", "The largest score is not subtracted.\ntitle of test_shift[800]"), ("title", "title of test_shift[800]")],
)
def test_a_comment_says_no_more_than_the_course_lets_learners_see(course, url, book, feedback, comment):
    fill_gradebook([wrong("bea")], msgspec.structs.replace(course, feedback=feedback), url)
    assert book().find_comment("test_shift[800]", *PLACE, "bea").comment == comment


def another(course: Course) -> Course:
    return msgspec.structs.replace(course, name="another")


def test_other_assignments_of_the_same_gradebook_are_left_alone(course, url, book):
    fill_gradebook([], another(course), url)
    theirs = book()
    theirs.add_assignment("ps1")
    theirs.add_notebook("p1", "ps1")
    theirs.add_student("amara")
    theirs.add_submission("ps1", "amara")
    fill_gradebook([right("amara")], course, url)
    assert sorted(each.assignment.name for each in book().student_submissions("amara")) == ["by-hand", "ps1"]


def test_an_assignment_of_another_course_is_refused(course, url):
    fill_gradebook([], another(course), url)
    with Gradebook(url, course_id="cs101") as gradebook:
        gradebook.add_assignment("by-hand")
    with pytest.raises(GradebookError, match="assignment by-hand of another course, cs101"):
        fill_gradebook([right("amara")], course, url)


def test_an_assignment_that_nbgrader_made_from_notebooks_is_refused(course, url, book):
    fill_gradebook([], course, url)
    book().add_notebook("softmax", "by-hand")
    book().add_source_cell("cell", "softmax", "by-hand", cell_type="code")
    with pytest.raises(GradebookError, match="that `nbgrader generate_assignment` made"):
        fill_gradebook([right("amara")], course, url)


def test_a_database_that_is_no_gradebook_is_refused_and_left_as_it_is(course, tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(
        GradebookError, match=r"other\.db: not a gradebook of nbgrader \(there is no table assignment\)"
    ):
        fill_gradebook([right("amara")], course, file_url(path))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_in_one_line(course, tmp_path):
    (tmp_path / "gradebook.db").write_bytes(b"learner,score\n" * 100)
    with pytest.raises(GradebookError) as refused:
        fill_gradebook([right("amara")], course, file_url(tmp_path / "gradebook.db"))
    assert "file is not a database" in str(refused.value) and "\n" not in str(refused.value)


def test_a_gradebook_of_an_older_nbgrader_is_to_be_brought_up_to_date(course, url, tmp_path):
    fill_gradebook([right("amara")], course, url)
    with sqlite3.connect(tmp_path / "gradebook.db") as old:
        old.execute("UPDATE alembic_version SET version_num = '167914646830'")
    with pytest.raises(GradebookError, match=r"another version of nbgrader; .* nbgrader db upgrade"):
        fill_gradebook([right("amara")], course, url)


def test_a_locked_database_is_told_in_one_line_and_nothing_is_logged(course, url, tmp_path, caplog):
    fill_gradebook([right("amara")], course, url)
    with sqlite3.connect(tmp_path / "gradebook.db") as other, caplog.at_level(logging.DEBUG):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            GradebookError, match=r"gradebook\.db: another program is writing to it \(database is locked"
        ):
            fill_gradebook([right("amara")], course, url + "?timeout=0.1")
    assert [record for record in caplog.records if record.name.startswith("tornado")] == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("grades.db", "--db is no address of a database"),
        ("oracle9://host/grades", "not known; use postgresql or sqlite"),
        (
            "postgresql://ann:secret@127.0.0.1:1/grades?connect_timeout=2",
            r"ann:\*\*\*@127.0.0.1:1/grades: .*127\.0\.0\.1",
        ),
    ],
)
def test_an_address_that_leads_nowhere_is_told_in_one_line_without_its_password(course, url, said):
    with pytest.raises(GradebookError, match=said) as refused:
        fill_gradebook([right("amara")], course, url)
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)


def test_a_path_may_hold_what_addresses_give_a_meaning_to(course, tmp_path):
    path = tmp_path / "50% of #1?" / "gradebook.db"
    filled = fill_gradebook([right("amara")], course, file_url(path))
    assert filled.place == path.as_posix() and path.is_file()
    assert len(rows_at(file_url(path))["grade"]) == 4


def test_reports_are_read_from_their_folder_in_order(course, tmp_path):
    for id in ("bea", "amara"):
        write_report(right(id), tmp_path)
    assert [report.submission for report in reports_in(tmp_path)] == ["amara", "bea"]


def test_a_report_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "amara.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReportError, match=r"amara\.json: not a report"):
        list(reports_in(tmp_path))
    with pytest.raises(ReportError, match="there is no such folder; grade first"):
        list(reports_in(Path(tmp_path, "none")))

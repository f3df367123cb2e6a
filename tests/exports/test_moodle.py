"""Moodle's grading worksheet and its zip of feedback, as the files of moodle/moodle lay them out."""

import re
import zipfile

import pytest

from autograder.exports import ExportError
from autograder.exports.moodle import export
from autograder.report import report_name

from .conftest import HOSTILE, graded, hostile, not_graded

SHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 123","Amara Okafor",amara@uni.example,"Submitted for grading",,20.00,Yes,"Monday, 2 March",-,\n'
    '"Participant 124","Li_Lei",li@uni.example,"No submission",12.00,20.00,Yes,-,-,"<p>Well done</p>"\n'
    '"Participant 125","Yu Sato",yu@uni.example,"Submitted for grading",,20.00,No,-,-,\n'
)


def filled(order):
    made = export(order)
    return made.files[0].read_text(encoding="utf-8"), made


def test_grades_and_comments_go_to_their_columns_and_not_one_other_byte_changes(ordered):
    text, made = filled(ordered([graded("123", 17.5)], SHEET))
    comment = "Attention: 17.5 of 20 points<br>softmax: 17.5 of 20 points<br>What may be added?"
    assert text == SHEET.replace(
        'grading",,20.00,Yes,"Monday, 2 March",-,', f'grading",17.5,20.00,Yes,"Monday, 2 March",-,{comment}'
    )
    assert made.said[0] == "1 grade"


@pytest.mark.parametrize("id", ["123", "AMARA@uni.example"])
def test_a_learner_is_found_by_the_participants_number_or_the_address(ordered, id):
    assert ",17.5,20.00" in filled(ordered([graded(id, 17.5)], SHEET))[0]


def test_a_locked_grade_and_what_was_not_graded_stay_as_they_are(ordered):
    text, made = filled(ordered([graded("125"), not_graded("123"), not_graded("124")], SHEET))
    assert text == SHEET
    assert "Locked in Moodle, so left as they were: Yu Sato" in made.said


def test_somebodys_comment_stays_and_ours_is_replaced(ordered):
    text, made = filled(ordered([graded("124", 13.0)], SHEET))
    assert text == SHEET.replace("12.00", "13")
    assert "Somebody's comment was there, and stayed: Li_Lei" in made.said
    assert "Another grade was there, and was replaced: Li_Lei" in made.said
    again, _ = filled(ordered([graded("123", 20.0)], filled(ordered([graded("123", 17.5)], SHEET))[0]))
    assert "Attention: 20 of 20 points" in again
    assert "17.5" not in again


def test_a_mark_above_the_maximum_is_not_written_since_moodle_would_pass_it_over(ordered):
    text, made = filled(ordered([graded("123", 20.0, bonus=5.0)], SHEET, with_bonus=True))
    assert text == SHEET
    assert "Above the maximum grade, which Moodle refuses, so left as they were: Amara Okafor" in made.said
    assert not made.complete


def test_another_maximum_is_said_and_grades_can_be_made_to_fit(ordered):
    sheet = SHEET.replace("20.00", "100.00")
    _, made = filled(ordered([graded("123", 17.5)], sheet))
    assert "Moodle counts 100, the course 20; --scaled makes the grades fit" in made.said
    assert ",87.5,100.00," in filled(ordered([graded("123", 17.5)], sheet, scaled=True))[0]


def test_the_decimal_comma_of_the_site_is_used(ordered):
    assert '"17,5"' in filled(ordered([graded("123", 17.5)], SHEET.replace("20.00", '"20,00"')))[0]


def test_where_marking_is_blind_the_number_is_enough(ordered):
    sheet = "Identifier,Grade,Maximum Grade,Last modified (grade)\nParticipant 123,,20.00,-\n"
    assert filled(ordered([graded("123", 17.5)], sheet))[0] == sheet.replace("123,,", "123,17.5,")


def test_a_comment_says_no_more_than_the_policy_allows(ordered, small_course):
    course = small_course({"course.toml": {'feedback = "full"': 'feedback = "title"'}})
    text, _ = filled(ordered([graded("123", 17.5)], SHEET, course=course))
    assert "What may be added" not in text


def test_a_comment_in_chinese_when_the_course_is(ordered, small_course):
    course = small_course({"course.toml": {'languages = ["en", "zh"]': 'languages = ["zh", "en"]'}})
    assert "softmax：得分 17.5/20<br>可以加上什么？" in filled(ordered([graded("123", 17.5)], SHEET, course=course))[0]


def test_hostile_texts_are_neither_markup_nor_formula(ordered):
    text, _ = filled(ordered([hostile("123")], SHEET))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert not re.search(r'(^|[,"])=', text)


def test_pages_of_feedback_go_into_folders_that_moodle_knows(ordered):
    order = ordered([graded("123"), graded("124"), not_graded("125")], SHEET)
    (order.grades / "feedback").mkdir(parents=True)
    for id in ("123", "124", "125"):
        (order.grades / "feedback" / report_name(id).replace(".json", ".html")).write_text(f"page of {id}")
    _, made = filled(order)
    with zipfile.ZipFile(made.files[1]) as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    assert pages == {
        "Amara Okafor_123_assignsubmission_file_/feedback.html": "page of 123",
        # The first underscore would end the name for Moodle.
        "Li Lei_124_assignsubmission_file_/feedback.html": "page of 124",
    }
    for name in pages:
        name, number, kind, plugin, rest = name.partition("/")[0].split("_", 4)
        assert (number.isdigit(), kind, plugin, rest) == (True, "assignsubmission", "file", "")


def test_without_pages_there_is_no_zip_and_one_line_says_how_to_make_them(ordered):
    _, made = filled(ordered([graded("123")], SHEET))
    assert len(made.files) == 1
    assert any("`attend pages` makes them" in line for line in made.said)


@pytest.mark.parametrize(
    ("sheet", "options", "line"),
    [
        ("a,b\n1,2\n", {}, "in English; without the columns Identifier, Grade, Last modified .grade.; found a, b"),
        (SHEET, {"column": "Mark"}, "there is no column Mark; --column names one of: Identifier, Full name"),
        (SHEET.replace("20.00", "-"), {"scaled": True}, "row 2: --scaled needs a number in the column Maximum Grade"),
    ],
)
def test_what_is_no_worksheet_is_one_line(ordered, sheet, options, line):
    with pytest.raises(ExportError, match=line):
        export(ordered([graded("123")], sheet, **options))


def test_the_hostile_text_really_is_one():
    assert HOSTILE.startswith("=")

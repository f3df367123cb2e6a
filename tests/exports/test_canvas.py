"""Canvas' gradebook: the right column is filled, and everything else stays what it was, byte for byte.

The sheets below are laid out as `lib/gradebook_exporter.rb` of instructure/canvas-lms writes them.
"""

import pytest

from autograder.exports import ExportError
from autograder.exports.canvas import export
from autograder.roster import Learner

from .conftest import graded, not_graded

HEADER = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Essay (11),Attention (12),"
    "Attention Current Score,Final Score\r\n"
)
SHEET = (
    HEADER + ",,,,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,,10.00,20.00,(read only),(read only)\r\n"
    '"Okafor, Amara",4711,S1,amara@uni.example,"B, and C","say ""hi""",7.50,,88.00,88.00\r\n'
    '"Li, Lei",4712,S2,lli,A,,EX,EX,,\r\n'
    '"Eze, Chidi",4713,S3,chidi,A,,,12.00,,\r\n'
    '"Sato, Yu",4714,S4,ysato,A,,,N/A,,\r\n'
    '"Student, Test",4715,,,A,,,,,\r\n'
)


def filled(order):
    made = export(order)
    return made.files[0].read_bytes().decode(), made


def test_marks_go_to_their_column_and_not_one_other_byte_changes(ordered):
    text, made = filled(ordered([graded("4711", 17.5)], SHEET))
    assert text == SHEET.replace("7.50,,88.00", "7.50,17.5,88.00")
    assert made.said[0] == "Attention (12): 1 mark"


@pytest.mark.parametrize("id", ["4711", "S1", "s1", "AMARA@uni.example"])
def test_a_learner_is_found_by_id_sis_id_login_or_address(ordered, id):
    assert filled(ordered([graded(id, 17.5)], SHEET))[0].count(",17.5,") == 1


def test_the_roster_tells_whose_address_it_is(ordered):
    order = ordered([graded("amara-okafor", 17.5)], SHEET, roster=[Learner("amara-okafor", "", "amara@uni.example")])
    assert "7.50,17.5,88.00" in filled(order)[0]


def test_excused_stays_excused_and_what_is_not_assigned_stays_so(ordered):
    text, made = filled(ordered([graded("4712"), graded("4714")], SHEET))
    assert text == SHEET
    assert "Excused in Canvas, and left so: Li, Lei" in made.said
    assert "Not assigned to them in Canvas, so left out: Sato, Yu" in made.said


def test_another_mark_that_is_replaced_is_said_and_the_same_one_is_left_as_canvas_wrote_it(ordered):
    text, made = filled(ordered([graded("4713", 12.0)], SHEET))
    assert text == SHEET
    text, made = filled(ordered([graded("4713", 13.0)], SHEET))
    assert text == SHEET.replace("12.00", "13")
    assert "Another mark was there, and was replaced: Eze, Chidi" in made.said


def test_what_was_not_graded_leaves_the_cell_as_it_was(ordered):
    assert filled(ordered([not_graded("4711"), not_graded("4713")], SHEET))[0] == SHEET


def test_what_does_not_match_is_named_on_both_sides(ordered):
    _, made = filled(ordered([graded("4711"), graded("nobody")], SHEET))
    assert "Submissions of nobody in template.csv: nobody" in made.said
    left = "Rows of template.csv without a submission, left as they were: Li, Lei; Eze, Chidi; Sato, Yu"
    assert left in made.said
    assert not made.complete


def test_two_submissions_for_one_row_are_both_left_out(ordered):
    text, made = filled(ordered([graded("4711"), graded("S1")], SHEET))
    assert text == SHEET
    assert "Submissions that fit more than one row, or share one, left out: 4711, S1" in made.said


def test_an_id_that_is_one_learners_canvas_id_and_anothers_sis_id_is_not_guessed(ordered):
    sheet = SHEET.replace(",S2,", ",4711,")
    text, made = filled(ordered([graded("4711")], sheet))
    assert (text, made.complete) == (sheet, False)


def test_semicolons_decimal_commas_and_the_byte_order_mark_are_kept(ordered):
    sheet = (
        "\ufeffStudent;ID;SIS Login ID;Section;Attention (12)\r\n    Points Possible;;;;20,00\r\n"
        "Okafor, Amara;4711;amara;A;\r\n"
    )
    assert filled(ordered([graded("4711", 17.5)], sheet))[0] == sheet.replace("A;\r\n", "A;17,5\r\n")


def test_names_in_two_columns_are_understood(ordered):
    sheet = (
        "LastName,FirstName,ID,SIS Login ID,Section,Attention (12)\n    Points Possible,,,,,20\n"
        "Okafor,Amara,4711,a,A,\n"
    )
    assert filled(ordered([graded("4711", 17.5)], sheet))[0] == sheet.replace("a,A,\n", "a,A,17.5\n")


@pytest.mark.parametrize("column", ["11", "Essay", "essay (11)", "Essay (11)"])
def test_a_column_is_named_by_title_number_or_both(ordered, column):
    text, _ = filled(ordered([graded("4711", 9.0)], SHEET, column=column))
    assert text == SHEET.replace("7.50,,88", "9,,88")


@pytest.mark.parametrize(
    ("changed", "column", "line"),
    [
        ("Attention (12)", "Quiz", r"no assignment Quiz; name one with --column, .*: Essay \(11\); Attention \(12\)$"),
        ("Other (12)", "", r"no assignment Attention; name one with --column, .*: Essay \(11\); Other \(12\)$"),
    ],
)
def test_a_column_that_is_not_there_is_one_line_with_those_that_are(ordered, changed, column, line):
    with pytest.raises(ExportError, match=line):
        export(ordered([graded("4711")], SHEET.replace("Attention (12)", changed), column=column))


def test_a_title_that_two_assignments_have_is_one_line_with_both(ordered):
    with pytest.raises(ExportError, match=r"2 assignments Attention; .*: Attention \(11\); Attention \(12\)$"):
        export(ordered([graded("4711")], SHEET.replace("Essay (11)", "Attention (11)")))


def test_other_points_in_canvas_are_said_and_marks_can_be_made_to_fit(ordered):
    sheet = SHEET.replace("20.00", "10.00")
    text, made = filled(ordered([graded("4711", 17.5)], sheet))
    assert "7.50,17.5,88" in text
    assert "Canvas counts 10.00 points, the course 20; --scaled makes the marks fit" in made.said
    assert "7.50,8.75,88" in filled(ordered([graded("4711", 17.5)], sheet, scaled=True))[0]


@pytest.mark.parametrize(
    ("sheet", "line"),
    [
        ("a,b\n1,2\n", "not the gradebook that Canvas exported; expected the columns Student, ID, .* and found a, b"),
        (HEADER, "there is no row Points Possible in it"),
        ("", "and found nothing"),
    ],
)
def test_what_is_no_gradebook_is_one_line(ordered, sheet, line):
    with pytest.raises(ExportError, match=line):
        export(ordered([graded("4711")], sheet))


def test_without_a_template_one_line_says_so(ordered):
    with pytest.raises(
        ExportError, match="--to canvas fills the gradebook that Canvas exported: name it with --template"
    ):
        export(ordered([graded("4711")]))

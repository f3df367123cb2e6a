"""The list of a class: read as spreadsheets write it, and compared with what was handed in."""

import pytest

from autograder.roster import Attendance, Learner, RosterError, attendance, read_roster
from autograder.submission import Refused, Submission

AMARA = Learner("amara", "Amara Okafor", "amara@example.org")
LEI = Learner("李雷", "李 雷", "lilei@example.org")


def roster(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path, encoding, separator, end):
    rows = [
        ["id", "name", "email"],
        ["amara", "Amara Okafor", "amara@example.org"],
        ["李雷", "李 雷", "lilei@example.org"],
    ]
    text = end.join(separator.join(row) for row in rows) + end
    assert read_roster(roster(tmp_path, text, encoding)) == [AMARA, LEI]


def test_columns_may_have_any_order_and_case_and_others_beside_them(tmp_path):
    text = "Group,EMAIL,Name, Id \n1,amara@example.org,Amara Okafor,amara\n"
    assert read_roster(roster(tmp_path, text)) == [AMARA]


def test_names_and_emails_may_be_left_out_and_rows_may_be_empty(tmp_path):
    assert read_roster(roster(tmp_path, "id\n\namara\n,\n")) == [Learner("amara")]
    assert read_roster(roster(tmp_path, "id,name\namara\n")) == [Learner("amara")]


def test_a_name_in_quotes_may_hold_the_separator_and_a_line_break(tmp_path):
    text = 'id,name\namara,"Okafor, Amara"\nbea,"Bea\nB."\n'
    assert [learner.name for learner in read_roster(roster(tmp_path, text))] == ["Okafor, Amara", "Bea\nB."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ", row 1: there is no column id; expected id, name, email, and found nothing"),
        ("name,email\nA,a@b\n", ", row 1: there is no column id; expected id, name, email, and found name, email"),
        ("id,ID\na,b\n", ", row 1: the column id is there twice; keep one of them"),
        ("id,name\n", ": there is no learner in it; expected a row for each below the row of names"),
        ("id,name\namara,A\n,B\n", ", row 3, column id: it is empty; every learner needs an id"),
        ("id,name\namara,A\nbea,B\nAmara,C\n", ", row 4, column id: Amara is already in row 2"),
        ("id,name\nbea,B,b@c\n", ", row 2: 3 cells under 2 columns; put quotes around one that holds the separator"),
        ('id,name\n"amara,A\n', ", row 2: not CSV: unexpected end of data"),
        (b"id,name\namara,Zo\xeb\n", ", row 2: byte 0xeb is not UTF-8; save it as UTF-8"),
    ],
)
def test_what_is_no_roster_is_one_line_that_names_row_and_column(tmp_path, text, reason):
    path = roster(tmp_path, text)
    with pytest.raises(RosterError) as error:
        read_roster(path)
    assert str(error.value) == f"{path}{reason}"


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(RosterError) as error:
        read_roster(tmp_path / "roster.csv")
    assert str(error.value) == f"{tmp_path / 'roster.csv'}: cannot be read: No such file or directory"


def handed_in(id, name=""):
    return Submission(id, {}, learner_name=name)


def test_who_handed_nothing_in_is_missing_and_who_is_not_on_it_unknown():
    found = [handed_in("amara"), Refused("oscar", "broken")]
    assert attendance([AMARA, LEI], found) == Attendance((LEI,), ("oscar",))


def test_a_submission_that_could_not_be_read_was_still_handed_in():
    assert attendance([AMARA], [Refused("amara", "broken")]) == Attendance()


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("AMARA", ""),
        ("amara@example.org", ""),
        ("657737", "Amara Okafor"),
        ("4711", "okaforamara"),
        ("4711", "amaraokafor"),
    ],
    ids=["id", "email", "Moodle's name", "Canvas' name", "a name in another order"],
)
def test_learners_are_known_by_id_email_or_name(id, name):
    assert attendance([AMARA, LEI], [handed_in(id, name)]) == Attendance((LEI,))


def test_a_name_that_two_learners_have_tells_neither():
    twins = [Learner("a1", "Amara Okafor"), Learner("a2", "Okafor Amara")]
    assert attendance(twins, [handed_in("4711", "Amara Okafor")]) == Attendance(tuple(twins), ("4711",))


def test_an_id_counts_before_the_email_of_another_and_is_no_name():
    learners = [Learner("amara", "Bea", ""), Learner("bea", "Cem", "amara")]
    assert attendance(learners, [handed_in("amara")]).missing == (learners[1],)
    assert attendance(learners, [handed_in("Cem")]) == Attendance(tuple(learners), ("Cem",))

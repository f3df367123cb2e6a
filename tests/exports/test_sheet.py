"""A platform's sheet: what is not filled stays what it was, byte for byte."""

import pytest

from autograder.exports import ExportError
from autograder.exports.sheet import read_sheet

ODD = (
    '\ufeff"ID";Name;Grade\r\n1;"Lovelace; Ada";\r\n'
    '2;"say ""hi""\nand more"; 3,5 \r\n\r\n3;;"7"\n4;short'
).encode()  # fmt: skip


def opened(tmp_path, data):
    (tmp_path / "sheet.csv").write_bytes(data)
    return read_sheet(tmp_path / "sheet.csv", ["ID", "Grade"], "a sheet")


def test_a_sheet_in_which_nothing_is_put_is_the_same_bytes(tmp_path):
    assert opened(tmp_path, ODD).to_bytes() == ODD


def test_byte_order_mark_quotes_separators_and_line_ends_are_read_as_spreadsheets_do(tmp_path):
    sheet = opened(tmp_path, ODD)
    assert sheet.header == ["ID", "Name", "Grade"]
    assert [sheet.cell(row, 1) for row in sheet.row_numbers] == [
        "Lovelace; Ada", 'say "hi"\nand more', "", "", "short"
    ]  # fmt: skip


def test_only_the_cells_that_are_put_change(tmp_path):
    sheet = opened(tmp_path, ODD)
    sheet.put(1, 2, "9")
    sheet.put(2, 2, "3,75")
    sheet.put(4, 2, "8")
    expected = ODD.replace(b'Ada";', b'Ada";9').replace(b" 3,5 ", b"3,75").replace(b'"7"', b'"8"')
    assert sheet.to_bytes() == expected


def test_a_row_that_ends_early_is_made_long_enough(tmp_path):
    sheet = opened(tmp_path, b"ID,Name,Grade\n1\n2,b\n")
    sheet.put(1, 2, "5")
    sheet.put(2, 2, "6")
    assert sheet.to_bytes() == b"ID,Name,Grade\n1,,5\n2,b,6\n"


def test_what_holds_the_separator_a_quote_or_a_line_end_is_put_in_quotes(tmp_path):
    sheet = opened(tmp_path, b"ID,Grade\n1,\n2,\n3,\n")
    for row, text in ((1, "a,b"), (2, 'a"b'), (3, "a\nb")):
        sheet.put(row, 1, text)
    assert sheet.to_bytes() == b'ID,Grade\n1,"a,b"\n2,"a""b"\n3,"a\nb"\n'


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'ID,Grade\n1,"open\n', r"sheet\.csv, row 2: a quotation mark is not closed"),
        ("ID,Grade\nJosé,1\n".encode("latin-1"), r"sheet\.csv, row 2: byte 0xe9 is not UTF-8; .* save it as CSV UTF-8"),
    ],
)
def test_what_is_no_sheet_is_one_line_with_the_row(tmp_path, data, line):
    with pytest.raises(ExportError, match=line):
        opened(tmp_path, data)


def test_a_sheet_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(ExportError, match=r"none\.csv: cannot be read \(No such file or directory\); --template names"):
        read_sheet(tmp_path / "none.csv", [], "a sheet")

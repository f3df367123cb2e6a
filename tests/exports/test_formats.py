"""Forms without a sheet of the platform's own, each held to its published description."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree

import pytest

from autograder.exports import ExportError
from autograder.exports.formats import FORMATS, all_reports, export
from autograder.report import ReportError, from_json, write_report
from autograder.roster import Learner

from .conftest import graded, hostile, not_graded

VISIBILITIES = {"visible", "hidden", "after_due_date", "after_published"}


def table(made):
    return list(csv.DictReader(io.StringIO(made.files[0].read_text(encoding="utf-8"))))


def results(made):
    return {file.parent.name: json.loads(file.read_bytes()) for file in made.files}


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"canvas", "moodle"}))
def test_what_was_not_graded_is_said_and_never_becomes_a_zero(ordered, name):
    made = export(name, ordered([graded("amara"), not_graded("torn")]))
    assert made.said[-1] == "Not graded, so without a mark: torn"
    assert not made.complete


def test_gradescope_has_the_score_and_a_test_for_each_check(ordered):
    found = results(export("gradescope", ordered([graded("amara", 17.5)])))["amara"]
    assert (found["score"], found["execution_time"], found["stdout_visibility"]) == (17.5, 2, "hidden")
    assert [(test["number"], test["name"], test["status"]) for test in found["tests"]] == [
        ("1.1", "softmax: rows sum to one", "passed"),
        ("1.2", "softmax: a constant changes nothing", "failed"),
    ]
    assert [(test["score"], test["max_score"]) for test in found["tests"]] == [(16, 16), (1.5, 4)]
    assert {test["visibility"] for test in found["tests"]} <= VISIBILITIES
    assert found["tests"][1]["output"] == "What may be added?\nsoftmax([1000.])\nreturned nan, right is 0.5"


def test_gradescope_is_given_no_score_where_nothing_was_graded(ordered):
    found = results(export("gradescope", ordered([not_graded("torn")])))["torn"]
    assert not {"score", "tests"} & set(found)
    assert found["output"].splitlines()[1] == "torn.zip is not a whole zip archive"


@pytest.mark.parametrize(("with_bonus", "score", "of_the_bonus"), [(False, 18, (None, None)), (True, 21.5, (3.5, 0))])
def test_gradescopes_score_counts_the_bonus_only_where_that_was_asked_for(ordered, with_bonus, score, of_the_bonus):
    found = results(export("gradescope", ordered([graded("amara", bonus=3.5)], with_bonus=with_bonus)))["amara"]
    assert found["score"] == score
    assert (found["tests"][-1].get("score"), found["tests"][-1].get("max_score")) == of_the_bonus
    assert ("3.5 bonus points, which the score does not count" in found["output"]) is not with_bonus


@pytest.mark.parametrize(
    ("policy", "names", "told"),
    [
        ("hint", ["softmax: rows sum to one", "softmax: a constant changes nothing"], "What may be added?"),
        ("title", ["softmax: rows sum to one", "softmax: a constant changes nothing"], ""),
        ("none", ["softmax"], "1 of 2 checks passed"),
    ],
)
def test_gradescope_shows_what_the_policy_allows_and_the_whole_score(ordered, small_course, policy, names, told):
    course = small_course({"course.toml": {'feedback = "full"': f'feedback = "{policy}"'}})
    found = results(export("gradescope", ordered([graded("amara", 17.5)], course=course)))["amara"]
    assert [test["name"] for test in found["tests"]] == names
    assert found["tests"][-1]["output"] == told
    assert "1000" not in json.dumps(found)
    assert sum(test["score"] for test in found["tests"]) == found["score"] == 17.5


def test_nbgraders_columns_are_those_of_its_own_export(ordered):
    made = export(
        "nbgrader",
        ordered(
            [graded("amara", 17.5, handed_in="2026-03-01T21:14:05+01:00"), not_graded("torn")],
            roster=[Learner("amara", "Amara Okafor", "a@uni.example")],
        ),
    )
    assert table(made)[0] == {
        "assignment": "small", "duedate": "", "timestamp": "2026-03-01 20:14:05", "student_id": "amara",
        "last_name": "Okafor", "first_name": "Amara", "email": "a@uni.example", "raw_score": "17.5",
        "late_submission_penalty": "0", "score": "17.5", "max_score": "20",
    }  # fmt: skip
    assert [table(made)[1][name] for name in ("raw_score", "late_submission_penalty", "score")] == ["", "", ""]


def test_nbgraders_columns_are_in_its_own_order(ordered):
    from nbgrader.plugins.export import CsvExportPlugin

    class Empty:
        assignments = ()

    made = export("nbgrader", ordered([graded("amara")]))
    theirs = made.files[0].with_name("theirs.csv")
    CsvExportPlugin(to=str(theirs)).export(Empty())
    assert made.files[0].read_text().partition("\n")[0] == theirs.read_text().strip()


def test_junit_counts_what_it_holds_and_properties_come_first(ordered):
    report = graded("amara", 17.5, handed_in="2026-03-01T21:14:05+01:00", late=True)
    root = ElementTree.fromstring(export("junit", ordered([report])).files[0].read_bytes())
    (suite,) = root
    assert (root.tag, suite.tag, suite[0].tag) == ("testsuites", "testsuite", "properties")
    counts = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time", "timestamp")}
    assert counts == {
        "name": "amara", "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "2.400",
        "timestamp": "2026-03-01T20:14:05",
    }  # fmt: skip
    assert {each.get("name"): each.get("value") for each in suite[0]} == {
        "status": "graded", "points": "20", "earned": "17.5", "bonus": "0", "late": "yes",
    }  # fmt: skip
    assert suite[2].get("classname") == "amara.softmax"
    assert suite[2][0].get("message") == "returned nan, right is 0.5"
    assert suite[2][0].text == "softmax([1000.])\nreturned nan, right is 0.5"


def test_junit_has_no_two_cases_of_one_name_and_nothing_that_xml_cannot_hold(ordered):
    data = export("junit", ordered([graded("amara"), graded("bea"), hostile("eve"), not_graded("torn")])).files[0]
    root = ElementTree.fromstring(data.read_bytes())
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(cases) == len(set(cases)) == 8
    assert [case.find("error").get("type") for case in root.iter("testcase") if case.find("error") is not None] == [
        "timed_out", "not_graded",
    ]  # fmt: skip
    assert b"<script>" not in data.read_bytes()


@pytest.mark.parametrize("name", ["junit", "nbgrader"])
def test_a_moment_that_cannot_be_read_is_left_out(ordered, name):
    made = export(name, ordered([graded("amara", handed_in="on Monday")]))
    assert "Monday" not in made.files[0].read_text()


def test_junit_obeys_the_policy(ordered, small_course):
    course = small_course({"course.toml": {'feedback = "full"': 'feedback = "none"'}})
    text = export("junit", ordered([graded("amara")], course=course)).files[0].read_text()
    assert 'name="check 2"' in text
    assert "constant" not in text
    assert "0.5" not in text


def test_the_table_has_a_row_for_each_check(ordered):
    rows = table(export("csv", ordered([graded("amara", 17.5, late=True), not_graded("torn")])))
    assert [(row["exercise"], row["check"], row["outcome"], row["earned"]) for row in rows] == [
        ("softmax", "test_rows", "passed", "16"),
        ("softmax", "test_shift", "failed", "1.5"),
        ("by_hand", "", "", ""),
        ("", "", "", ""),
    ]
    assert (rows[1]["diagnosis"], rows[1]["late"], rows[3]["reason"]) == (
        "no_shift", "yes", "torn.zip is not a whole zip archive",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["csv", "nbgrader"])
def test_no_cell_of_a_table_is_run_as_a_formula(ordered, name):
    rows = table(export(name, ordered([hostile("=1+1")], roster=[Learner("=1+1", "=a =b", "@c")])))
    assert [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))] == []


def test_json_lines_hold_the_reports_themselves(ordered):
    reports = [graded("amara", 17.5), hostile("eve"), not_graded("torn")]
    lines = export("jsonl", ordered(reports)).files[0].read_bytes().splitlines()
    assert [from_json(line).submission for line in lines] == ["amara", "eve", "torn"]
    assert from_json(lines[0]) == reports[0]


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("word", {}, "--to word: there is no such form; ask for one of canvas, moodle, gradescope"),
        ("csv", {"with_bonus": True}, "--with-bonus: --to csv keeps the bonus apart"),
        ("junit", {"column": "x"}, "--column is for canvas and moodle; leave it out with --to junit"),
    ],
)
def test_an_option_that_has_no_meaning_is_one_line(ordered, name, options, line):
    with pytest.raises(ExportError, match=line):
        export(name, ordered([graded("amara")], **options))


def test_the_template_itself_is_never_written_over(ordered, tmp_path):
    with pytest.raises(ExportError, match="is the template itself, which stays as it is"):
        export("canvas", ordered([graded("amara")], "a,b\n", destination=tmp_path / "template.csv"))


def test_reports_are_read_in_the_order_of_a_class_list(tmp_path):
    for id in ("zoe", "Bea", "amara"):
        write_report(graded(id), tmp_path / "reports")
    assert [report.submission for report in all_reports(tmp_path)] == ["amara", "Bea", "zoe"]


def test_a_folder_without_reports_is_one_line(tmp_path):
    with pytest.raises(ReportError, match="there is no such folder; grade first, or name the folder of the marks"):
        all_reports(tmp_path)
    (tmp_path / "reports").mkdir()
    with pytest.raises(ExportError, match="there is no report in it"):
        all_reports(tmp_path)

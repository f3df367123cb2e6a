"""nbgrader's own commands and its formgrader work on the course that `attend nbgrader` writes."""

import json
import zipfile

import nbformat
import pytest
from playwright.sync_api import sync_playwright

from autograder.course import load_course
from autograder.submission import find_submissions

from .conftest import NbgraderCourse
from .formgrader import served
from .learners import grade_id_of, hand_in, source_of

CHROMIUM = "/usr/bin/chromium"
NAMED = r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[0-9\-]+)_(?P<file_id>\w+)"
POINTS = {"amara": 10, "bea": 3, "chidi": 5, "dana": 5, "emeka": 10, "farah": 10, "goran": 5, "hana": 10, "kofi": 5}


@pytest.fixture(scope="module")
def explained(graded):
    done = graded.command("generate_feedback", "small")
    assert done.returncode == 0, done.stderr
    return lambda learner: (graded.folder / "feedback" / learner / "small" / "double.html").read_text(encoding="utf-8")


def test_what_is_released_holds_stubs_and_empty_grade_cells(released):
    cells = {grade_id_of(cell): source_of(cell) for cell in released.blank("double")["cells"]}
    assert cells["solution_double"].endswith("# YOUR CODE HERE\n    raise NotImplementedError()")
    assert "FACTOR" not in str(cells)
    assert cells["test_numbers_below_zero_are_doubled"] == "# hidden check, 2 points / 隐藏检查，2 分"
    assert cells["public_test_one_becomes_two"] == (
        "def test_one_becomes_two():\n    assert double(ONE)[0] == 2\n\n\ntest_one_becomes_two()"
    )


def test_the_notebooks_with_solutions_are_valid(assigned, tmp_path):
    done = assigned.command("validate", "source/small/double.ipynb")
    assert done.stdout.strip() == "Success! Your notebook passes all the tests.", done.stdout + done.stderr


def test_validation_tells_a_learner_which_public_test_fails(assigned, released):
    hand_in(
        assigned.folder / "validated",
        {"bea": {"double": released.filled("double", "def double(numbers, more=0.0):\n    return numbers * 2")}},
    )
    done = assigned.command("validate", "validated/bea/small/double.ipynb")
    assert "VALIDATION FAILED ON 1 CELL(S)!" in done.stdout
    assert "def test_more_is_added(more):" in done.stdout


def test_the_whole_class_is_exported(graded):
    exported = graded.exported()
    assert {learner: exported[learner] for learner in POINTS} == POINTS
    assert len(exported) == 23


def test_what_learners_hand_in_as_files_is_collected_and_graded(assigned, released, tmp_path):
    course = assigned.copied(tmp_path / "nbgrader")
    folder = course.folder / "downloaded" / "small" / "archive"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "notebooks.zip", "w") as archive:
        archive.writestr(
            "small_amara_attempt_2026-03-01-12-00-00_double.ipynb",
            nbformat.writes(nbformat.from_dict(released.filled("double"))),
        )
    collected = course.command("zip_collect", "small", f"--FileNameCollectorPlugin.named_regexp={NAMED}")
    assert collected.returncode == 0, collected.stderr
    assert course.command("autograde", "small").returncode == 0
    assert course.marks() == {"amara": {"double": 5, "twice": 0}}


def test_what_is_released_fetched_and_submitted_comes_back_collected(assigned, released, tmp_path):
    course = assigned.copied(tmp_path / "nbgrader")
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    options = ["--course", "small", f"--Exchange.root={exchange}", f"--Exchange.cache={tmp_path / 'cache'}"]
    learner = NbgraderCourse(tmp_path / "learner", course.course)
    learner.folder.mkdir()
    for place, command in [(course, "release_assignment"), (learner, "fetch_assignment")]:
        done = place.command(command, "small", *options)
        assert done.returncode == 0, done.stderr
    (learner.folder / "small" / "double.ipynb").write_text(json.dumps(released.filled("double")))
    for place, command in [(learner, "submit"), (course, "collect")]:
        done = place.command(command, "small", *options)
        assert done.returncode == 0, done.stderr
    (submitted,) = (course.folder / "submitted").glob("*/small")
    found = find_submissions(course.folder, load_course(course.course).wanted)
    assert (found.layout, found.submissions[0].id) == ("nbgrader", submitted.parent.name)
    assert b"return numbers * 2 + more" in found.submissions[0].modules["double"]


def test_feedback_explains_the_mistake_and_shows_no_hidden_test(explained):
    page = explained("bea")
    assert "The numbers come back three times as large. How often is a number in its double?" in page
    assert "The contract says: Numbers below 0 are doubled, too." in page
    assert "notebooks.kernel" not in page
    assert "HIDDEN TESTS" not in page


def test_feedback_shows_hostile_words_as_words(explained):
    page = explained("noor")
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img src=x" not in page
    assert "<script>'" not in page


def test_feedback_on_a_broken_notebook_says_what_is_wrong_with_it(explained):
    assert "double.ipynb is no notebook: line 2 is not JSON" in explained("goran")


@pytest.fixture(scope="module")
def page(graded):
    with served(graded) as (address, headers), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=["--no-sandbox"])
        page = browser.new_page(extra_http_headers=headers)
        page.address = address
        yield page
        browser.close()


def rows_of(page) -> list[list[str]]:
    page.wait_for_function("document.querySelectorAll('tbody tr td').length > 1")
    return [[cell.inner_text().strip() for cell in row.locator("td").all()] for row in page.locator("tbody tr").all()]


def test_the_formgrader_shows_the_marks_of_the_class(page):
    page.goto(f"{page.address}/manage_students")
    scores = {learner: score for _, learner, _, score, *_ in rows_of(page)}
    assert {learner: scores[learner] for learner in POINTS} == {
        name: f"{points} / 10" for name, points in POINTS.items()
    }


def test_the_formgrader_opens_a_notebook_with_the_explanation_in_it(page):
    page.goto(f"{page.address}/manage_students/bea/small")
    page.get_by_role("link", name="double").click()
    page.wait_for_selector(".nbgrader_cell")
    assert "The numbers come back three times as large." in page.locator("body").inner_text()
    page.wait_for_function("document.querySelector('#test_more_is_added').placeholder !== ''")
    assert page.locator("input#test_more_is_added").get_attribute("placeholder") == "0"

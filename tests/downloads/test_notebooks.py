"""Notebooks are handed in beside modules or instead of them, under the names that copies get."""

import zipfile
from pathlib import Path

import pytest

from autograder.downloads import nodes
from autograder.downloads.model import Wanted
from autograder.submission import find_submissions, read_submission

from ..notebooks.files import cell, notebook, old_notebook, solution

EXERCISES = Wanted({"softmax": ["softmax"], "masks": ["causal", "padding"]})
SOFTMAX = "def softmax(scores):\n    return scores"
MASKS = "def causal(n):\n    return n\ndef padding(n):\n    return n"


def module(name: str, source: str = SOFTMAX, number: int = 1) -> bytes:
    return f"# from {name}\n# cell {number}, line 1\n{source}\n".encode()


MODULE = module("softmax.ipynb")


@pytest.fixture
def amara(tmp_path):
    """Give a function that hands files in for amara, and reads them."""

    def hand_in(**files: bytes | str):
        for name, data in files.items():
            path = tmp_path / "amara" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return read_submission(tmp_path / "amara", EXERCISES)

    return hand_in


def told(submission) -> dict[str, str]:
    return {exercise: str(problem) for exercise, problem in submission.problems.items()}


def test_a_notebook_stands_for_the_module_of_its_name(amara):
    submission = amara(**{"softmax.ipynb": notebook(solution(SOFTMAX)), "masks.py": MASKS})
    assert submission.modules == {"softmax": MODULE, "masks": MASKS.encode()}
    assert (submission.extra, submission.problems, submission.notes) == ((), {}, ())


def test_a_notebook_of_format_3_is_read(amara):
    assert amara(**{"softmax.ipynb": old_notebook(SOFTMAX)}).modules == {"softmax": MODULE}


def test_a_module_comes_before_the_notebook_beside_it(amara):
    submission = amara(**{"softmax.py": "x = 1", "softmax.ipynb": notebook(SOFTMAX)})
    assert submission.modules == {"softmax": b"x = 1"}
    assert submission.notes == ("softmax.ipynb was left aside, since softmax.py is there",)


@pytest.mark.parametrize("name", ["softmax-Copy1.ipynb", "Softmax (2).ipynb", "softmax_final.ipynb", "SOFTMAX.ipynb"])
def test_a_misnamed_notebook_is_taken_and_told(amara, name):
    submission = amara(**{name: notebook(SOFTMAX)})
    assert (submission.modules, submission.extra) == ({"softmax": module(name)}, ())
    assert submission.notes == (f"{name} was taken for softmax.ipynb",)


def test_a_copy_is_left_aside_where_the_notebook_itself_is_there(amara):
    submission = amara(**{"softmax.ipynb": notebook(SOFTMAX), "softmax-Copy1.ipynb": notebook("softmax = 0")})
    assert (submission.modules, submission.extra) == ({"softmax": MODULE}, ("softmax-Copy1.ipynb",))
    assert submission.notes == ("softmax-Copy1.ipynb was left aside, since softmax.ipynb is there",)


def test_of_two_copies_none_is_chosen(amara):
    submission = amara(**{"softmax-Copy1.ipynb": notebook(SOFTMAX), "softmax-Copy2.ipynb": notebook(SOFTMAX)})
    assert told(submission) == {
        "softmax": "found more than once: softmax-Copy1.ipynb, softmax-Copy2.ipynb; keep one of them, as softmax.ipynb"
    }


def test_one_notebook_may_hold_everything_under_any_name(amara):
    submission = amara(**{"homework 3.ipynb": notebook(SOFTMAX, MASKS)})
    assert submission.modules == {"softmax": module("homework 3.ipynb"), "masks": module("homework 3.ipynb", MASKS, 2)}
    assert submission.notes == ("softmax was found in homework 3.ipynb", "masks was found in homework 3.ipynb")


def test_the_notebook_of_one_exercise_is_not_searched_for_another(amara):
    assert set(amara(**{"softmax.ipynb": notebook(SOFTMAX, MASKS)}).modules) == {"softmax"}


def test_what_the_course_hands_out_to_play_with_is_not_handed_in(amara):
    submission = amara(**{"labs/softmax.ipynb": notebook(SOFTMAX), "masks.py": MASKS})
    assert (set(submission.modules), submission.notes) == ({"masks"}, ())


def test_a_notebook_that_cannot_be_read_costs_its_own_exercise_only(amara):
    submission = amara(**{"softmax.ipynb": b"<html>", "masks.ipynb": notebook(MASKS)})
    assert set(submission.modules) == {"masks"}
    assert told(submission) == {
        "softmax": "softmax.ipynb is no notebook: line 1 is not JSON (Expecting value); save it in Jupyter again"
    }


def test_a_broken_notebook_of_no_exercise_is_an_extra_file(amara):
    assert amara(**{"notes.ipynb": b"", "softmax.py": SOFTMAX}).extra == ("notes.ipynb",)


def test_what_was_wrong_with_cells_is_told_with_the_name_of_the_notebook(amara):
    cells = [solution("softmax = None"), solution(f"%time\n{SOFTMAX}"), cell("") | {"source": 1}]
    assert amara(**{"softmax.ipynb": notebook(*cells)}).notes == (
        "softmax.ipynb: cell 3 is no cell of a notebook, and was left out",
        "softmax.ipynb: 2 cells have the grade_id solution_double; the last one counts, cell 2",
        "softmax.ipynb: left out, as it is no Python: cell 2, line 1 (%time)",
    )


def test_cells_without_python_where_the_function_should_be_are_a_problem(amara):
    assert told(amara(**{"softmax.ipynb": notebook(solution("def softmax(:"))})) == {
        "softmax": "softmax.ipynb: cell 1 cannot be read: invalid syntax (line 1)"
    }


def test_a_notebook_may_be_large_but_not_without_end(amara, monkeypatch):
    printed = cell(SOFTMAX) | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "x" * (2 << 20)}]}
    assert amara(**{"softmax.ipynb": notebook(printed)}).modules == {"softmax": MODULE}
    monkeypatch.setattr(nodes, "LARGEST_NOTEBOOK", 1 << 20)
    assert told(amara()) == {"softmax": "softmax.ipynb is larger than 1 MiB"}


def test_a_zip_with_what_a_notebook_printed_200000_times_is_opened(tmp_path):
    printed = cell(SOFTMAX) | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "again\n" * 200_000}]}
    with zipfile.ZipFile(tmp_path / "amara.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("softmax.ipynb", notebook(printed))
    assert (tmp_path / "amara.zip").stat().st_size * 100 < len(notebook(printed))
    assert read_submission(tmp_path / "amara.zip", EXERCISES).modules == {"softmax": MODULE}


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_nbgraders_submitted_folder_is_known_by_its_notebooks(tmp_path):
    for learner in ("amara", "bea"):
        write(tmp_path / "submitted" / learner / "masks" / "masks.ipynb", notebook(MASKS))
        write(tmp_path / "submitted" / learner / "essay" / "essay.ipynb", notebook("x = 1"))
    found = find_submissions(tmp_path, EXERCISES)
    assert (found.layout, [(each.id, set(each.modules)) for each in found.submissions]) == (
        "nbgrader",
        [("amara", {"masks"}), ("bea", {"masks"})],
    )


def test_a_folder_of_notebooks_alone_is_one_submission(tmp_path):
    write(tmp_path / "amara" / "homework.ipynb", notebook(SOFTMAX))
    found = find_submissions(tmp_path / "amara", EXERCISES)
    assert (found.layout, found.submissions[0].modules) == ("single", {"softmax": module("homework.ipynb")})


def test_a_notebook_beside_the_folders_of_a_class_is_the_instructors(tmp_path):
    write(tmp_path / "class" / "amara" / "softmax.ipynb", notebook(SOFTMAX))
    write(tmp_path / "class" / "marks.ipynb", notebook("x = 1"))
    found = find_submissions(tmp_path / "class", EXERCISES)
    assert ([each.id for each in found.submissions], found.ignored) == (["amara"], ["marks.ipynb"])


def test_a_class_archive_is_known_by_the_same_notebook_in_several_folders(tmp_path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for learner in ("amara", "bea"):
            archive.writestr(f"{learner}/softmax.ipynb", notebook(SOFTMAX))
    found = find_submissions(tmp_path / "class.zip", EXERCISES)
    assert [(each.id, each.modules) for each in found.submissions] == [
        ("amara", {"softmax": MODULE}),
        ("bea", {"softmax": MODULE}),
    ]

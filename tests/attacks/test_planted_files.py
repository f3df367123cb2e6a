"""Files handed in beside the modules: they are data to the grader, never code, settings or a way to other files."""

import os
import subprocess
import sys
import zipfile

import pytest

from autograder.course import find_course
from autograder.report import from_json
from autograder.submission import Refused, find_submissions, read_submission

# Each of these would run where the folder is on Python's path, or is where pytest is started.
PLANTED = [
    "conftest.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "torch.py", "pytest.py", "msgspec.py",
    "landlock.py", "pyseccomp.py", "autograder.py", "test_softmax.py", "setup.py", "numpy/__init__.py",
    "autograder/checks.py", "autograder/suites/test_softmax.py",
]  # fmt: skip
SETTINGS = {
    "pytest.ini": "[pytest]\npython_functions = nothing\naddopts = -p conftest\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p conftest"\n',
    "tox.ini": "[pytest]\naddopts = -p conftest\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p conftest\n",
    "planted.pth": "import conftest\n",
    "pyvenv.cfg": "home = .\n",
}


@pytest.fixture
def alice(tmp_path, small_course, solution):
    """Give the folder of a submission that holds a right module and every planted file; each leaves a mark when run."""
    folder = tmp_path / "class" / "alice"
    mark = f"open({str(tmp_path / 'marks')!r}, 'a').write(__file__ + '\\n')\n"
    for name in PLANTED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(mark)
    for name, text in SETTINGS.items():
        (folder / name).write_text(text)
    (folder / "course.toml").write_text((small_course.root / "course.toml").read_text())
    (folder / "softmax.py").write_text(solution)
    return folder


def attend(*arguments, cwd, **environment):
    command = [sys.executable, "-c", "import sys; sys.path.remove(''); from autograder.cli import main; main()"]
    return subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_planted_files_do_run_where_tests_are_started_beside_them(alice, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(alice)}
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=alice, env=environment, capture_output=True, timeout=60)
    marks = (tmp_path / "marks").read_text()
    assert "sitecustomize.py" in marks
    assert "conftest.py" in marks or "pytest.py" in marks


def test_planted_files_are_named_and_never_run(alice, tmp_path, small_course):
    out = tmp_path / "out"
    graded = attend("grade", ".", "--course", small_course.root, "--out", out, cwd=alice)
    assert graded.returncode == 0, graded.stderr
    (report,) = [from_json(file.read_bytes()) for file in (out / "reports").glob("*.json")]
    assert (report.status, report.earned) == ("graded", 3)
    assert {"conftest.py", "pytest.ini", "numpy.py", "sitecustomize.py", "course.toml"} <= set(report.extra_files)
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("path", [".", "..", "../../elsewhere"])
def test_a_course_among_the_submissions_is_not_taken_for_the_instructors(alice, tmp_path, path):
    (tmp_path / "elsewhere" / "bob").mkdir(parents=True)
    assert find_course(alice) == alice / "course.toml"
    graded = attend("grade", path, "--out", tmp_path / "out", cwd=alice)
    assert graded.returncode == 2
    assert graded.stderr.count("\n") == 1
    assert f"{alice / 'course.toml'} is not the course of this kit" in graded.stderr
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("hard", [False, True], ids=["a link to the solution", "a link to a link"])
def test_a_linked_module_is_not_followed(tmp_path, small_course, hard):
    folder = tmp_path / "bob"
    folder.mkdir()
    target = small_course.solution_of(small_course.exercise("softmax"))
    if hard:
        (folder / "other").symlink_to(target)
        target = folder / "other"
    (folder / "softmax.py").symlink_to(target)
    # Reading it plainly would hand in the solution.
    assert "powers" in (folder / "softmax.py").read_text()
    submission = read_submission(folder, ["softmax"])
    assert submission.modules == {}
    assert "link" in str(submission.problems["softmax"])


def test_a_linked_folder_is_no_submission(tmp_path, small_course):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "carol").symlink_to(small_course.paths.solutions)
    (found,) = find_submissions(tmp_path / "class", ["softmax"]).submissions
    assert isinstance(found, Refused)


def test_a_folder_linked_inside_a_submission_is_not_walked(tmp_path, small_course):
    folder = tmp_path / "dan"
    folder.mkdir()
    (folder / "work").symlink_to(small_course.paths.solutions)
    assert read_submission(folder, ["softmax"]).modules == {}


@pytest.mark.parametrize("name", ["../softmax.py", "/softmax.py", "a/../../softmax.py", "C:\\softmax.py"])
def test_a_name_in_an_archive_leads_nowhere_else(tmp_path, name):
    archive = tmp_path / "eve.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(name, "def softmax(scores): ...")
    (found,) = find_submissions(archive, ["softmax"]).submissions
    assert isinstance(found, Refused)


def test_a_pipe_in_the_place_of_a_module_is_not_waited_for(tmp_path):
    folder = tmp_path / "fay"
    folder.mkdir()
    os.mkfifo(folder / "softmax.py")
    assert read_submission(folder, ["softmax"]).modules == {}

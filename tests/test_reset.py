"""`attend reset`: the stub comes back, and nothing that a learner wrote is ever lost."""

from pathlib import Path

import pytest

from autograder.course import Course, load_course
from autograder.report import ReportError
from autograder.reset import Put, ResetError, reset
from autograder.submission import read_submission

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = """def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
"""
STUB = b"def double(x):\n    raise NotImplementedError\n"


@pytest.fixture
def course(small_course) -> Course:
    """Give the course as instructors and those who study alone have it."""
    return small_course(files={"solutions/double.py": SOLUTION, "exercises/double.py": STUB.decode()})


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "double.py").write_bytes(b"mine = 1\r\n")
    return folder


@pytest.fixture
def learners(course: Course) -> Course:
    """Give the course as learners have it, without solutions."""
    course.solution_of(course.exercises[0]).unlink()
    return course


def begin_anew(course: Course, folder: Path) -> Put:
    return reset(course.exercises[0], folder, course)


def refused(course: Course, folder: Path) -> str:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ResetError) as caught:
        begin_anew(course, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_stub_is_made_from_the_solution_and_the_old_file_kept(course: Course, own: Path):
    assert begin_anew(course, own) == Put(own / "double.py", own / "double.py.kept-1")
    assert (own / "double.py").read_bytes() == STUB
    assert (own / "double.py.kept-1").read_bytes() == b"mine = 1\r\n"
    assert len(list(own.iterdir())) == 2


def test_the_solution_makes_the_stub_also_where_the_learner_wrote_in_the_courses_own(course: Course):
    folder = course.paths.exercises
    (folder / "double.py").write_text("mine = 1\n")
    assert begin_anew(course, folder).kept == folder / "double.py.kept-1"
    assert (folder / "double.py").read_bytes() == STUB


def test_what_was_kept_before_is_never_overwritten(course: Course, own: Path):
    for number in (1, 2, 3):
        (own / "double.py").write_text(f"mine = {number}\n")
        assert begin_anew(course, own).kept == own / f"double.py.kept-{number}"
    assert [(own / f"double.py.kept-{number}").read_text() for number in (1, 2, 3)] == [
        "mine = 1\n",
        "mine = 2\n",
        "mine = 3\n",
    ]


def test_a_stub_is_left_alone_and_nothing_is_kept(course: Course, own: Path):
    (own / "double.py").write_bytes(STUB)
    assert begin_anew(course, own) == Put(own / "double.py", None, changed=False)
    assert [path.name for path in own.iterdir()] == ["double.py"]


def test_where_there_was_no_module_there_is_a_stub_and_nothing_to_keep(course: Course, own: Path):
    (own / "double.py").unlink()
    assert begin_anew(course, own) == Put(own / "double.py", None)
    assert (own / "double.py").read_bytes() == STUB


def test_a_link_is_replaced_and_what_it_led_to_is_left_alone(course: Course, own: Path):
    (own / "elsewhere.py").write_text("mine = 2\n")
    (own / "double.py").unlink()
    (own / "double.py").symlink_to("elsewhere.py")
    begin_anew(course, own)
    assert (own / "elsewhere.py").read_text() == "mine = 2\n"
    assert (own / "double.py.kept-1").read_text() == "mine = 2\n"
    assert (own / "double.py").read_bytes() == STUB


def test_a_kept_file_is_not_handed_in_as_a_module(course: Course, own: Path):
    begin_anew(course, own)
    submission = read_submission(own, ["double"])
    assert dict(submission.modules) == {"double": STUB}
    assert dict(submission.problems) == {}


# Without solutions


def test_the_courses_own_stub_is_taken_where_nobody_has_written_in_it(learners: Course, own: Path):
    assert begin_anew(learners, own).kept == own / "double.py.kept-1"
    assert (own / "double.py").read_bytes() == STUB


@pytest.mark.parametrize(
    "written",
    [
        "def double(x):\n    return 2 * x\n",
        "def double(x):\n    if x:\n        raise NotImplementedError\n    return 2 * x\n",
        "def double(x):\n",
        "def half(x):\n    raise NotImplementedError\n",
        "double = 2\n",
        "",
    ],
)
def test_a_stub_in_which_somebody_has_written_is_none(learners: Course, own: Path, written: str):
    stub = learners.stub_of(learners.exercises[0])
    stub.write_text(written)
    assert refused(learners, own) == (
        f"there is no stub of double to put back ({stub} was written in); take it from what you were given"
    )


def test_a_stub_that_is_the_learners_own_file_cannot_come_back_by_itself(learners: Course):
    folder = learners.paths.exercises
    (folder / "double.py").write_text("mine = 1\n")
    (folder / "contract" / "double.en.toml").unlink()
    (folder / "contract").rmdir()
    said = refused(learners, folder)
    assert f"({folder / 'double.py'} is itself the one that was written in)" in said


def test_a_course_without_stub_and_solution_has_nothing_to_put_back(learners: Course, own: Path):
    stub = learners.stub_of(learners.exercises[0])
    stub.unlink()
    assert f"({stub} is not there)" in refused(learners, own)


@pytest.mark.parametrize("exercise", load_course(ROOT).exercises, ids=lambda exercise: exercise.name)
def test_every_stub_of_the_shipped_course_is_known_as_untouched(exercise, tmp_path: Path):
    (tmp_path / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    course = load_course(tmp_path)
    course.paths.exercises.mkdir()
    stub = load_course(ROOT).stub_of(exercise).read_bytes()
    course.stub_of(exercise).write_bytes(stub)
    folder = tmp_path / "own"
    folder.mkdir()
    reset(exercise, folder, course)
    assert (folder / f"{exercise.name}.py").read_bytes() == stub


@pytest.mark.parametrize("method", ["__init__", "forward"])
def test_a_class_of_which_one_method_is_written_is_no_stub(tmp_path: Path, method: str):
    (tmp_path / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    course = load_course(tmp_path)
    exercise = course.exercise("multi_head")
    before, name, after = load_course(ROOT).stub_of(exercise).read_text(encoding="utf-8").partition(f"def {method}(")
    course.paths.exercises.mkdir()
    course.stub_of(exercise).write_text(before + name + after.replace("raise NotImplementedError", "pass", 1))
    with pytest.raises(ResetError, match="was written in"):
        reset(exercise, tmp_path, course)


# What can go wrong


def test_a_module_that_cannot_be_read_is_left_as_it_is(course: Course, own: Path):
    (own / "double.py").unlink()
    (own / "double.py").mkdir()
    with pytest.raises(ResetError, match=r"double\.py: cannot be read \(.+\); nothing was changed"):
        begin_anew(course, own)
    assert [path.name for path in own.iterdir()] == ["double.py"]


def test_where_nothing_can_be_kept_the_module_is_left_as_it_is(course: Course, own: Path, monkeypatch):
    ordinary = Path.open

    def full(self, mode="r", *args, **kwargs):
        if mode == "xb":
            raise OSError(28, "No space left on device")
        return ordinary(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ResetError, match=r"kept-1 cannot be written \(No space left on device\); .* is left as it is"):
        begin_anew(course, own)
    monkeypatch.undo()
    assert (own / "double.py").read_bytes() == b"mine = 1\r\n"


def test_where_the_stub_cannot_be_written_the_module_is_still_there(course: Course, own: Path, monkeypatch):
    def broken(path, data):
        raise ReportError(f"{path} cannot be written: no")

    monkeypatch.setattr("autograder.reset.write_whole", broken)
    with pytest.raises(ReportError):
        begin_anew(course, own)
    assert (own / "double.py").read_bytes() == b"mine = 1\r\n"
    assert (own / "double.py.kept-1").read_bytes() == b"mine = 1\r\n"

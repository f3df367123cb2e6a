"""From a submission to its marks: extremes in the real course, and all that can go wrong in a small one."""

import os
import platform
import shutil
import textwrap
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

import autograder.fingerprint
import autograder.grade
from autograder.course import load_course
from autograder.fingerprint import Fingerprint
from autograder.grade import MANY, GradingError, are_many, grade, grade_all
from autograder.report import Outcome
from autograder.sandbox import jail
from autograder.sandbox.learner import NotStarted
from autograder.sandbox.starting import starter_for
from autograder.submission import Refused, Submission, read_submission

ROOT = Path(__file__).resolve().parents[1]
REAL = load_course(ROOT)
NAMES = [exercise.name for exercise in REAL.exercises]

# The solution's own checks of its arguments stay; only what it returns is replaced.
REPLACED = """

def _replace_results():
    import functools
    import sys

    import numpy as np

    torch = sys.modules.get("torch")

    def replaced(value, first):
        if isinstance(value, (tuple, list)):
            return type(value)(replaced(item, first) for item in value)
        if torch is not None and isinstance(value, torch.Tensor):
            return {tensor}
        return {array}

    def wrapped(function, skipped=0):
        @functools.wraps(function)
        def replacement(*arguments, **keywords):
            result = function(*arguments, **keywords)
            return {result}

        return replacement

    for name in {names}:
        original = globals()[name]
        if isinstance(original, type):
            original.forward = wrapped(original.forward, 1)
        else:
            globals()[name] = wrapped(original)


_replace_results()
"""
FILLS = {
    "zeros": {"tensor": "torch.zeros_like(value)", "array": "np.zeros_like(value)"},
    "ones": {"tensor": "torch.ones_like(value)", "array": "np.ones_like(value)"},
    "NaN": {"tensor": "torch.full_like(value, float('nan'))", "array": "np.full_like(value, np.nan)"},
    "their first argument": {"tensor": "first", "array": "first"},
}


def source_that_returns(fill, exercise):
    what = FILLS[fill]
    value = "(arguments + tuple(keywords.values()))[skipped]"
    result = value if fill == "their first argument" else f"replaced(result, {value})"
    text = REPLACED
    for key, expression in {**what, "result": result, "names": repr(exercise.functions)}.items():
        text = text.replace("{" + key + "}", expression)
    return REAL.solution_of(exercise).read_bytes() + text.encode()


def extremes():
    yield read_submission(ROOT / "solutions", NAMES, "reference")
    yield read_submission(ROOT / "exercises", NAMES, "stubs")
    for fill in FILLS:
        yield Submission(fill, {exercise.name: source_that_returns(fill, exercise) for exercise in REAL.exercises})


@pytest.fixture(scope="module")
def real_reports():
    reports = {}
    grade_all(extremes(), REAL, receive=lambda report: reports.setdefault(report.submission, report))
    return reports


@pytest.mark.parametrize("exercise", NAMES)
def test_the_reference_solution_gets_every_point(real_reports, exercise):
    (result,) = [result for result in real_reports["reference"].exercises if result.name == exercise]
    assert [check.name for check in result.checks if check.outcome is not Outcome.PASSED] == []
    assert result.earned == result.points == REAL.exercise(exercise).points
    assert result.passed


@pytest.mark.parametrize("extreme", ["stubs", *FILLS])
@pytest.mark.parametrize("exercise", NAMES)
def test_what_does_nothing_right_gets_no_point(real_reports, exercise, extreme):
    report = real_reports[extreme]
    assert report.status == "graded"
    (result,) = [result for result in report.exercises if result.name == exercise]
    assert [check.name for check in result.checks if check.outcome is Outcome.PASSED] == []
    assert result.earned == 0


def test_a_stub_is_told_that_it_is_not_written_yet(real_reports):
    messages = {check.message for result in real_reports["stubs"].exercises for check in result.checks}
    assert messages == {"not written yet (NotImplementedError)"}


def test_the_layers_of_the_jail_are_in_the_report(real_reports):
    assert real_reports["reference"].isolation == ["process", "rlimits", "landlock", "seccomp"]


def test_points_and_earned_are_those_of_the_course_and_the_bonus_comes_on_top(real_reports):
    report = real_reports["reference"]
    assert (report.points, report.earned, report.core_earned, report.bonus_earned) == (100, 125, 100, 25)


COURSE = """
name = "small"
title = "Small"
languages = ["en"]
feedback = "full"

[limits]
call_seconds = 0.5

[paths]
exercises = "exercises"
solutions = "solutions"
suites = "suites"

[banned]
roots = ["numpy.linalg.*", "scipy.special.*softmax"]

[[exercises]]
name = "double"
title = "Double"
points = 3
functions = ["double"]
libraries = ["numpy"]
banned = ["roots"]
stand_ins = { helper = "helper.py" }

[[exercises]]
name = "half"
title = "Half"
points = 4
functions = ["half"]
libraries = ["numpy"]

[[exercises]]
name = "more"
title = "More"
points = 2
functions = ["more"]
libraries = ["numpy"]
bonus = true
"""
SUITE = """
import numpy as np
from autograder.checks import assert_close, assert_untouched, hint, points, promise, raises


@points(1)
@promise("doubles")
@hint("double.value")
def test_a_number_is_doubled(learner, reference):
    assert_close(learner.double(np.array([1.5])), reference.double(np.array([1.5])))


@points(2)
@promise("doubles")
@hint("double.many")
def test_many_are_doubled(learner, reference, rng):
    numbers = rng.normal(size=(2, 3))
    assert_close(learner.double(numbers), reference.double(numbers))
    assert_untouched(learner)
"""
HALF = """
import numpy as np
import pytest
from autograder.checks import assert_close, points


@points(1)
@pytest.mark.parametrize("number", [1.0, 2.0, 3.0, 4.0])
def test_half(learner, reference, number):
    assert_close(learner.half(np.array([number])), reference.half(np.array([number])))
"""
MORE = """
import numpy as np
from autograder.checks import assert_equal, points


@points(2)
def test_more(learner, reference):
    assert_equal(learner.more(np.array([1.0])), reference.more(np.array([1.0])))
"""
RIGHT = {
    "double": b"def double(numbers):\n    return numbers * 2\n",
    "half": b"def half(numbers):\n    return numbers / 2\n",
    "more": b"def more(numbers):\n    return numbers + 1\n",
}


@pytest.fixture
def course(tmp_path):
    files = {f"solutions/{name}.py": source.decode() for name, source in RIGHT.items()}
    files |= {"course.toml": COURSE, "suites/test_double.py": SUITE, "suites/test_half.py": HALF}
    files |= {"suites/test_more.py": MORE, "helper.py": "def helped(x):\n    return x\n"}
    for name, text in files.items():
        (tmp_path / "course" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "course" / name).write_text(text)
    return load_course(tmp_path / "course")


def submission(**modules):
    sources = RIGHT | {name: textwrap.dedent(text).encode() for name, text in modules.items()}
    return Submission("ada", sources)


def result_of(report, exercise="double"):
    return next(result for result in report.exercises if result.name == exercise)


def test_points_of_the_core_and_of_the_bonus_are_kept_apart(course):
    report = grade(submission(), course)
    assert (report.points, report.earned, report.core_earned, report.bonus_earned) == (7, 9, 7, 2)
    assert [result.earned for result in report.exercises] == [3, 4, 2]


def test_a_check_that_fails_shows_what_came_back_and_the_call(course):
    report = grade(submission(double="def double(numbers):\n    return numbers * 3"), course)
    first, second = result_of(report).checks
    assert (first.name, first.title) == ("test_a_number_is_doubled", "a number is doubled")
    assert (first.outcome, first.points, first.earned) == (Outcome.FAILED, 1, 0)
    assert first.message == "returned [4.5], right is [3.]"
    assert first.counterexample == "double([1.5])"
    assert (first.hint, second.hint) == ("double.value", "double.many")
    assert 0 < first.seconds < 5


def test_a_check_that_raises_shows_the_learner_s_line(course):
    report = grade(submission(double="def double(numbers):\n    return numbers.no_such"), course)
    (message, _) = [check.message for check in result_of(report).checks]
    said = "AttributeError: 'numpy.ndarray' object has no attribute 'no_such' (line 2: return numbers.no_such)"
    assert message == said


def test_a_module_that_is_not_handed_in_earns_nothing_and_says_so(course):
    report = grade(Submission("ada", {"double": RIGHT["double"]}), course)
    assert result_of(report, "half").reason == "not handed in"
    assert [check.outcome for check in result_of(report, "half").checks] == [Outcome.FAILED] * 4
    assert (report.earned, report.status) == (3, "graded")


def test_a_problem_with_a_module_is_its_reason(course):
    handed_in = Submission("ada", {}, problems={"double": "two files could be double.py"})
    assert result_of(grade(handed_in, course)).reason == "two files could be double.py"


BY_ITSELF = "; a module is graded by itself, without the files beside it"
NO_FILES = "; code that is graded can neither write files nor read any but Python's libraries"
DENIED = "PermissionError: [Errno 13] Permission denied: '/etc/x'"
NO_PARENT = "ImportError: attempted relative import with no known parent package"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"x = 1\ndef double(:\n", "SyntaxError: invalid syntax (line 2: def double(:)"),
        (b"x = 1\n  y = 2\n", "IndentationError: unexpected indent (line 2: y = 2)"),
        (b"\nimport no_such\n", "ModuleNotFoundError: No module named 'no_such' (line 2: import no_such)" + BY_ITSELF),
        (b"from . import x\n", NO_PARENT + " (line 1: from . import x)" + BY_ITSELF),
        (b"open('/etc/x', 'w')\n", DENIED + " (line 1: open('/etc/x', 'w'))" + NO_FILES),
        (b"x = 1\n\nprint(1 / 0)\n", "ZeroDivisionError: division by zero (line 3: print(1 / 0))"),
    ],
)  # fmt: skip
def test_a_module_that_cannot_be_loaded_gives_the_learner_s_own_line(course, source, reason):
    report = grade(Submission("ada", RIGHT | {"double": source}), course)
    assert result_of(report).reason == f"double.py cannot be loaded: {reason}"
    assert [result.earned for result in report.exercises] == [0, 4, 2]


def test_a_module_that_is_not_utf8_says_so(course):
    report = grade(Submission("ada", RIGHT | {"double": "\nx = 'é'\n".encode("latin-1")}), course)
    reason = "SyntaxError: byte 0xe9 is not UTF-8; save the file as UTF-8 (line 2: x = '\N{REPLACEMENT CHARACTER}')"
    assert result_of(report).reason == f"double.py cannot be loaded: {reason}"
    assert result_of(report).earned == 0


def test_an_end_while_loading_is_the_reason(course):
    report = grade(submission(double="import os\nos._exit(0)"), course)
    assert result_of(report).reason == (
        "while double.py was loaded: the process exited (status 0) instead of returning"
    )
    assert [check.outcome for check in result_of(report).checks] == [Outcome.CRASHED] * 2


def test_after_two_time_outs_the_other_checks_are_not_run_and_say_so(course):
    report = grade(submission(half="def half(numbers):\n    while True: pass"), course)
    checks = result_of(report, "half").checks
    assert [check.outcome for check in checks] == [Outcome.TIMED_OUT] * 4
    waited, unrun = "one call took longer than 0.5 s", "not run: two checks before it ran out of time"
    assert [check.message for check in checks] == [waited, waited, unrun, unrun]
    assert report.seconds < 5
    assert [result.earned for result in report.exercises] == [3, 0, 2]


def test_a_crash_costs_the_check_that_it_happened_in(course):
    source = """
        import os
        def half(numbers):
            if numbers[0] == 2:
                os._exit(0)
            return numbers / 2
    """
    result = result_of(grade(submission(half=source), course), "half")
    outcomes = [check.outcome for check in result.checks]
    assert outcomes == [Outcome.PASSED, Outcome.CRASHED, Outcome.PASSED, Outcome.PASSED]
    assert result.earned == 3


def test_more_memory_than_the_limit_is_an_outcome_of_its_own(course):
    limits = msgspec.structs.replace(course.limits, memory_mib=128)
    source = "import numpy as np\ndef double(numbers):\n    return np.ones(1 << 28)"
    result = result_of(grade(submission(double=source), msgspec.structs.replace(course, limits=limits)))
    assert [check.outcome for check in result.checks] == [Outcome.OUT_OF_MEMORY] * 2


def test_a_banned_call_earns_nothing_and_is_named_with_its_line(course):
    source = "import numpy as np\ndef double(x):\n    np.linalg.norm(x)\n    return x * 2"
    report = grade(submission(double=source), course)
    assert result_of(report).reason == "this exercise may not use numpy.linalg.norm (line 3: np.linalg.norm(x))"
    assert [result.earned for result in report.exercises] == [0, 4, 2]


def test_a_banned_call_that_is_hidden_is_found_while_it_runs(course):
    source = "import numpy\ndef double(x):\n    getattr(numpy.__dict__['linalg'], 'no' + 'rm')(x)\n    return x * 2"
    report = grade(submission(double=source), course)
    assert result_of(report).reason.startswith("this exercise may not use numpy.linalg.")
    assert result_of(report).reason.endswith(" (line 3: getattr(numpy.__dict__['linalg'], 'no' + 'rm')(x))")
    assert [result.earned for result in report.exercises] == [0, 4, 2]


def test_extra_files_are_named(course):
    handed_in = Submission("ada", RIGHT, extra=("notes.txt",))
    assert grade(handed_in, course).extra_files == ["notes.txt"]


def test_who_handed_in_and_when_is_in_the_report_and_changes_no_mark(course):
    moment = datetime.fromisoformat("2026-03-01T23:59:00+01:00")
    report = grade(Submission("ada", RIGHT, handed_in=moment, learner_name="Ada Byron"), course)
    assert (report.handed_in, report.learner_name) == ("2026-03-01T23:59:00+01:00", "Ada Byron")
    assert (report.fingerprint, report.earned) == (grade(submission(), course).fingerprint, 9)


def test_a_date_that_is_moved_changes_no_fingerprint(course):
    exercises = tuple(msgspec.structs.replace(each, due=datetime.now(UTC)) for each in course.exercises)
    moved = msgspec.structs.replace(course, due=datetime.now(UTC), exercises=exercises)
    assert grade(submission(), moved).fingerprint == grade(submission(), course).fingerprint


def test_a_submission_that_was_refused_is_not_graded(course):
    reports = []
    grade_all([Refused("ada", "no zip"), submission()], course, receive=reports.append)
    assert [(report.status, report.reason, report.earned) for report in reports] == [
        ("not_graded", "no zip", 0),
        ("graded", "", 9),
    ]


class FailingStarter:
    def start(self, settings, speciality=None):
        raise NotStarted("the machine is full")

    def prepare(self, specialities):
        pass

    def explain(self):
        return ""

    def close(self):
        pass


def starters(monkeypatch, *, failing):
    """Let the first `failing` starters start nothing; give the list of all that were asked for."""
    made = []

    def make(libraries):
        made.append(FailingStarter() if len(made) < failing else starter_for(libraries))
        return made[-1]

    monkeypatch.setattr(autograder.grade, "starter_for", make)
    return made


def test_the_fork_server_is_started_once_for_all_submissions(course, monkeypatch):
    made = starters(monkeypatch, failing=0)
    reports = []
    grade_all([submission()] * 3, course, receive=reports.append)
    assert [report.earned for report in reports] == [9, 9, 9]
    assert len(made) == 1


def test_a_failure_of_ours_is_tried_once_more_with_a_new_fork_server(course, monkeypatch):
    made = starters(monkeypatch, failing=1)
    assert grade(submission(), course).earned == 9
    assert len(made) == 2


def test_a_failure_of_ours_that_stays_is_not_graded_and_never_a_zero(course, monkeypatch):
    made = starters(monkeypatch, failing=2)
    reports = []
    grade_all([submission(), submission()], course, receive=reports.append)
    assert (reports[0].status, reports[0].reason) == (
        "not_graded",
        "the grader failed twice: NotStarted: the machine is full",
    )
    assert reports[0].exercises == []
    assert (reports[1].status, reports[1].earned) == ("graded", 9)
    assert len(made) == 3


def test_a_fork_server_that_dies_between_checks_is_replaced(course, monkeypatch):
    made = starters(monkeypatch, failing=0)
    source = (course.paths.suites / "test_half.py").read_text()
    killed = course.root / "killed"
    kill = f"""
@points(0)
def test_a_fork_server_dies(learner):
    import pathlib
    if not pathlib.Path({str(killed)!r}).exists():
        pathlib.Path({str(killed)!r}).touch()
        learner._line._starter._zygote.kill()
        learner._line._starter._zygote.wait()
        learner.close()
"""
    (course.paths.suites / "test_half.py").write_text(source.replace("\n\n@points(1)", f"\n{kill}\n\n@points(1)", 1))
    report = grade(submission(), course)
    assert (report.status, report.earned) == ("graded", 9)
    assert killed.exists()
    assert len(made) == 2


def test_a_mistake_in_a_suite_is_not_graded_and_stops_nobody_else(course):
    text = MORE.replace("assert_equal(", "assert_close(").replace("assert_equal", "assert_close")
    text = text.replace("np.array([1.0])))", "np.array([1.0])), logits=1e20)")
    (course.paths.suites / "test_more.py").write_text(text)
    reports = []
    grade_all([submission(), Submission("bob", {"half": RIGHT["half"]})], course, receive=reports.append)
    assert reports[0].status == "not_graded"
    assert "lets almost any value pass" in reports[0].reason
    assert (reports[1].status, reports[1].earned) == ("graded", 4)


def test_a_suite_that_cannot_be_collected_is_an_error_with_one_reason(course):
    (course.paths.suites / "test_half.py").write_text("import no_such_module")
    with pytest.raises(GradingError, match="the suites cannot be collected") as caught:
        grade(submission(), course)
    assert "no_such_module" in str(caught.value)


def test_a_course_without_its_hidden_half_grades_nothing(course):
    missing = msgspec.structs.replace(course.paths, solutions=course.root / "nowhere")
    with pytest.raises(GradingError, match="nowhere is not there: grading needs the instructor's copy"):
        grade(submission(), msgspec.structs.replace(course, paths=missing))


def test_hidden_files_that_learner_code_could_read_grade_nothing(course, monkeypatch):
    monkeypatch.setattr(jail, "readable_paths", lambda: (str(course.root.resolve()),))
    with pytest.raises(GradingError, match="suites lies where learner code may read it"):
        grade(submission(), course)


def test_an_incomplete_jail_grades_nothing_unless_trusted(course, monkeypatch):
    monkeypatch.setattr(jail, "readable_paths", lambda: ("/usr/share",))
    monkeypatch.setattr(autograder.grade.jail, "first_readable", lambda paths, readable: None)
    monkeypatch.setattr("autograder.desk.jail.readable_paths", lambda: ("/",))
    with pytest.raises(GradingError, match=r"the jail is not complete on this machine .*landlock.*; --trust grades"):
        grade(submission(), course)
    report = grade(submission(), course, trust=True)
    assert (report.earned, report.isolation) == (9, ["process", "rlimits", "seccomp"])


@pytest.fixture
def fingerprint():
    """Give the fingerprint under which a submission is graded."""

    def of(course, **handed_in):
        return Fingerprint(course).of(Submission("ada", **{"modules": RIGHT, **handed_in}))

    return of


def test_the_fingerprint_is_the_same_for_the_same_things(course, fingerprint):
    first, second = fingerprint(course), fingerprint(load_course(course.root))
    assert first == second
    assert first.startswith("sha256:")
    assert len(first) == 71


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("suites/test_double.py", "size=(2, 3)", "size=(3, 2)"),
        ("solutions/double.py", "numbers * 2", "2 * numbers"),
        ("helper.py", "return x", "return  x"),
        ("course.toml", "call_seconds = 0.5", "call_seconds = 0.6"),
        ("course.toml", 'title = "Half"', 'title = "Halves"'),
    ],
)
def test_the_fingerprint_changes_with_each_file_of_the_course(course, fingerprint, file, old, new):
    before = fingerprint(course)
    path = course.root / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    assert fingerprint(load_course(course.root)) != before


def test_the_fingerprint_changes_with_the_faults_that_a_report_may_name(course, fingerprint):
    before = fingerprint(course)
    course.paths.faults.mkdir(parents=True)
    course.family_of(course.exercise("double")).write_text("FAMILY = None\n")
    assert fingerprint(course) != before


def test_the_fingerprint_does_not_change_where_the_course_is_moved(course, fingerprint, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved") / "course"
    shutil.copytree(course.root, moved)
    assert fingerprint(load_course(moved)) == fingerprint(course)


def test_the_fingerprint_does_not_change_with_what_learners_are_told_to_expect(course, fingerprint):
    before = fingerprint(course)
    path = course.root / "course.toml"
    path.write_text(path.read_text().replace('\ntitle = "Half"', '\ndifficulty = 2\nminutes = 30\ntitle = "Half"'))
    told = load_course(course.root)
    assert [exercise.minutes for exercise in told.exercises].count(30) == 1
    assert fingerprint(told) == before


def test_the_fingerprint_changes_with_the_grader_itself(course, fingerprint, monkeypatch, tmp_path):
    before = fingerprint(course)
    own = shutil.copytree(autograder.fingerprint.OWN_FOLDER, tmp_path / "own")
    monkeypatch.setattr(autograder.fingerprint, "OWN_FOLDER", own)
    assert fingerprint(course) == before
    (own / "compare.py").write_text("UNIT_ROUNDOFF = {}")
    assert fingerprint(course) != before


def test_the_fingerprint_changes_with_each_thing_handed_in(course, fingerprint):
    fingerprints = [
        fingerprint(course),
        fingerprint(course, modules=RIGHT | {"double": b"def double(numbers):\n    return 2 * numbers\n"}),
        fingerprint(course, modules={}),
        fingerprint(course, modules={}, problems={"double": "two candidates"}),
    ]
    assert len(set(fingerprints)) == 4
    reports = []
    grade_all([Submission("ada", {}), Submission("bob", {})], course, receive=reports.append)
    assert [report.fingerprint for report in reports] == [fingerprints[2]] * 2


def test_the_fingerprint_changes_with_the_versions_of_python_and_of_the_packages(course, fingerprint, monkeypatch):
    seen = {fingerprint(course)}
    version = metadata.version
    for package in ("numpy", "torch", "pytest", "hypothesis", "attention-by-hand"):
        monkeypatch.setattr(
            autograder.fingerprint.metadata, "version", lambda name, own=package: "0" if name == own else version(name)
        )
        seen.add(fingerprint(course))
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    seen.add(fingerprint(course))
    assert len(seen) == 7


def test_files_planted_in_the_current_folder_change_nothing(course, tmp_path, monkeypatch):
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "conftest.py").write_text("raise SystemExit('planted')")
    (planted / "pytest.ini").write_text("[pytest]\naddopts = --collect-only -k nothing\n")
    (planted / "numpy.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(planted)
    assert grade(submission(), course).earned == 9


def test_options_in_the_environment_are_ignored_and_put_back(course, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -k nothing")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert grade(submission(), course).earned == 9
    assert os.environ["PYTEST_ADDOPTS"] == "--collect-only -k nothing"
    assert os.environ["PYTEST_PLUGINS"] == "no_such_plugin"
    assert "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ


def test_a_suite_that_was_changed_is_read_again(course):
    assert grade(submission(), course).earned == 9
    path = course.paths.suites / "test_more.py"
    path.write_text(MORE.replace("points(2)", "points(1)"))
    assert grade(submission(), course).earned == 8


def test_nothing_is_left_where_the_command_was_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", "of the caller")
    softmax = REAL.exercise("softmax")
    alone = msgspec.structs.replace(REAL, exercises=(softmax,))
    assert grade(Submission("ada", {"softmax": REAL.solution_of(softmax).read_bytes()}), alone).earned == 20
    assert list(tmp_path.iterdir()) == []
    assert os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] == "of the caller"


TWICE = b"def double(numbers, more=0.0):\n    return numbers * 2 + more"


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        ("raise OSError('no disk')", "the grader failed: SessionError: test_more_is_added: setup failed: no disk"),
        ("def double(numbers, more=0):\n    return numbers * 3", ""),
    ],
    ids=["a solution that cannot be loaded", "a wrong solution"],
)
def test_many_submissions_are_told_of_a_broken_solution_as_few_are(small_course, solution, reason):
    course = small_course(files={"solutions/double.py": solution})
    right = Submission("ada", {"double": TWICE})
    told = []
    for count in (1, MANY):
        reports = []
        grade_all([right] * count, course, receive=reports.append)
        assert len({(report.status, report.reason, report.earned) for report in reports}) == 1
        told.append((reports[0].status, reports[0].reason, reports[0].earned))
    assert told[0] == told[1]
    assert told[0][1] == reason


COUNTS = b"""
asked = []
def double(numbers, more=0.0):
    asked.append(1)
    return numbers if len(asked) in (2, 3) else numbers * 2 + more
"""


def outcomes_of_the_last(count, course, **options):
    reports = []
    grade_all([Submission("ada", {"double": COUNTS})] * count, course, receive=reports.append, **options)
    return [check.outcome for check in result_of(reports[-1]).checks]


def test_what_is_left_of_a_class_is_asked_as_all_of_it_was(small_course):
    course = small_course()
    in_a_class = outcomes_of_the_last(MANY, course)
    assert outcomes_of_the_last(1, course, of_class=MANY) == in_a_class
    # A module that counts its calls would tell.
    assert outcomes_of_the_last(1, course) != in_a_class


@pytest.mark.parametrize(
    ("submissions", "of_class", "many"),
    [([1], 0, False), ([1] * (MANY - 1), 0, False), ([1] * MANY, 0, True), ([1], MANY, True), (iter([1]), 0, True)],
)
def test_many_is_the_class_and_not_what_is_left_of_it(submissions, of_class, many):
    assert are_many(submissions, of_class) is many

"""The commands: what they print, where they write, and the status they end with."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.course import load_course
from autograder.report import CheckResult, ExerciseResult, Outcome, Report
from autograder.submission import Refused

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
NAMES = [exercise.name for exercise in COURSE.exercises]
CORE = [exercise.name for exercise in COURSE.exercises if not exercise.bonus]
COMMANDS = ("grade", "check", "hint", "reset", "solution", "demo", "release", "new", "verify", "gradebook", "lab")


class GradingError(Exception):
    """Stands in for the grader's own."""


GradingError.__module__, GradingError.__qualname__ = "autograder.grade", "GradingError"


def graded_in_full(submission, course) -> Report:
    """Give full points to every module handed in, and leave ungraded what could not be read."""
    if isinstance(submission, Refused):
        return Report(submission=submission.id, status="not_graded", reason=submission.reason, points=course.points)
    results = []
    for exercise in course.exercises:
        there = exercise.name in submission.modules
        outcome = Outcome.PASSED if submission.modules.get(exercise.name) else Outcome.FAILED
        earned = exercise.points if there else 0
        made = [CheckResult("test_it", "it", outcome, exercise.points, earned, hint="softmax.shift")] if there else []
        reason = "" if there else "not handed in"
        results.append(
            ExerciseResult(exercise.name, exercise.points, earned, reason, checks=made, bonus=exercise.bonus)
        )
    return Report(
        submission=submission.id,
        status="graded",
        points=course.points,
        earned=sum(result.earned for result in results),
        exercises=results,
    )


@pytest.fixture(autouse=True)
def grader(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Put a grader in place that is quick; the commands are what is tested here."""

    def grade_all(submissions, course, *, receive, trust=False, jobs=1, apart=False, of_class=0):
        module.trusted = trust
        for submission in submissions:
            receive(graded_in_full(submission, course))

    module = types.ModuleType("autograder.grade")
    module.grade_all = grade_all
    module.grade = lambda submission, course, *, trust=False, starter=None: graded_in_full(submission, course)
    module.GradingError = GradingError
    monkeypatch.setitem(sys.modules, "autograder.grade", module)
    return module


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hand_in(folder: Path, *names: str, source: str = "x = 1\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.py").write_text(source)
    return folder


def attend(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from autograder.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )


# Help and wrong usage


def test_help_names_every_command_and_ends_well(capfd):
    assert run(["--help"]) == 0
    printed = capfd.readouterr().out
    assert all(command in printed for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_of_its_own(command, capfd):
    assert run([command, "--help"]) == 0
    assert f"Usage: attend {command}" in capfd.readouterr().out


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from autograder.cli import run; run(['--help'])\n"
        "print([name for name in ('torch', 'numpy', 'pytest', 'nbgrader', 'msgspec') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grades"], "No such command 'grades'"),
        (["grade"], "Missing argument 'PATH'"),
        (["grade", "--fast", "x"], "No such option: --fast"),
        (["grade", "nowhere"], "nowhere: there is no such folder; expected one folder or .zip for each submission"),
        (["grade", ".", "--layout", "canvass"], "no layout is named 'canvass'; the layouts are: folders, gradescope, "),
        (["grade", ".", "--layout", "canvas:x"], "the layout canvas has nothing to choose; leave out ':x'"),
        (["grade", ".", "--layout", "moodle"], ".: no submission in it; expected folders or files named like Amara"),
        (["grade", ".", "--layout", "gradescope"], ".: submission_metadata.yml is not there; expected it beside"),
        (["grade", ".", "--layout", "nbgrader"], ".: no submission in it; expected submitted/<learner>/<assignment>/"),
        (["grade", ".", "--layout", "clones"], ".: no submission in it; expected git repositories named"),
        (["grade", ".", "--roster", "none.csv"], "none.csv: cannot be read: No such file or directory"),
        (["gradebook"], "grades/reports: there is no such folder; grade first, or name the folder of the marks"),
        (["check", "softmacs"], f"no exercise named 'softmacs'; the exercises are: {', '.join(NAMES)}"),
        (["check", "--in", "nowhere"], "nowhere: there is no such folder"),
        (["check", "--course", "nowhere"], "nowhere: cannot be read"),
        (["hint", "softmacs"], "no exercise named 'softmacs'"),
        (["hint"], "which exercise? type attend hint and its name"),
        (["hint", "softmax", "--lang", "fr"], "--lang fr: the course is in en and zh; ask for one of these"),
        (["hint", "softmax", "--in", "nowhere"], "nowhere: there is no such folder"),
        (["reset", "softmacs"], "no exercise named 'softmacs'"),
        (["reset", "softmax", "--in", "nowhere"], "nowhere: there is no such folder"),
        (["solution", "softmacs"], "no exercise named 'softmacs'"),
        (["release"], "say what to release: DEST, where the learner's bundle goes, --stubs or --labs"),
        (["release", "bundle", "--lang", "fr"], "--lang fr: the course is in en and zh; ask for one of these"),
    ],
)
def test_wrong_usage_is_one_line_on_stderr_and_status_2(arguments, said, here, capfd):
    assert run(arguments) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert printed.err.startswith("attend: ")
    assert printed.err.count("\n") == 1


def test_an_error_of_ours_is_not_dressed_up_as_one_of_the_user(here, grader):
    def broken(submissions, course, *, receive, **options):
        raise ZeroDivisionError

    grader.grade_all = broken
    with pytest.raises(ZeroDivisionError):
        run(["grade", str(hand_in(here / "amara", "softmax"))])


# grade


def test_a_class_is_graded_into_reports_marks_and_a_table(here, capfd):
    hand_in(here / "class" / "amara", *CORE)
    hand_in(here / "class" / "李雷", "softmax", "ablation")
    (here / "class" / "roster.csv").write_text("")
    assert run(["grade", "class"]) == 0
    assert sorted(path.name for path in (here / "grades" / "reports").iterdir()) == ["amara.json", "李雷.json"]
    assert (here / "grades" / "grades.csv").read_text(encoding="utf-8").splitlines()[1] == (
        "amara,graded,100,100,0,0,20,15,20,20,25,0,0,,,"
    )
    printed = capfd.readouterr().out
    assert "2 of 2 submissions graded; mean 60.0 of 100 points" in printed
    assert "Not submissions, ignored: roster.csv" in printed
    assert f"Reports: {Path('grades', 'reports')}\n" in printed


def test_the_layout_is_said_before_anything_is_graded(here, grader, capfd):
    def refuse(submissions, course, *, receive, **options):
        raise GradingError("no jail")

    grader.grade_all = refuse
    hand_in(here / "class" / "amara", "softmax")
    assert run(["grade", "class"]) == 2
    said = "Read as one folder or .zip for each learner; hand-in times are those of the files.\n"
    assert capfd.readouterr().out == said


def test_a_canvas_download_is_graded_with_a_roster(here, capfd):
    (here / "class").mkdir()
    (here / "class" / "okaforamara_LATE_4711_90210_softmax-1.py").write_text("x = 1\n")
    (here / "roster.csv").write_text("\ufeffID;Name\n4711;Amara Okafor\n4712;李雷\n", encoding="utf-8")
    assert run(["grade", "class", "--layout", "canvas", "--roster", "roster.csv"]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith("Read as a Canvas download; hand-in times are not in it, since Canvas writes none.\n")
    assert "4711: Canvas marks it as late\n" in printed
    assert "Handed nothing in: 李雷 (4712)\n" in printed
    table = (here / "grades" / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[:2] for row in table[1:]] == [["4711", "graded"], ["4712", "not_handed_in"]]


def marks_in(gradebook: Path) -> dict[str, float]:
    from nbgrader.api import Gradebook

    from autograder.gradebook.fill import file_url

    with Gradebook(file_url(gradebook)) as opened:
        return {each["student"]: each["score"] for each in opened.submission_dicts(COURSE.name)}


def test_the_marks_go_into_a_gradebook_beside_the_reports(here, capfd):
    hand_in(here / "class" / "amara", *CORE)
    hand_in(here / "class" / "bea", "softmax")
    assert run(["grade", "class"]) == 0
    assert marks_in(here / "grades" / "gradebook.db") == {"amara": 100, "bea": 20}
    assert f"Gradebook: {here / 'grades' / 'gradebook.db'} has the marks of 2 learners\n" in capfd.readouterr().out


def test_a_gradebook_is_not_kept_where_none_is_wanted(here):
    hand_in(here / "class" / "amara", *CORE)
    assert run(["grade", "class", "--no-gradebook"]) == 0
    assert (here / "grades" / "grades.csv").is_file() and not (here / "grades" / "gradebook.db").exists()


def test_another_database_can_be_named(here):
    hand_in(here / "class" / "amara", *CORE)
    assert run(["grade", "class", "--db", f"sqlite:///{here.as_posix()}/term.db"]) == 0
    assert marks_in(here / "term.db") == {"amara": 100}
    assert not (here / "grades" / "gradebook.db").exists()


def test_a_gradebook_that_cannot_be_filled_is_one_line_after_the_marks(here, capfd):
    hand_in(here / "class" / "amara", *CORE)
    (here / "grades").mkdir()
    (here / "grades" / "gradebook.db").write_bytes(b"learner,score\n" * 100)
    assert run(["grade", "class"]) == 2
    printed = capfd.readouterr()
    assert "1 of 1 submissions graded" in printed.out
    assert printed.err.startswith(f"attend: {here / 'grades' / 'gradebook.db'}: file is not a database")
    assert printed.err.count("\n") == 1


def test_a_gradebook_is_filled_from_the_reports_alone(here, capfd):
    hand_in(here / "class" / "amara", *CORE)
    (here / "roster.csv").write_text("id,name\namara,Amara Okafor\ndora,Dora\n")
    assert run(["grade", "class", "--no-gradebook", "--out", "marks"]) == 0
    assert run(["gradebook", "--out", "marks", "--roster", "roster.csv"]) == 0
    assert marks_in(here / "marks" / "gradebook.db") == {"amara": 100}


def test_a_gradebook_without_nbgrader_says_what_to_install(here, monkeypatch, capfd):
    monkeypatch.setattr("autograder.gradebook.nbgrader_is_there", lambda: False)
    hand_in(here / "class" / "amara", *CORE)
    assert run(["grade", "class"]) == 0
    assert not (here / "grades" / "gradebook.db").exists()
    for command in (["gradebook"], ["grade", "class", "--db", "sqlite:///term.db"]):
        assert run(command) == 2
        assert "needs nbgrader, which is not installed; install attention-by-hand[grade]" in capfd.readouterr().err


def test_grading_without_a_gradebook_loads_no_nbgrader(here):
    program = (
        "import sys; from autograder.cli import run; run(['check', '--help'])\n"
        "import autograder.batch, autograder.grade, autograder.gradebook, autograder.outputs.terminal\n"
        "print([name for name in ('nbgrader', 'sqlalchemy') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_one_submission_can_be_graded_alone(here, capfd):
    assert run(["grade", str(hand_in(here / "amara", "softmax")), "--out", "marks"]) == 0
    assert [path.name for path in (here / "marks" / "reports").iterdir()] == ["amara.json"]
    assert "causal_mask, padding_mask, attention, multi_head: not handed in" in " ".join(capfd.readouterr().out.split())


def test_what_could_not_be_graded_is_named_and_status_3(here, capfd):
    hand_in(here / "class" / "amara", *NAMES)
    (here / "class" / "broken.zip").write_bytes(b"no archive")
    assert run(["grade", "class"]) == 3
    printed = " ".join(capfd.readouterr().out.split())
    assert "not graded: broken.zip is not a whole zip archive" in printed
    assert "1 of 2 submissions graded" in printed
    assert (here / "grades" / "reports" / "broken.json").is_file()


def test_grading_again_in_the_same_folder_does_not_grade_the_reports(here, monkeypatch):
    hand_in(here / "amara", *NAMES)
    for _ in range(2):
        assert run(["grade", "."]) == 0
        assert [path.name for path in (here / "grades" / "reports").iterdir()] == ["amara.json"]


@pytest.mark.parametrize("options", [[], ["--trust"]])
def test_trust_is_what_the_instructor_says(options, here, grader):
    run(["grade", str(hand_in(here / "amara", "softmax")), *options])
    assert grader.trusted is bool(options)


def test_a_folder_for_the_reports_that_cannot_be_written_is_wrong_usage(here, capfd):
    (here / "grades").write_text("a file")
    assert run(["grade", str(hand_in(here / "amara", "softmax"))]) == 2
    assert "cannot be written" in capfd.readouterr().err


def test_a_missing_jail_is_one_line_and_nothing_is_graded(here, grader, capfd):
    def refuse(submissions, course, *, receive, **options):
        raise GradingError("landlock is not there: grade with --trust, or on another machine")

    grader.grade_all = refuse
    assert run(["grade", str(hand_in(here / "amara", "softmax"))]) == 2
    assert capfd.readouterr().err == "attend: landlock is not there: grade with --trust, or on another machine\n"
    assert not (here / "grades" / "grades.csv").exists()


def test_ctrl_c_says_what_was_kept_and_ends_with_130(here, grader, capfd):
    def stop(submissions, course, *, receive, **options):
        receive(graded_in_full(submissions[0], course))
        raise KeyboardInterrupt

    grader.grade_all = stop
    hand_in(here / "class" / "amara", *NAMES)
    hand_in(here / "class" / "bea", *NAMES)
    assert run(["grade", "class"]) == 130
    assert "Stopped with 1 submissions not graded yet; what is graded is kept." in capfd.readouterr().out
    assert [path.name for path in (here / "grades" / "reports").iterdir()] == ["amara.json"]


def test_another_course_can_be_named(here, capfd):
    (here / "course.toml").write_text(
        'name = "c"\ntitle = "C"\nlanguages = ["en"]\nfeedback = "full"\n[[exercises]]\nname = "by_hand"\n'
        'title = "By hand"\npoints = 5\nfunctions = ["attend_one"]\nlibraries = ["numpy"]\n'
    )
    assert run(["grade", str(hand_in(here / "amara", "by_hand")), "--course", str(here)]) == 0
    assert "mean 5.0 of 5 points" in capfd.readouterr().out


# check


def test_check_ends_with_0_when_everything_passed(here, capfd):
    hand_in(here / "mine", *NAMES)
    assert run(["check", "--in", "mine"]) == 0
    assert "softmax  1 of 1 checks passed, 20 of 20 points" in capfd.readouterr().out


def test_check_needs_no_bonus_unless_it_is_named(here, capfd):
    hand_in(here, *CORE)
    assert run(["check"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == (
        "5 of 5 exercises done, 0 of 3 bonus exercises done; next: by_hand"
    )
    assert run(["check", "softmax", "by_hand"]) == 1


def test_check_says_where_it_found_modules_that_are_not_in_this_folder(here, capfd):
    folder = hand_in(here / "exercises", "softmax")
    run(["check", "softmax"])
    assert capfd.readouterr().err.splitlines()[0] == f"the modules in {folder}:"


def test_check_remembers_the_marks_beside_the_modules_and_says_so_once(here, capfd):
    hand_in(here / "mine", *CORE)
    for said in (f"{Path('mine', '.attend.json')} remembers from now on what you have done\n", ""):
        run(["check", "--in", "mine"])
        assert capfd.readouterr().err == said
    marks = json.loads((here / "mine" / ".attend.json").read_bytes())["marks"]
    assert {name: mark["earned"] for name, mark in marks.items() if mark["done"]} == {
        name: COURSE.exercise(name).points for name in CORE
    }


def test_a_module_saved_during_its_check_counts_as_changed(here, grader, capfd):
    def saved_meanwhile(submission, course, *, trust=False, starter=None):
        hand_in(here, "softmax", source="x = 2\n")
        return graded_in_full(submission, course)

    hand_in(here, "softmax")
    grader.grade = saved_meanwhile
    assert run(["check", "softmax"]) == 0
    run([])
    assert "20*" in capfd.readouterr().out


def test_marks_are_kept_also_where_nobody_reads_to_the_end(here, monkeypatch):
    def gone(*args):
        raise BrokenPipeError

    hand_in(here, "softmax")
    monkeypatch.setattr("autograder.outputs.terminal.show_check", gone)
    monkeypatch.setattr("os.dup2", lambda *args: None)
    assert run(["check", "softmax"]) == 1
    assert list(json.loads((here / ".attend.json").read_bytes())["marks"]) == ["softmax"]


def test_a_check_whose_marks_cannot_be_kept_ends_as_it_would(here, capfd):
    hand_in(here, *CORE)
    (here / ".attend.json").mkdir()
    assert run(["check"]) == 0
    assert "what you have done so far is not remembered" in capfd.readouterr().err


def test_check_ends_with_1_when_a_check_failed_and_shows_the_contract(here, capfd):
    hand_in(here, "softmax", source="")
    assert run(["check", "softmax"]) == 1
    printed = capfd.readouterr().out
    assert "✗ it" in printed
    assert "The contract says: A constant added to every score along `axis` changes\n      nothing.\n" in printed
    assert "causal_mask" not in printed


def test_check_ends_with_1_when_a_module_is_missing_and_says_which(here, capfd):
    hand_in(here, "softmax")
    assert run(["check"]) == 1
    printed = capfd.readouterr().out
    assert f"there is no causal_mask.py in {here}" in " ".join(printed.replace("\n  ", " ").split())
    assert printed.splitlines()[-1] == "1 of 5 exercises done, 0 of 3 bonus exercises done; next: causal_mask"


# The course at a glance


def test_without_a_command_the_course_is_shown_with_what_the_last_check_found(here, capfd):
    hand_in(here, "softmax")
    run(["check", "softmax"])
    capfd.readouterr()
    assert run([]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["softmax", "20", "20", "medium", "60"] in rows
    assert ["causal_mask", "15", "-", "easy", "30"] in rows
    assert "1 of 5 exercises done, 0 of 3 bonus exercises done\n20 of 100 points so far, 0 for a bonus\n" in shown.out
    assert "Next: causal_mask, about 30 minutes" in shown.out


def test_looking_at_the_course_writes_nothing(here):
    hand_in(here, "softmax")
    assert run([]) == 0
    assert [path.name for path in here.iterdir()] == ["softmax.py"]


def test_marks_that_cannot_be_read_cost_one_line(here, capfd):
    hand_in(here, "softmax")
    (here / ".attend.json").write_text("{")
    assert run([]) == 0
    shown = capfd.readouterr()
    assert shown.err == f"{here / '.attend.json'} is not what this program writes; it is begun anew\n"
    assert "Next: softmax" in shown.out


def test_a_course_without_a_single_module_says_where_to_begin(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    assert run([]) == 0
    assert f"write        {Path('exercises', 'softmax.py')}\n" in capfd.readouterr().out


# hint, reset and solution


def test_hints_come_one_at_a_time_in_the_language_asked_for(here, capfd):
    hand_in(here, "softmax")
    assert run(["hint", "softmax"]) == 0
    first = capfd.readouterr()
    assert first.out.startswith("softmax, hint 1 of 5\n  Only the differences between the scores of a slice matter.")
    assert first.err == f"{here / '.attend.json'} remembers from now on what you have done\n"
    assert run(["hint", "softmax", "--lang", "zh"]) == 0
    second = capfd.readouterr()
    assert second.out.startswith("softmax，第 2 条提示，共 5 条\n  每个切片都需要自己的那个数")
    assert second.err == ""


def test_hints_seen_are_shown_again_and_after_the_last_there_is_no_more(here, capfd):
    hand_in(here, "softmax")
    for _ in range(5):
        assert run(["hint", "softmax"]) == 0
    assert "That was the last one." in capfd.readouterr().out
    assert run(["hint", "softmax"]) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "Read them again: attend hint softmax --again"
    assert run(["hint", "softmax", "--again"]) == 0
    assert capfd.readouterr().out.count("softmax, hint ") == 5


def test_reset_puts_the_stub_back_and_names_what_it_kept(here, capfd):
    hand_in(here, "softmax")
    assert run(["reset", "softmax"]) == 0
    kept, module = here / "softmax.py.kept-1", here / "softmax.py"
    assert capfd.readouterr().out == f"{kept} is what you had written\n{module} is the stub again\n"
    assert kept.read_text() == "x = 1\n"
    assert module.read_bytes() == (ROOT / "exercises" / "softmax.py").read_bytes()
    assert run(["reset", "softmax"]) == 0
    assert capfd.readouterr().out == f"{module} is the stub already; nothing was changed\n"


def test_where_no_stub_can_be_had_reset_is_one_line_and_changes_nothing(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    hand_in(here / "exercises", "softmax")
    assert run(["reset", "softmax"]) == 2
    said = capfd.readouterr().err
    assert said.startswith("attend: there is no stub of softmax to put back (")
    assert said.count("\n") == 1
    assert [path.name for path in (here / "exercises").iterdir()] == ["softmax.py"]


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 130)])
def test_a_solution_is_shown_only_to_who_says_so(here, answer, status, monkeypatch, capfd):
    hand_in(here, "softmax")
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    assert run(["solution", "softmax"]) == status
    shown = capfd.readouterr()
    assert "Once seen, the solution of softmax cannot be unseen. Show it? [y/N]:" in shown.err
    assert ("--- the solution ---" in shown.out) == ("def _logits" in shown.out) == (status == 0)


def test_a_solution_is_shown_without_asking_where_that_is_said(here, capfd):
    hand_in(here, "softmax")
    assert run(["solution", "softmax", "--yes"]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("--- your softmax.py ---\nx = 1\n\n--- the solution ---\n")
    assert "SOLUTION" not in shown.out


def test_where_there_are_no_solutions_nobody_is_asked(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    hand_in(here, "softmax")
    assert run(["solution", "softmax"]) == 2
    said = "attend: there is no solution of softmax in this copy of the course; try attend hint\n"
    assert capfd.readouterr().err == said


# In the learner's language

CHINESE = {"LC_ALL": "zh_CN.UTF-8"}


@pytest.fixture
def in_chinese(here, monkeypatch) -> Path:
    """Give the folder of a learner whose computer speaks Chinese."""
    monkeypatch.setenv("LC_ALL", CHINESE["LC_ALL"])
    return hand_in(here, "softmax")


def test_check_speaks_the_language_of_the_learner_s_computer(in_chinese, capfd):
    assert run(["check", "softmax", "causal_mask"]) == 1
    shown = capfd.readouterr()
    assert shown.out.splitlines()[0] == "softmax  1 项检查通过了 1 项，得分 20/20"
    assert shown.out.splitlines()[-1] == "2 道题完成了 1 道；接下来：causal_mask"
    assert f"在{in_chinese}里没有找到causal_mask.py" in "".join(shown.out.split())
    assert shown.err == f"从现在起，你的进度记在 {in_chinese / '.attend.json'}\n"


def test_the_language_asked_for_counts_more_than_that_of_the_computer(in_chinese, capfd):
    assert run(["check", "softmax", "--lang", "en"]) == 0
    assert capfd.readouterr().out.startswith("softmax  1 of 1 checks passed, 20 of 20 points\n")


def test_the_language_may_stand_before_the_command(here, capfd):
    hand_in(here, "softmax")
    assert run(["--lang", "zh", "check", "softmax"]) == 0
    assert capfd.readouterr().out.startswith("softmax  1 项检查通过了 1 项，得分 20/20\n")
    assert run(["--lang", "zh", "check", "softmax", "--lang", "en"]) == 0
    assert capfd.readouterr().out.startswith("softmax  1 of 1 checks passed, 20 of 20 points\n")
    assert run(["--lang", "zh", "check", "softmacs"]) == 2
    assert "没有名叫 'softmacs' 的题" in capfd.readouterr().err


def test_a_failed_check_quotes_the_contract_in_the_same_language(in_chinese, capfd):
    hand_in(in_chinese, "softmax", source="")
    assert run(["check", "softmax"]) == 1
    assert "      题目规定：沿着 `axis` 给每个分数加上同一个常数，结果不变。\n" in capfd.readouterr().out


def test_a_course_in_one_language_is_shown_in_it(in_chinese, small_course, capfd):
    folder = hand_in(in_chinese / "own", "double")
    course = small_course({"course.toml": {'languages = ["en", "zh"]': 'languages = ["en"]'}})
    assert run(["check", "--course", str(course.root), "--in", str(folder)]) == 0
    assert capfd.readouterr().out.splitlines()[0].startswith("double  1 of 1 checks passed, ")


def test_the_course_at_a_glance_has_chinese_titles_and_names_the_chinese_instructions(in_chinese, capfd):
    (in_chinese / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    for file in ("instructions/causal_mask.zh.md", "hints/causal_mask.zh.toml"):
        (in_chinese / "exercises" / file).parent.mkdir(parents=True, exist_ok=True)
        (in_chinese / "exercises" / file).write_bytes((ROOT / "exercises" / file).read_bytes())
    run(["check", "softmax", "--course", str(ROOT)])
    capfd.readouterr()
    assert run([]) == 0
    shown = capfd.readouterr().out.splitlines()
    assert shown[0] == "亲手算一遍 Attention"
    assert ["causal_mask", "因果遮罩", "15", "-", "容易", "30"] in [line.split() for line in shown]
    assert shown[-5:] == [
        "接下来：causal_mask，大约 30 分钟",
        f"  读题     {Path('exercises', 'instructions', 'causal_mask.zh.md')}",
        "  动手写   causal_mask.py",
        "  检查     attend check causal_mask",
        "  卡住了   attend hint causal_mask",
    ]


def test_reset_and_solution_speak_chinese(in_chinese, monkeypatch, capfd):
    assert run(["reset", "softmax"]) == 0
    kept, module = in_chinese / "softmax.py.kept-1", in_chinese / "softmax.py"
    assert capfd.readouterr().out == f"你写的内容留在 {kept}\n{module} 已恢复成最初的样子\n"
    assert run(["reset", "softmax"]) == 0
    assert capfd.readouterr().out == f"{module} 本来就是最初的样子，没有改动\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert run(["solution", "softmax"]) == 0
    shown = capfd.readouterr()
    assert "softmax 的答案看过就收不回来了。要看吗？" in shown.err
    assert "--- 你的 softmax.py ---\n" in shown.out
    assert "--- 参考答案 ---\n" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hint", "softmacs"], "没有名叫 'softmacs' 的题；这门课的题有：by_hand, softmax"),
        (["check", "--in", "nowhere"], "nowhere：没有这个文件夹；--in 后面写的是模块所在的文件夹"),
        (["check", "--lang", "fr"], "--lang fr：课程的语言有 en 和 zh；请从中选一种"),
        (["reset", "softmax", "--lang=fr"], "--lang fr：课程的语言有 en 和 zh；请从中选一种"),
        (["hint", "softmacs", "--lang", "en"], "there is no exercise named 'softmacs'; the exercises are: by_hand"),
        (["hint", "softmacs", "--lang=en"], "there is no exercise named 'softmacs'; the exercises are: by_hand"),
        (["hint"], "哪道题？请在 attend hint 后面写上题目的名字；运行 attend 可以看到有哪些题"),
        (["reset", "--lang", "en"], "which exercise? type attend reset and its name; attend lists them"),
    ],
)
def test_what_a_learner_did_wrong_is_one_line_in_their_language(arguments, said, in_chinese, capfd):
    assert run(arguments) == 2
    printed = capfd.readouterr()
    assert printed.err.startswith(f"attend: {said}")
    assert (printed.out, printed.err.count("\n")) == ("", 1)


# demo and release


def test_demo_grades_the_class_that_comes_with_the_course(here, capfd):
    assert run(["demo"]) == 0
    assert len(list((here / "grades" / "demo" / "reports").iterdir())) == 16
    printed = capfd.readouterr().out
    assert all(id in printed for id in ("amara-okafor", "李雷", "zoë-müller", "Ольга Смирнова", "दीपिका-शर्मा"))
    assert "16 of 16 submissions graded" in printed


def test_demo_says_so_where_its_class_is_not_there(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    assert run(["demo"]) == 2
    assert "the class of the demo comes with the course's repository only" in capfd.readouterr().err


def test_release_writes_the_stubs_and_names_them(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    (here / "solutions").mkdir()
    (here / "exercises").mkdir()
    for name in NAMES:
        (here / "solutions" / f"{name}.py").write_bytes((ROOT / "solutions" / f"{name}.py").read_bytes())
    assert run(["release", "--stubs"]) == 0
    assert capfd.readouterr().out.split() == [str(here / "exercises" / f"{name}.py") for name in NAMES]
    assert (here / "exercises" / "softmax.py").read_bytes() == (ROOT / "exercises" / "softmax.py").read_bytes()


def test_a_release_that_cannot_be_made_is_one_line(here, capfd):
    (here / "course.toml").write_bytes((ROOT / "course.toml").read_bytes())
    assert run(["release", "--stubs"]) == 2
    assert capfd.readouterr().err.startswith("attend: ")


# The shell around it


def test_a_terminal_that_knows_only_ascii_gets_escapes_instead_of_an_error(here):
    ran = attend("grade", "李雷", PYTHONIOENCODING="ascii")
    assert ran.returncode == 2
    assert ran.stderr.startswith("attend: \\u674e\\u96f7: there is no such folder")


def test_a_reader_that_has_seen_enough_is_not_answered_with_a_traceback(here):
    python = shlex.quote(sys.executable)
    program = f"{python} -c 'from autograder.cli import main; main()' --help | true; exit ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    ran = subprocess.run(["bash", "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")


def test_help_shows_what_learners_need_first_and_what_teachers_need_apart(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(["--help"]) == 0
    theirs, _, teachers = capfd.readouterr().out.partition("For those who teach the course")
    for command in ("check", "hint", "reset", "lab"):
        assert re.search(rf"│ {command} ", theirs)
    for command in ("grade", "verify", "release"):
        assert re.search(rf"│ {command} ", teachers)
        assert not re.search(rf"│ {command} ", theirs)


def test_a_hint_asked_for_by_the_name_of_the_file_is_the_exercises(tmp_path, capfd):
    (tmp_path / "softmax.py").write_text("", encoding="utf-8")
    for name in ("softmax.py", "softmax"):
        assert run(["hint", name, "--lang", "en", "--in", str(tmp_path)]) == 0
    printed = capfd.readouterr().out
    assert "softmax, hint 1 of" in printed
    assert "softmax, hint 2 of" in printed

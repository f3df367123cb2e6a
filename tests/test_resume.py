"""Grading goes on where it stopped: what is done stays done, however the run before it ended."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.batch import grade_class
from autograder.report import ReportError, from_json
from autograder.submission import Found, Refused, Submission

RIGHT = b"def double(numbers, more=0.0):\n    return 2 * numbers + more\n"
WRONG = b"def double(numbers, more=0.0):\n    return 0 * numbers\n"
# Python leaves Ctrl-C alone where it was started with it ignored, as what runs in the background is.
ATTEND = """
import signal
from autograder.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
LEARNERS = ("amara", "bea", "cem", "dai", "eve", "fay")


def class_of(*ids, **changed):
    return Found([Submission(id, {"double": changed.get(id, RIGHT)}) for id in ids], [])


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "reports").glob("*.json")}


def marks(folder):
    """Give every report as it lies there, without the seconds that it took."""
    found = {}
    for path in sorted((folder / "reports").glob("*.json")):
        report = json.loads(path.read_bytes())
        report.pop("seconds")
        for exercise in report["exercises"]:
            for check in exercise["checks"]:
                check.pop("seconds")
        found[path.name] = report
    return found


def test_what_has_not_changed_is_not_graded_again(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara", "bea"), course, tmp_path, trust=False)
    before = times(tmp_path)
    batch = grade_class(class_of("amara", "bea", "cem"), course, tmp_path, trust=False)
    after = times(tmp_path)
    assert batch.known == 2
    assert {name: after[name] for name in before} == before
    assert [(report.submission, report.earned) for report in batch.reports] == [("amara", 5), ("bea", 5), ("cem", 5)]
    assert (tmp_path / "grades.csv").read_text().count("\n") == 4


def test_what_was_handed_in_anew_is_graded_again(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara", "bea"), course, tmp_path, trust=False)
    batch = grade_class(class_of("amara", "bea", bea=WRONG), course, tmp_path, trust=False)
    assert batch.known == 1
    assert {report.submission: report.earned for report in batch.reports} == {"amara": 5, "bea": 0}


def test_a_course_that_changed_has_everything_graded_again(small_course, tmp_path):
    grade_class(class_of("amara"), small_course(), tmp_path, trust=False)
    changed = small_course({"course.toml": {"call_seconds = 1": "call_seconds = 2"}})
    assert grade_class(class_of("amara"), changed, tmp_path, trust=False).known == 0


def test_a_report_made_without_the_whole_jail_counts_only_where_that_is_trusted(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara"), course, tmp_path, trust=False)
    path = tmp_path / "reports" / "amara.json"
    path.write_bytes(path.read_bytes().replace(b',\n    "seccomp"', b""))
    assert from_json(path.read_bytes()).isolation == ["process", "rlimits", "landlock"]
    assert grade_class(class_of("amara"), course, tmp_path, trust=True).known == 1
    assert grade_class(class_of("amara"), course, tmp_path, trust=False).known == 0


def test_a_report_of_someone_else_is_not_taken_for_ones_own(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara"), course, tmp_path, trust=False)
    shutil.copy(tmp_path / "reports" / "amara.json", tmp_path / "reports" / "bea.json")
    batch = grade_class(class_of("amara", "bea"), course, tmp_path, trust=False)
    assert batch.known == 1
    assert sorted(report.submission for report in batch.reports) == ["amara", "bea"]


def test_a_file_beside_the_suites_is_something_that_marks_depend_on(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara"), course, tmp_path, trust=False)
    (course.paths.suites / "conftest.py").write_text("# more\n")
    assert grade_class(class_of("amara"), course, tmp_path, trust=False).known == 0


def test_a_folder_in_the_place_of_the_holders_name_does_not_end_in_a_traceback(small_course, tmp_path):
    (tmp_path / "out" / ".grading").mkdir(parents=True)
    with pytest.raises(ReportError, match=r"\.grading cannot be written: Is a directory"):
        grade_class(class_of("amara"), small_course(), tmp_path / "out", trust=False)


def test_again_grades_what_is_known(small_course, tmp_path):
    course = small_course()
    grade_class(class_of("amara"), course, tmp_path, trust=False)
    before = times(tmp_path)
    assert grade_class(class_of("amara"), course, tmp_path, trust=False, again=True).known == 0
    assert times(tmp_path) != before


@pytest.mark.parametrize("torn", [b"", b"{", b'{"schema": 1}', b"\xff"])
def test_a_report_that_cannot_be_read_is_made_again(small_course, tmp_path, torn):
    course = small_course()
    grade_class(class_of("amara"), course, tmp_path, trust=False)
    (tmp_path / "reports" / "amara.json").write_bytes(torn)
    assert grade_class(class_of("amara"), course, tmp_path, trust=False).known == 0
    assert from_json((tmp_path / "reports" / "amara.json").read_bytes()).earned == 5


def test_what_could_not_be_graded_is_tried_again(small_course, tmp_path):
    course = small_course()
    refused = Found([Refused("amara", "not a whole zip archive")], [])
    assert grade_class(refused, course, tmp_path, trust=False).exit_status == 3
    batch = grade_class(class_of("amara"), course, tmp_path, trust=False)
    assert (batch.known, batch.exit_status) == (0, 0)


def test_several_jobs_give_the_same_reports_as_one(small_course, tmp_path):
    course = small_course()
    found = class_of(*LEARNERS, bea=WRONG, eve=b"import os\nos._exit(3)\n", fay=b"while True: pass")
    grade_class(found, course, tmp_path / "one", trust=False, jobs=1)
    grade_class(found, course, tmp_path / "three", trust=False, jobs=3)
    assert marks(tmp_path / "one") == marks(tmp_path / "three")
    assert len(marks(tmp_path / "one")) == 6
    assert (tmp_path / "one" / "grades.csv").read_bytes() == (tmp_path / "three" / "grades.csv").read_bytes()


def test_a_submission_that_kills_its_grader_is_not_graded_and_the_others_are(small_course, tmp_path):
    # In the suite, which runs in the grader's own process: what a fault of ours would do.
    deadly = """def test_more_is_added(learner, reference):
    if learner.double(np.array([1.0]))[0] == 7:
        __import__("os").abort()
"""
    course = small_course({"suites/test_double.py": {"def test_more_is_added(learner, reference):\n": deadly}})
    seven = b"def double(numbers, more=0.0):\n    return 0 * numbers + 7\n"
    batch = grade_class(class_of("amara", "bea", "cem", bea=seven), course, tmp_path, trust=False, jobs=2)
    assert batch.exit_status == 3
    assert {report.submission: (report.status, report.earned) for report in batch.reports} == {
        "amara": ("graded", 5),
        "bea": ("not_graded", 0),
        "cem": ("graded", 5),
    }
    assert from_json((tmp_path / "reports" / "bea.json").read_bytes()).reason.startswith("the process that graded it")


def hand_in(folder, ids):
    for id in ids:
        (folder / id).mkdir(parents=True)
        (folder / id / "double.py").write_bytes(RIGHT)


def command(course, submissions, out, *options):
    grade = ["grade", str(submissions), "--out", str(out), "--course", str(course.root), "--layout", "folders"]
    return [sys.executable, "-c", ATTEND, *grade, *options]


def processes_of(session):
    """Give the processes of a session that still live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def test_a_run_killed_at_any_moment_loses_nothing_and_doubles_nothing(small_course, tmp_path):
    course = small_course()
    hand_in(tmp_path / "class", LEARNERS)
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    started = time.monotonic()
    subprocess.run(command(course, tmp_path / "class", undisturbed, "--jobs", "2"), check=True, capture_output=True)
    whole = time.monotonic() - started
    moments = random.Random(5)
    for _ in range(30):
        options = ("--again", "--jobs", "2")
        run = subprocess.Popen(
            command(course, tmp_path / "class", out, *options),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(moments.uniform(0.2, 1.0) * whole)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        for path in (out / "reports").glob("*.json"):
            assert from_json(path.read_bytes()).earned == 5
    subprocess.run(command(course, tmp_path / "class", out), check=True, capture_output=True)
    assert marks(out) == marks(undisturbed)
    assert sorted(marks(out)) == [f"{id}.json" for id in LEARNERS]
    assert (out / "grades.csv").read_bytes() == (undisturbed / "grades.csv").read_bytes()


def test_the_second_run_into_a_folder_is_told_who_is_there(small_course, tmp_path):
    course = small_course({"course.toml": {"call_seconds = 1": "call_seconds = 60"}})
    hand_in(tmp_path / "class", ["amara"])
    (tmp_path / "class" / "amara" / "double.py").write_text("import time\ntime.sleep(60)\n")
    first = subprocess.Popen(command(course, tmp_path / "class", tmp_path / "out"), start_new_session=True)
    holder = tmp_path / "out" / ".grading"
    while not holder.exists():
        assert first.poll() is None
        time.sleep(0.01)
    with pytest.raises(ReportError, match=rf"out is in use by process {first.pid} on .*, since ..:..:..; wait for it"):
        grade_class(class_of("amara"), course, tmp_path / "out", trust=False)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert grade_class(class_of("amara"), course, tmp_path / "out", trust=False).exit_status == 0


def test_ctrl_c_ends_a_run_that_waits_for_a_learner_and_leaves_no_process(small_course, tmp_path):
    course = small_course({"course.toml": {"call_seconds = 1": "call_seconds = 60"}})
    hand_in(tmp_path / "class", ["amara", "bea"])
    (tmp_path / "class" / "bea" / "double.py").write_text("import time\ntime.sleep(60)\n")
    run = subprocess.Popen(
        command(course, tmp_path / "class", tmp_path / "out", "--jobs", "2"),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "out" / "reports" / "amara.json").exists():
        assert run.poll() is None
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    told, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Stopped with 1 submissions not graded yet; what is graded is kept." in told
    assert processes_of(run.pid) == []
    shutil.rmtree(tmp_path / "out")

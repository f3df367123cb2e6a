"""A class graded by a Dask cluster: a scheduler and two workers, each with a nanny, as one starts them by hand."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from distributed import Client

from autograder.batch import grade_class
from autograder.cli import run
from autograder.cluster import ClusterError
from autograder.cluster.terms import differing
from autograder.grade import MANY
from autograder.report import Outcome, from_json
from autograder.submission import Found, Refused, Submission

RIGHT = b"def double(numbers, more=0.0):\n    return 2 * numbers + more\n"
WRONG = b"def double(numbers, more=0.0):\n    return 0 * numbers\n"
SLOW = b"import time\ntime.sleep(0.2)\n" + RIGHT
SECONDS = re.compile(rb'"seconds": [0-9.e-]+')
ATTEND = """
import signal
from autograder.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@contextmanager
def started(kind, folder, *options, **environment):
    """Start a scheduler or a worker of Dask, and end it with all that it started."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(folder / "scheduler.json")]
    with (folder / f"{kind}.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--no-dashboard", *options],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def worker(folder, *options, **environment):
    return started("worker", folder, "--host", "127.0.0.1", "--nthreads", "1", *options, **environment)


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """Give a client of a scheduler with two workers."""
    folder = tmp_path_factory.mktemp("dask")
    with (
        started("scheduler", folder, "--host", "127.0.0.1", "--port", "0"),
        worker(folder),
        worker(folder),
    ):
        wait_until(lambda: address_in(folder))
        with Client(address_in(folder), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            yield client


def address_in(folder):
    try:
        return json.loads((folder / "scheduler.json").read_bytes())["address"]
    except (OSError, ValueError):
        return ""


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def scheduler_of(client):
    return client.scheduler.address


def address_of(name, client):
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return next((address for address, facts in workers.items() if facts["name"] == name), "")


def class_of(*ids, **changed):
    return Found([Submission(id, {"double": changed.get(id, RIGHT)}) for id in ids], [])


def written(folder):
    """Give every file of a run, byte for byte but for the seconds that it took."""
    files = [*folder.glob("reports/*.json"), folder / "grades.csv"]
    return {path.name: SECONDS.sub(b'"seconds": 0', path.read_bytes()) for path in files}


def status_of(out, id):
    report = from_json((out / "reports" / f"{id}.json").read_bytes())
    return report.status, report.reason


def test_the_reports_are_those_of_this_machine_and_need_not_be_made_again_here(dask, small_course, tmp_path):
    course = small_course({"course.toml": {'feedback = "full"': 'feedback = "full"\ndue = 2026-03-01T12:00:00Z'}})
    odd = {"bea": WRONG, "cem": b"import os\nos._exit(3)\n", "dai": b"while True: pass", "eve": b"1 +"}
    found = class_of("amara", *odd, "\udcff", **odd)
    found.submissions.append(Submission("fay", {}, ("\udcfe.txt",), {"double": "too large: \udcfd"}, notes=("newest",)))
    found.submissions.append(Refused("gus", "not a whole zip archive", "Gus"))
    here = grade_class(found, course, tmp_path / "here", trust=False)
    there = grade_class(found, course, tmp_path / "there", trust=False, scheduler=scheduler_of(dask))
    assert written(tmp_path / "there") == written(tmp_path / "here")
    assert len(written(tmp_path / "there")) == 9
    assert there.exit_status == here.exit_status == 3
    graded_again = grade_class(class_of(*odd, **odd), course, tmp_path / "there", trust=False)
    assert graded_again.known == 4


@pytest.mark.parametrize(("count", "failed"), [(1, 2), (MANY, 1)])
def test_a_module_that_counts_its_calls_gets_the_marks_it_gets_here(dask, small_course, tmp_path, count, failed):
    counts = b"asked = []\ndef double(numbers, more=0.0):\n    asked.append(1)\n"
    counts += b"    return numbers if len(asked) in (2, 3) else numbers * 2 + more\n"
    ids = [f"learner-{number}" for number in range(count)]
    found, course = class_of(*ids, **dict.fromkeys(ids, counts)), small_course()
    grade_class(found, course, tmp_path / "here", trust=False)
    grade_class(found, course, tmp_path / "there", trust=False, scheduler=scheduler_of(dask))
    assert written(tmp_path / "there") == written(tmp_path / "here")
    report = from_json((tmp_path / "there" / "reports" / "learner-0.json").read_bytes())
    double = next(exercise for exercise in report.exercises if exercise.name == "double")
    assert [check.outcome for check in double.checks].count(Outcome.FAILED) == failed


def test_a_worker_killed_while_it_works_costs_nothing_but_time(dask, small_course, tmp_path):
    ids = [f"learner{number:02}" for number in range(8)]
    pids = dask.run(os.getpid)
    killed = []

    def kill_one():
        if not killed:
            busy = [address for address, tasks in dask.processing().items() if tasks]
            killed.append(busy[0])
            os.kill(pids[busy[0]], signal.SIGKILL)

    found = class_of(*ids, **dict.fromkeys(ids, SLOW))
    batch = grade_class(found, small_course(), tmp_path, trust=False, scheduler=scheduler_of(dask), advance=kill_one)
    assert killed
    assert batch.exit_status == 0
    assert Counter(report.submission for report in batch.reports) == Counter(ids)
    assert {report.earned for report in batch.reports} == {5}
    assert sorted(path.stem for path in (tmp_path / "reports").iterdir()) == ids


# In the suite, which runs in the worker's own processes: what a fault of ours would do, or a machine out of memory.
DEADLY = """def test_more_is_added(learner, reference):
    import os, signal
    answer = learner.double(np.array([1.0]))[0]
    if answer == 7:
        os.abort()
    if answer == 8:
        workshop = os.getppid()
        with open(f"/proc/{workshop}/stat") as facts:
            worker = int(facts.read().rsplit(")", 1)[1].split()[1])
        os.kill(worker, signal.SIGKILL)
"""


def test_what_is_the_death_of_its_graders_is_not_graded_and_the_others_are(dask, small_course, tmp_path):
    dask.wait_for_workers(2, timeout=60)
    dask.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    course = small_course({"suites/test_double.py": {"def test_more_is_added(learner, reference):\n": DEADLY}})
    seven, eight = (b"def double(numbers, more=0.0):\n    return 0 * numbers + %d\n" % answer for answer in (7, 8))
    found = class_of("amara", "bea", "cem", "dai", "eve", bea=seven, dai=eight)
    batch = grade_class(found, course, tmp_path, trust=False, scheduler=scheduler_of(dask))
    assert batch.exit_status == 3
    assert {report.submission: (report.status, report.earned) for report in batch.reports} == {
        "amara": ("graded", 5),
        "bea": ("not_graded", 0),
        "cem": ("graded", 5),
        "dai": ("not_graded", 0),
        "eve": ("graded", 5),
    }
    assert status_of(tmp_path, "bea")[1] == "the process that graded it died, twice; tell the kit's authors"
    assert re.match(r"the worker that graded it died, .* tcp://127\.0\.0\.1:\d+, ", status_of(tmp_path, "dai")[1])


def test_a_worker_with_another_course_is_refused_by_name(dask, small_course, tmp_path_factory, tmp_path):
    other = tmp_path_factory.mktemp("other")
    course = small_course()
    (other / "course.toml").write_text((course.root / "course.toml").read_text().replace("points = 5", "points = 6"))
    (other / "scheduler.json").write_text(json.dumps({"address": scheduler_of(dask)}))
    with worker(other, "--no-nanny", "--name", "odd", ATTEND_COURSE=str(other)):
        wait_until(lambda: address_of("odd", dask))
        odd_one = address_of("odd", dask)
        with pytest.raises(ClusterError) as refused:
            grade_class(class_of("amara"), course, tmp_path / "out", trust=False, scheduler=scheduler_of(dask))
    why = "it would give other marks, since its course is another one; bring both to the same state"
    assert str(refused.value) == f"the worker {odd_one}: {why}"
    assert not (tmp_path / "out" / "reports" / "amara.json").exists()
    wait_until(lambda: not address_of("odd", dask))


def test_the_parts_that_differ_are_named():
    here = {"course": "a", "kit": "b", "torch": "2.13.0", "python": "3.11.7"}
    assert differing(here, here) == ""
    assert (
        differing(here, {**here, "kit": "c", "torch": "2.6.0"})
        == "its kit is another one, its torch is 2.6.0 and not 2.13.0"
    )
    assert (
        differing(here, {name: here[name] for name in ("course", "kit", "python")})
        == "its torch is none and not 2.13.0"
    )


def grade(course, tmp_path, *options):
    (tmp_path / "class" / "amara").mkdir(parents=True)
    (tmp_path / "class" / "amara" / "double.py").write_bytes(RIGHT)
    out = ["--out", str(tmp_path / "out"), "--course", str(course.root), "--layout", "folders", "--no-gradebook"]
    return ["grade", str(tmp_path / "class"), *out, *options]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://localhost:8786", "http://localhost:8786 cannot be asked: unknown address scheme 'http' "),
        ("somewhere", "somewhere cannot be asked: missing port number in address 'somewhere'; give tcp://host:port"),
        ("tls://localhost:1", "tls://localhost:1 cannot be asked: TLS expects a `ssl_context` "),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1; correct it, or start one: dask sch"),
    ],
)
def test_where_no_scheduler_answers_one_line_says_so(address, told, small_course, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("autograder.cluster.client.CONNECT_SECONDS", 2.0)
    assert run(grade(small_course(), tmp_path, "--scheduler", address)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"attend: {told}")
    assert said.count("\n") == 1


def test_a_worker_is_no_scheduler(dask, small_course, tmp_path, capsys):
    dask.wait_for_workers(2, timeout=60)
    address = next(iter(dask.nthreads()))
    assert run(grade(small_course(), tmp_path, "--scheduler", address)) == 2
    assert capsys.readouterr().err == f"attend: {address} is a worker of Dask; give the address of its scheduler\n"


def test_a_scheduler_without_workers_says_so_in_a_line(small_course, tmp_path, capsys):
    command = grade(small_course(), tmp_path, "--scheduler")
    with started("scheduler", tmp_path, "--host", "127.0.0.1", "--port", "0"):
        wait_until(lambda: address_in(tmp_path))
        address = address_in(tmp_path)
        assert run([*command, address]) == 2
    assert capsys.readouterr().err == f"attend: {address} has no workers; start one with: dask worker {address}\n"


def test_without_dask_one_line_says_what_to_install(small_course, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("autograder.cluster.client.find_spec", lambda name: None)
    assert run(grade(small_course(), tmp_path, "--scheduler", "tcp://127.0.0.1:8786")) == 2
    told = "a cluster needs Dask, which is not installed; install attention-by-hand[cluster]"
    assert capsys.readouterr().err == f"attend: tcp://127.0.0.1:8786: {told}\n"


def test_jobs_are_for_this_machine_only(small_course, tmp_path, capsys):
    assert run(grade(small_course(), tmp_path, "--scheduler", "tcp://127.0.0.1:8786", "--jobs", "2")) == 2
    assert "--jobs is for this machine" in capsys.readouterr().err


def test_ctrl_c_ends_a_run_that_waits_for_a_worker_with_what_is_there(dask, small_course, tmp_path):
    course = small_course({"course.toml": {"call_seconds = 1": "call_seconds = 60"}})
    options = grade(course, tmp_path, "--scheduler", scheduler_of(dask))
    (tmp_path / "class" / "bea").mkdir()
    (tmp_path / "class" / "bea" / "double.py").write_text("import time\ntime.sleep(30)\n")
    attend = subprocess.Popen(
        [sys.executable, "-c", ATTEND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: kept(tmp_path) or attend.poll() is not None)
    attend.send_signal(signal.SIGINT)
    told, errors = attend.communicate(timeout=120)
    assert attend.returncode == 130
    assert "Stopped with 1 submissions not graded yet; what is graded is kept." in told
    assert errors == ""
    assert status_of(tmp_path / "out", "amara") == ("graded", "")


def kept(tmp_path):
    return (tmp_path / "out" / "reports" / "amara.json").exists()

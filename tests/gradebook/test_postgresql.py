"""The same gradebook in PostgreSQL, kept by a server that these tests start for themselves."""

import os
import pwd
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin
from sqlalchemy import make_url

from autograder.gradebook import GradebookError, database, fill
from autograder.gradebook.fill import fill_gradebook

from .postgresql import BINARIES
from .support import check, marks_at, not_graded, report_of, result, right, rows_at, wrong

# PostgreSQL will not run as root.
USER = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}
REPORTS = [right("amara", handed_in="2026-03-01T12:00:00+00:00"), wrong("bea"), not_graded("cem")]


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """Start a server that listens on a socket in a folder of its own, and give the folder."""
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        owner = pwd.getpwnam("postgres").pw_uid if USER else os.getuid()
        os.chown(folder, owner, -1)
        data = Path(folder, "data")
        subprocess.run(
            [BINARIES / "initdb", "-D", data, "-A", "trust", "-U", "attend", "-E", "UTF8", "--no-sync"],
            check=True, cwd="/", stdout=subprocess.DEVNULL, **USER,
        )  # fmt: skip
        options = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with Path(folder, "log").open("wb") as log:
            running = subprocess.Popen([BINARIES / "postgres", *options], cwd="/", stderr=log, **USER)
        try:
            _wait_for(Path(folder), running)
            yield Path(folder)
        finally:
            running.send_signal(signal.SIGINT)  # which ends the clients, too
            running.wait(timeout=30)


def _wait_for(folder: Path, running: subprocess.Popen) -> None:
    for _ in range(300):
        try:
            return psycopg.connect(host=str(folder), user="attend", dbname="postgres").close()
        except psycopg.OperationalError:
            assert running.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
    raise AssertionError((folder / "log").read_text())


@pytest.fixture
def postgresql(server, request) -> str:
    """Give the address of an empty database."""
    name = f"grades{abs(hash(request.node.name))}"
    with psycopg.connect(host=str(server), user="attend", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://attend@/{name}?host={server}"


def driven(url: str) -> str:
    """Give the address with the driver named, as nbgrader needs it where SQLAlchemy's default is another."""
    return url.replace("postgresql://", "postgresql+psycopg://")


def test_it_holds_what_a_file_holds(course, url, postgresql):
    fill_gradebook(REPORTS, course, url)
    filled = fill_gradebook(REPORTS, course, postgresql)
    assert (filled.learners, filled.not_graded) == (2, ["cem"])
    marks = marks_at(driven(postgresql))
    assert marks == marks_at(url)
    assert len(marks) == 8


def test_filling_twice_leaves_the_same_rows(course, postgresql):
    fill_gradebook(REPORTS, course, postgresql)
    before = rows_at(driven(postgresql))
    fill_gradebook(REPORTS, course, postgresql)
    assert rows_at(driven(postgresql)) == before
    assert len(before["grade"]) == 8


def test_what_a_person_gave_survives_also_when_the_check_is_no_more(course, postgresql):
    fill_gradebook([wrong("bea")], course, postgresql)
    with Gradebook(driven(postgresql)) as gradebook:
        gradebook.find_grade("test_shift[800]", "softmax", "by-hand", "bea").manual_score = 1.5
        gradebook.db.commit()
    assert fill_gradebook([right("bea")], course, postgresql).to_review == ["bea"]
    left = report_of("bea", result("softmax", check("test_sum", 1)))
    assert fill_gradebook([left], course, postgresql).retired == ["softmax/test_shift[800]"]
    with Gradebook(driven(postgresql)) as gradebook:
        submission = gradebook.find_submission("by-hand", "bea")
        assert (submission.score, submission.max_score) == (2.5, 1)


def test_a_learner_is_there_as_a_whole_or_not_at_all(course, postgresql, monkeypatch):
    fill_gradebook([wrong("amara")], course, postgresql)
    before = rows_at(driven(postgresql))
    write_marks = fill.write_marks

    def ended_midway(*arguments):
        write_marks(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(fill, "write_marks", ended_midway)
    with pytest.raises(KeyboardInterrupt):
        fill_gradebook([right("bea")], course, postgresql)
    assert rows_at(driven(postgresql)) == before


def test_texts_that_it_would_refuse_have_another_form(course, postgresql):
    bad = check("test_" + "x" * 200, 1, passed=False, message="\x00 and \ud800")
    fill_gradebook([report_of("n" * 200, result("softmax", bad), learner_name="Ñ" * 300)], course, postgresql)
    ((id, *_, name, _, _, _, _, comment),) = marks_at(driven(postgresql))
    assert (len(id), len(name)) == (128, 128)
    assert comment.endswith("\\x00 and \\ud800")


def test_two_that_fill_it_at_once_make_one_gradebook(course, postgresql):
    learners = [f"learner{number}" for number in range(12)]
    halves = [[right(id) for id in learners[:8]], [right(id) for id in learners[4:]]]
    with ThreadPoolExecutor(2) as pool:
        filled = list(pool.map(lambda reports: fill_gradebook(reports, course, postgresql), halves))
    assert [each.learners for each in filled] == [8, 8]
    marks = marks_at(driven(postgresql))
    assert len(marks) == 12 * 4
    assert {mark[0] for mark in marks} == set(learners)


def test_one_that_waits_too_long_for_another_says_so(course, postgresql, server, monkeypatch):
    fill_gradebook([right("amara")], course, postgresql)
    monkeypatch.setattr(database, "LOCK_SECONDS", 1)
    with psycopg.connect(postgresql) as other:
        other.execute("LOCK TABLE student")
        with pytest.raises(GradebookError, match=r"another program is writing to it .*lock timeout") as refused:
            fill_gradebook([right("amara")], course, postgresql)
    assert "\n" not in str(refused.value)


def test_a_database_that_is_not_there_and_one_of_another_program_are_told(course, postgresql):
    elsewhere = make_url(postgresql).set(database="nowhere").render_as_string()
    with pytest.raises(GradebookError, match='database "nowhere" does not exist') as refused:
        fill_gradebook([right("amara")], course, elsewhere)
    assert "\n" not in str(refused.value)
    with psycopg.connect(postgresql) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(GradebookError, match="not a gradebook of nbgrader"):
        fill_gradebook([right("amara")], course, postgresql)


def test_nbgrader_exports_the_marks_from_it(course, postgresql, tmp_path):
    fill_gradebook(REPORTS, course, postgresql)
    with Gradebook(driven(postgresql)) as gradebook:
        CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(gradebook)
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert {line.split(",")[3]: float(line.split(",")[9]) for line in lines[1:]} == {"amara": 5, "bea": 3, "cem": 0}

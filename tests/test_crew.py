"""Tasks worked off by forks of this process: nothing is lost, nothing is done twice, and no fork stays behind."""

import functools
import os
import signal
import subprocess
import sys
import time

import pytest

from autograder.crew import Crew, processors
from autograder.sandbox import jail

FORTY = range(40)


def squared(task):
    return task, task * task


def lost(task):
    return task, "lost"


def crew(work, *, jobs=2, lost=lost):
    return Crew(work, jobs=jobs, lost=lost)


def killed(task, *, which, how):
    if task in which:
        how()
    return squared(task)


ENDS = {
    "exit": functools.partial(os._exit, 0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "abort": lambda: os.kill(os.getpid(), signal.SIGABRT),
}


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_results_are_those_of_a_plain_map(jobs):
    assert sorted(crew(squared, jobs=jobs).work_off(FORTY)) == [squared(task) for task in FORTY]


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_tasks_give_no_results(jobs):
    assert list(crew(squared, jobs=jobs).work_off([])) == []


def test_one_job_works_in_this_process_and_in_order():
    pids = []
    assert list(crew(lambda task: pids.append(os.getpid()) or task, jobs=1).work_off(FORTY)) == list(FORTY)
    assert set(pids) == {os.getpid()}


def test_more_jobs_work_in_other_processes():
    pids = set(crew(lambda task: os.getpid()).work_off(FORTY))
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2


def test_where_a_system_cannot_fork_this_process_does_the_work(monkeypatch):
    monkeypatch.setattr(jail, "can_fork", lambda: False)
    assert set(crew(lambda task: os.getpid(), jobs=4).work_off(FORTY)) == {os.getpid()}


def test_the_work_needs_no_pickling_and_sees_what_is_loaded_already():
    loaded = {"factor": 3, "cannot be pickled": lambda: None}
    assert sorted(crew(lambda task: task * loaded["factor"]).work_off([1, 2, 3])) == [3, 6, 9]


@pytest.mark.parametrize("end", ENDS)
def test_a_task_that_ends_its_process_is_lost_and_the_others_are_not(end):
    work = functools.partial(killed, which={0, 17}, how=ENDS[end])
    found = sorted(crew(work).work_off(FORTY), key=lambda result: result[0])
    assert found == [lost(task) if task in {0, 17} else squared(task) for task in FORTY]


def test_a_task_that_ends_its_process_is_tried_once_more_and_no_more(tmp_path):
    def work(task):
        if task == 5:
            (tmp_path / f"{len(list(tmp_path.iterdir()))}").touch()
            os._exit(1)
        return squared(task)

    assert (5, "lost") in list(crew(work).work_off(range(8)))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_task_whose_process_ends_only_once_gets_its_result(tmp_path):
    def work(task):
        if task == 5 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os._exit(1)
        return squared(task)

    assert sorted(crew(work).work_off(range(8))) == [squared(task) for task in range(8)]


def test_every_task_may_be_lost():
    assert sorted(crew(lambda task: os._exit(1)).work_off(range(6))) == [lost(task) for task in range(6)]


def test_what_is_lost_is_told_by_this_process():
    told = []
    list(crew(lambda task: os._exit(1), lost=lambda task: told.append((task, os.getpid()))).work_off([3]))
    assert told == [(3, os.getpid())]


def test_a_process_that_dies_while_results_are_looked_at_costs_nothing(tmp_path):
    died = tmp_path / "died"

    def work(task):
        if task == 1:
            died.touch()
            os._exit(1)
        return squared(task)

    found = []
    for result in crew(work).work_off(FORTY):
        if not found:
            wait_until(died.exists)
            # Long enough for the pool to see that it is broken.
            time.sleep(0.5)
        found.append(result)
    assert sorted(found, key=lambda result: result[0]) == [lost(1) if task == 1 else squared(task) for task in FORTY]


def test_tasks_are_drawn_as_they_are_needed():
    drawn = []

    def tasks():
        for task in FORTY:
            drawn.append(task)
            yield task

    results = crew(squared).work_off(tasks())
    assert drawn == []
    for number, _ in enumerate(results, start=1):
        assert len(drawn) <= number + 2 * 2 + 2
    assert len(drawn) == 40


def test_one_job_draws_a_task_when_the_one_before_is_done():
    drawn = []
    results = crew(squared, jobs=1).work_off(drawn.append(task) or task for task in FORTY)
    assert [next(results), next(results)] == [squared(0), squared(1)]
    assert drawn == [0, 1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_in_the_work_is_raised_here(jobs):
    def work(task):
        if task == 3:
            raise LookupError("no three")
        return squared(task)

    with pytest.raises(LookupError, match="no three"):
        list(crew(work, jobs=jobs).work_off(FORTY))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_while_tasks_are_drawn_is_raised_here(jobs):
    def tasks():
        yield 1
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(crew(squared, jobs=jobs).work_off(tasks()))


def test_no_process_is_left_when_all_is_done_or_nobody_wants_more():
    results = crew(lambda task: os.getpid()).work_off(FORTY)
    pids = {next(results), next(results)}
    results.close()
    pids |= set(crew(lambda task: os.getpid()).work_off(FORTY))
    assert not any(is_running(pid) for pid in pids)


ORPHANS = """
import os, sys, time
from pathlib import Path
from autograder.crew import Crew

def work(task):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(600)

list(Crew(work, jobs=2, lost=print).work_off(range(8)))
"""


def test_no_process_stays_when_this_one_is_killed(tmp_path):
    command = [sys.executable, "-c", ORPHANS, str(tmp_path)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    finally:
        parent.kill()
    # Nothing is read to its end while a process is left that could write to it.
    assert parent.communicate(timeout=30) == ("", None)
    assert str(parent.pid) not in {path.name for path in tmp_path.iterdir()}


def wait_until(holds):
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_this_machine_has_processors():
    assert 1 <= processors() <= (os.cpu_count() or 1)

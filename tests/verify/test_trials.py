"""What is put before a suite, and in which order."""

from itertools import pairwise

import pytest

from autograder.faults.mutant import source_of, source_of_all
from autograder.faults.shelf import Families
from autograder.verify import trials
from autograder.verify.trials import Pair, Tried, first_trials, label, pair_trials


@pytest.fixture
def course(small_course):
    return small_course()


@pytest.fixture
def family(course):
    return Families(course).of("double")


FAULTS = ["tripled", "halved", "more_ignored", "sign_lost", "cut_below", "cut_above", "overwritten"]


def test_the_first_trials_are_the_solution_variants_trivial_answers_and_each_fault(course, family):
    held = list(first_trials(course, course.exercise("double"), family))
    assert [(trial.kind, trial.name) for trial in held] == [
        ("solution", "the solution"),
        ("variant", "in_a_loop"),
        *(("trivial", name) for name in ("the stub", "zeros", "ones", "NaN", "the first argument")),
        ("variant", "the family without a fault"),
        *(("fault", name) for name in FAULTS),
    ]
    assert {trial.exercise for trial in held} == {"double"}


def test_a_trial_holds_the_source_and_the_faults_in_it(course, family):
    held = {trial.name: trial for trial in first_trials(course, course.exercise("double"), family)}
    assert held["the solution"].source == (course.paths.solutions / "double.py").read_bytes()
    assert held["in_a_loop"].source == (course.paths.variants / "double/in_a_loop.py").read_bytes()
    assert held["the stub"].source == (course.paths.exercises / "double.py").read_bytes()
    assert held["tripled"].source == source_of(family, [family.fault("tripled")])
    assert held["tripled"].faults == ("tripled",)
    assert held["the family without a fault"].source == source_of(family, [])
    assert held["the family without a fault"].faults == held["the solution"].faults == ()


def test_without_a_family_there_are_no_faults_to_try(course):
    kinds = [trial.kind for trial in first_trials(course, course.exercise("double"), None)]
    assert kinds == ["solution", "variant", *["trivial"] * 5]


@pytest.mark.parametrize("missing", ["solutions/double.py", "exercises/double.py"])
def test_a_file_that_is_missing_is_an_error_of_the_system(course, family, missing):
    (course.root / missing).unlink()
    with pytest.raises(FileNotFoundError, match=r"double\.py"):
        list(first_trials(course, course.exercise("double"), family))


def test_every_pair_is_tried_once_a_few_at_a_time(family, monkeypatch):
    monkeypatch.setattr(trials, "PAIRS_AT_A_TIME", 7)
    held = list(pair_trials(family, {}, all_named=True))
    assert [len(trial.pairs) for trial in held] == [7, 7, 6]
    assert {trial.source for trial in held} == {source_of_all(family)}
    tried = [frozenset(pair.faults) for trial in held for pair in trial.pairs]
    assert tried == [frozenset(fault.name for fault in faults) for faults in family.pairs()]
    assert frozenset(["tripled", "halved"]) not in tried


def test_the_checks_that_each_fault_fails_alone_come_first(family):
    killers = {"sign_lost": ["test_b", "test_c"], "cut_above": ["test_d"], "tripled": []}
    pairs = [pair for trial in pair_trials(family, killers, all_named=True) for pair in trial.pairs]
    assert Pair(("cut_above", "sign_lost"), ("test_d", "test_b"), True) in pairs
    assert Pair(("sign_lost", "tripled"), ("test_b",), True) in pairs
    assert Pair(("cut_below", "tripled"), (), True) in pairs


@pytest.mark.parametrize(("least", "named"), [(100, 20), (20, 20), (10, 10), (9, 10), (7, 10), (6, 7), (1, 1)])
def test_unless_all_are_to_be_named_a_part_of_the_pairs_is_at_even_distances(family, monkeypatch, least, named):
    monkeypatch.setattr(trials, "PAIRS_NAMED", least)
    flags = [pair.to_be_named for trial in pair_trials(family, {}, all_named=False) for pair in trial.pairs]
    places = [place for place, flag in enumerate(flags) if flag]
    assert len(places) == named
    assert len({after - before for before, after in pairwise(places)}) <= 1
    assert all(pair.to_be_named for trial in pair_trials(family, {}, all_named=True) for pair in trial.pairs)


def test_a_set_of_faults_is_named_in_one_order():
    assert label(["b", "a"]) == label(("a", "b")) == "a + b"
    assert label([]) == ""


def test_a_trial_saw_something_where_a_check_failed_or_there_is_a_reason():
    assert not Tried("double", "fault", "f").failed_something
    assert Tried("double", "fault", "f", failed=["test_a"]).failed_something
    assert Tried("double", "fault", "f", reason="double.py cannot be loaded").failed_something

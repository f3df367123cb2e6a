"""The families of the course: faults that can be told apart, explained in two languages, and right without a fault."""

import ast
import re
from itertools import combinations
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.faults.answers import alike, answer_to
from autograder.faults.family import NONE, Family, Fault, Probe
from autograder.faults.rehearsal import Rehearsal

NAMES = [exercise.name for exercise in load_course(Path(__file__).resolve().parents[2]).exercises]
LEAST_FAULTS = {"softmax": 15, "causal_mask": 10, "padding_mask": 18, "attention": 25, "multi_head": 25}
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+|https?://\S+|[\w.-]+\.\w+/\S+")
CHINESE = re.compile(r"[\u4e00-\u9fff]")

each_family = pytest.mark.parametrize("exercise", NAMES)


def declared(family):
    """Give the pairs of sets of faults that are declared to be the same."""
    return {frozenset([same.these, same.those]) for same in family.same}


def explanations(family):
    return {(fault.name, language): getattr(fault, language) for fault in family.faults for language in ("en", "zh")}


def quoted(text):
    """Give what a text writes as code."""
    return re.findall(r"`([^`]*)`", text)


def names_in(quoted_code):
    """Give the names in a piece of code, also where it is only part of an expression, like `-=` or `.data`."""
    return re.findall(r"[A-Za-z_]\w*", quoted_code)


@each_family
def test_every_fault_answers_the_probes_in_a_way_of_its_own(known_answers, exercise):
    known = known_answers(exercise)
    positions = range(len(known.family.probes))
    sets = [NONE, *known.family.singles()]
    answers = {faults: tuple(known.number(position, faults) for position in positions) for faults in sets}
    alike_ones = [
        sorted(fault.name for fault in one | other)
        for one, other in combinations(sets, 2)
        if answers[one] == answers[other] and frozenset([one, other]) not in declared(known.family)
    ]
    assert alike_ones == []


@each_family
def test_what_is_declared_the_same_answers_every_probe_alike(known_answers, exercise):
    known = known_answers(exercise)
    told_apart = [
        (sorted(fault.name for fault in same.these), sorted(fault.name for fault in same.those), probe.name)
        for same in known.family.same
        for position, probe in enumerate(known.family.probes)
        if known.number(position, same.these) != known.number(position, same.those)
    ]
    assert told_apart == []


@each_family
def test_every_declaration_is_about_different_sets_of_known_faults_and_says_why(families, exercise):
    family = families.of(exercise)
    for same in family.same:
        assert same.these != same.those
        assert same.these | same.those <= set(family.faults)
        assert len(same.why.split()) > 2
    assert len(declared(family)) == len(family.same)


@each_family
def test_without_a_fault_a_family_answers_as_the_solution_does(families, solutions, exercise):
    family, solution = families.of(exercise), solutions.load(exercise)
    reference = Rehearsal(family, NONE)
    reference._made = {name: getattr(solution, name) for name in family.definitions}
    rehearsal = Rehearsal(family, NONE)
    different = [
        probe.name for probe in family.probes if not alike(answer_to(probe, rehearsal), answer_to(probe, reference))
    ]
    assert different == []


@each_family
def test_a_family_defines_what_the_exercise_asks_for(course, families, exercise):
    assert list(families.of(exercise).definitions) == list(course.exercise(exercise).functions)


@pytest.mark.parametrize(("exercise", "least"), LEAST_FAULTS.items())
def test_a_family_knows_enough_mistakes(families, exercise, least):
    assert len(families.of(exercise).faults) >= least


@each_family
def test_probes_have_names_of_their_own(families, exercise):
    names = [probe.name for probe in families.of(exercise).probes]
    assert len(set(names)) == len(names)


@each_family
def test_every_fault_is_explained_in_english_and_in_chinese(families, exercise):
    texts = explanations(families.of(exercise))
    assert [key for key, text in texts.items() if len(text) < 10 or text != text.strip()] == []
    assert [key for key, text in texts.items() if bool(CHINESE.search(text)) != (key[1] == "zh")] == []


@each_family
def test_no_two_faults_are_explained_alike(families, exercise):
    texts = list(explanations(families.of(exercise)).values())
    assert len(set(texts)) == len(texts)


@each_family
def test_both_languages_write_the_same_as_code(families, exercise):
    differing = [
        fault.name for fault in families.of(exercise).faults if sorted(quoted(fault.en)) != sorted(quoted(fault.zh))
    ]
    assert differing == []


@each_family
def test_no_explanation_holds_more_code_than_a_name_or_a_bare_call(families, exercise):
    texts = explanations(families.of(exercise))
    too_much = {
        key: code
        for key, text in texts.items()
        for code in quoted(text)
        if len(names_in(code)) > 2 or re.search(r"[\[\]@*/+<>]\s*\w|\breturn\b|\blambda\b", code)
    }
    assert too_much == {}
    assert [key for key, text in texts.items() if "\n" in text or ">>>" in text] == []


@each_family
def test_no_explanation_quotes_a_line_of_the_solution(course, families, exercise):
    solution = course.solution_of(course.exercise(exercise)).read_text(encoding="utf-8")
    statements = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(solution))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.BinOp)
    ]
    folded = {"".join(statement.split()).removeprefix("return") for statement in statements}
    telling = {code for code in folded if len(code) > 8}
    assert telling
    texts = {key: "".join(text.split()) for key, text in explanations(families.of(exercise)).items()}
    assert {key: code for key, text in texts.items() for code in telling if code in text} == {}


@each_family
def test_what_a_fault_was_seen_in_reads_like_a_report(families, exercise):
    faults = families.of(exercise).faults
    assert [report for fault in faults for report in fault.seen_in if not REPORT.fullmatch(report)] == []
    assert [fault.name for fault in faults if len(set(fault.seen_in)) != len(fault.seen_in)] == []
    assert any(fault.seen_in for fault in faults)


def fault(name, place):
    return Fault(name, place=place, en="", zh="")


def test_faults_in_one_place_make_no_pair():
    one, other, elsewhere = fault("one", "here"), fault("other", "here"), fault("elsewhere", "there")
    family = Family("f", {}, faults=(one, other, elsewhere), probes=())
    assert family.singles() == [frozenset([one]), frozenset([other]), frozenset([elsewhere])]
    assert family.pairs() == [frozenset([one, elsewhere]), frozenset([other, elsewhere])]


def test_a_fault_is_found_by_its_name():
    one = fault("one", "here")
    family = Family("f", {}, faults=(one,), probes=())
    assert family.fault("one") is one
    with pytest.raises(KeyError):
        family.fault("two")


def test_two_faults_of_one_name_are_a_mistake():
    with pytest.raises(ValueError, match="f: two faults have the same name"):
        Family("f", {}, faults=(fault("one", "here"), fault("one", "there")), probes=())


def test_what_is_switched_takes_the_faults_with_it():
    one = fault("one", "here")
    family = Family("f", {"f": lambda x, *, faults: (x, faults)}, faults=(one,), probes=(Probe("p", None),))
    assert family.switched([one])["f"](3) == (3, frozenset([one]))
    assert family.switched(NONE)["f"](3) == (3, frozenset())

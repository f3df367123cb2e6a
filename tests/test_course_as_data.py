"""A course is data: one elsewhere, with an exercise nobody knew of, is released, tried, graded and verified."""

import ast
import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.course import load_course
from autograder.release import stub_text

ROOT = Path(__file__).resolve().parents[1]
NORMS = ROOT / "tests" / "data" / "layer_norm"
# One file for each exercise lies there; everything else has to do for all of them.
# The labs are experiments on the exercises of this course, and no part of checking or grading.
OF_AN_EXERCISE = ("suites", "stand_ins", "skeleton", "labs")


@pytest.fixture
def unreleased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course, in a folder apart from the program, without a stub."""
    folder = tmp_path / "norms"
    shutil.copytree(NORMS, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def norms(unreleased: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """The course with its stub."""
    assert run(["release", "--stubs"]) == 0
    capfd.readouterr()
    return unreleased


def verdict(norms: Path, capfd) -> tuple[int, dict]:
    """Give the status of `attend verify` and what it found out."""
    status = run(["verify", "--course", str(norms), "--jobs", "1", "--trust", "--json"])
    (found,) = json.loads(capfd.readouterr().out)
    return status, found


def without_check(source: str, name: str) -> str:
    """Take one check out of a suite, with its marks."""
    check = next(node for node in ast.parse(source).body if getattr(node, "name", "") == name)
    lines = source.split("\n")
    return "\n".join(lines[: check.decorator_list[0].lineno - 1] + lines[check.end_lineno :])


def test_the_stub_is_made_in_the_folder_that_the_course_names(unreleased, capfd):
    norms = unreleased
    assert run(["release", "--stubs"]) == 0
    assert capfd.readouterr().out.split() == [str(norms / "handed_out" / "layer_norm.py")]
    solution = (norms / "reference" / "layer_norm.py").read_text()
    stub = (norms / "handed_out" / "layer_norm.py").read_text()
    assert stub == stub_text(solution)
    assert stub.endswith('    array([-1., 11.])\n    """\n    raise NotImplementedError\n')


def test_check_gives_the_solution_every_point(norms, capfd):
    assert run(["check", "--in", "reference"]) == 0
    assert "layer_norm  6 of 6 checks passed, 10 of 10 points" in capfd.readouterr().out


def test_check_finds_the_stub_and_gives_it_nothing(norms, capfd):
    assert run(["check"]) == 1
    printed = capfd.readouterr()
    assert printed.err.splitlines()[0] == f"the modules in {norms / 'handed_out'}:"
    assert "layer_norm  0 of 6 checks passed, 0 of 10 points\n  not written yet" in printed.out


def test_check_quotes_the_contract_of_the_course(norms, capfd):
    right = (norms / "reference" / "layer_norm.py").read_text()
    Path("mine").mkdir()
    Path("mine", "layer_norm.py").write_text(right.replace(".astype(x.dtype)", ""))
    assert run(["check", "--in", "mine"]) == 1
    printed = capfd.readouterr().out
    assert "layer_norm  5 of 6 checks passed, 9 of 10 points" in printed
    assert "The contract says: A floating dtype comes back as it came in." in printed


def test_a_class_is_graded_and_the_mistake_is_named(norms):
    for id, folder in {"bo": "reference", "cy": "handed_out"}.items():
        (norms / "class" / id).mkdir()
        shutil.copy(norms / folder / "layer_norm.py", norms / "class" / id)
    assert run(["grade", "class", "--course", ".", "--trust"]) == 0
    with Path("grades", "grades.csv").open(encoding="utf-8", newline="") as marks:
        assert {row["submission"]: row["layer_norm"] for row in csv.DictReader(marks)} == {
            "ada": "0",
            "bo": "10",
            "cy": "0",
        }
    reports = {id: json.loads(Path("grades", "reports", f"{id}.json").read_text()) for id in ("ada", "bo", "cy")}
    named = {id: [one["fault"] for one in report["exercises"][0]["diagnosis"]] for id, report in reports.items()}
    assert named == {"ada": ["unbiased_variance"], "bo": [], "cy": []}


def test_the_suite_holds_against_its_faults_variants_and_trivial_answers(norms, capfd):
    status, found = verdict(norms, capfd)
    assert (status, found["problems"]) == (0, [])
    counted = {key: (found[key]["count"], found[key]["of"]) for key in ("faults", "pairs", "variants", "trivial")}
    # 28 pairs of 8 faults, without the one of which only one can be made; two variants, the solution and the family.
    assert counted == {"faults": (8, 8), "pairs": (27, 27), "variants": (4, 4), "trivial": (5, 5)}
    assert found["named_faults"]["missing"] == found["named_pairs"]["missing"] == []


@pytest.mark.parametrize(
    ("check", "fault", "sentence"),
    [
        ("test_float32_comes_back_as_float32", "always_float64", "dtype"),
        ("test_epsilon_is_added_to_the_variance", "epsilon_outside_the_root", "epsilon"),
    ],
)
def test_a_suite_without_one_of_its_checks_does_not_hold(norms, capfd, check, fault, sentence):
    suite = norms / "hidden" / "test_layer_norm.py"
    suite.write_text(without_check(suite.read_text(), check))
    status, found = verdict(norms, capfd)
    assert status == 1
    assert found["problems"] == [
        f"{fault}: survives",
        "the solution: is right, but loses points",
        "library_moments: is right, but loses points",
        "loops: is right, but loses points",
        "the family without a fault: is right, but loses points",
        f"{sentence}: is promised, but no check is about it",
        "the checks make 9 points, the exercise 10",
        f"{fault}: is not named",
    ]


def modules() -> Iterator[Path]:
    """Give the modules of the program that are there for every exercise."""
    names = {exercise.name for exercise in load_course(ROOT).exercises}
    for path in sorted((ROOT / "autograder").rglob("*.py")):
        part = path.relative_to(ROOT / "autograder").parts[0]
        if part not in OF_AN_EXERCISE and not (part == "faults" and path.stem in names):
            yield path


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_module_of_the_program_knows_an_exercise_by_name(path):
    names = "|".join(exercise.name for exercise in load_course(ROOT).exercises)
    words = [word for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for word in words_of(node)]
    assert [word for word in words if re.fullmatch(rf"(\S*[/._])?({names})([/.]\S*)?", word)] == []


def words_of(node: ast.AST) -> Iterator[str]:
    """Give the names and the one-line texts in a node, attributes of libraries (`torch.softmax`) aside."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.alias):
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value

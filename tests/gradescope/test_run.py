"""The archive at work in a folder laid out like Gradescope's, the programs called as Gradescope calls them.

`ATTEND_PYTHON` names the Python of these tests, whose packages setup.sh uses without pip; the rest of it runs. Each
attack is first seen to work on a grader that has learners' code below it, as many have.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.gradescope.archive import write_archive
from autograder.gradescope.run import ended_within

DOUBLE = Path(__file__).parents[1] / "data" / "double"
RIGHT = "def double(numbers, more=0.0):\n    return numbers * 2 + more\n"
WRONG = "def double(numbers, more=0.0):\n    return numbers\n"
WALLS = "Your code ran behind these walls: process, rlimits, landlock, seccomp"
NO_MARK = "This submission was not graded, and has no mark:"
METADATA = {
    "created_at": "2026-03-02T10:00:00-07:00",
    "assignment": {"due_date": "2026-03-01T10:00:00-07:00"},
    "users": [{"email": "amara@uni.example", "id": 1, "name": "Amara"}],
}


def call(program, root, **more):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"ATTEND_AUTOGRADER_ROOT": str(root), "ATTEND_PYTHON": sys.executable} | more
    return subprocess.run([str(program)], cwd=root, env=variables, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Give a place in which Gradescope has built the autograder of the small course, and what that printed."""
    root = tmp_path_factory.mktemp("gradescope")
    write_archive(load_course(DOUBLE), root / "archive.zip")
    with zipfile.ZipFile(root / "archive.zip") as archive:
        archive.extractall(root / "source")
    for program in ("setup.sh", "run_autograder"):
        (root / "source" / program).chmod(0o755)
    shutil.copy(root / "source" / "run_autograder", root)
    ended = call(root / "source" / "setup.sh", root)
    assert ended.returncode == 0, ended.stderr
    return root, ended.stdout


@pytest.fixture
def place(built, tmp_path):
    """Give a copy of the place for one submission."""
    root = shutil.copytree(built[0], tmp_path / "autograder", symlinks=True)
    for name in root.glob("venv/lib/*/site-packages/kit.pth"):
        name.write_text(f"{root}/source/kit\n")
    (root / "submission").mkdir()
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    return root


def results_of(root, module=None):
    if module is not None:
        (root / "submission" / "double.py").write_text(module.replace("ROOT", str(root)))
    ended = call(root / "run_autograder", root)
    return json.loads((root / "results" / "results.json").read_text()), ended


def test_the_set_up_tries_the_place_with_the_solutions(built):
    assert "ready: the solutions earn 5 of 5 points behind process, rlimits, landlock, seccomp" in built[1]


def test_a_right_answer_earns_all_and_the_walls_that_held_are_named(place):
    results, _ = results_of(place, RIGHT)
    assert results["score"] == 5
    assert results["output"].splitlines() == ["Handed in late", WALLS]
    assert [test["status"] for test in results["tests"]] == ["passed"] * 4
    assert results["extra_data"]["submission"] == "amara@uni.example"


def test_nothing_handed_in_is_a_zero_that_says_why(place):
    results, _ = results_of(place)
    assert results["score"] == 0
    assert [(test["name"], test["output"]) for test in results["tests"]] == [("double", "not handed in")]


def test_a_grader_that_breaks_leaves_results_without_a_mark(place):
    (place / "source" / "course" / "course.toml").write_text("name = 3")
    results, _ = results_of(place, RIGHT)
    assert not {"score", "tests"} & set(results)
    assert results["output"].splitlines()[0] == NO_MARK


def test_a_process_that_grades_and_breaks_leaves_results_without_a_mark(place):
    (place / "source" / "kit" / "autograder" / "grade.py").write_text("raise RuntimeError('broken')\n")
    results, ended = results_of(place, RIGHT)
    assert not {"score", "tests"} & set(results)
    assert "The grader itself failed, which is no fault of yours" in results["output"]
    assert "left no report" in ended.stdout


def test_a_python_that_is_not_there_leaves_results_without_a_mark(place):
    (place / "venv" / "bin" / "python").unlink()
    results, _ = results_of(place, RIGHT)
    assert not {"score", "tests"} & set(results)
    assert results["output"].splitlines()[0] == NO_MARK


def test_a_submission_that_takes_too_long_altogether_has_no_mark(place):
    settings = json.loads((place / "source" / "settings.json").read_text())
    (place / "source" / "settings.json").write_text(json.dumps(settings | {"seconds": 0.2}))
    results, _ = results_of(place, "while True:\n    pass\n")
    assert not {"score", "tests"} & set(results)
    assert results["output"].splitlines()[1] == "It took longer than 0.2 s altogether and was ended."


def test_what_is_ended_is_ended_with_all_that_it_started(tmp_path):
    left = tmp_path / "left"
    assert ended_within(1.0, ["sh", "-c", f"(sleep 3; touch {left}) & sleep 60"]) is None
    time.sleep(3)
    assert not left.exists()


def without_landlock(root):
    """Have the kernel refuse the rules, as one that was built without Landlock does."""
    jail = root / "source" / "kit" / "autograder" / "sandbox" / "jail.py"
    refusal = '\n\ndef _confine_files(readable):\n    raise OSError(38, "Function not implemented")\n'
    jail.write_text(jail.read_text() + refusal)


def test_where_a_wall_is_missing_nothing_is_graded(place):
    without_landlock(place)
    results, ended = results_of(place, RIGHT)
    assert not {"score", "tests"} & set(results)
    assert results["output"].splitlines()[0] == NO_MARK
    told = results["output"].splitlines()[1]
    assert told.startswith("Nothing can be graded here: the jail is not complete on this machine (landlock: OSError")
    assert told.endswith(". Tell your instructor.")
    assert "not graded: the jail is not complete on this machine (landlock: " in ended.stdout


def test_with_trust_it_goes_on_and_says_what_is_missing(place):
    without_landlock(place)
    settings = json.loads((place / "source" / "settings.json").read_text())
    (place / "source" / "settings.json").write_text(json.dumps(settings | {"trust": True}))
    results, _ = results_of(place, RIGHT)
    assert results["score"] == 5
    assert results["output"].splitlines()[1:] == [
        "Your code ran behind these walls: process, rlimits, seccomp",
        "These walls could not be had here: landlock",
    ]


# A grader as many are: the learner's module is imported by a process below it, whose last line is the result.
NAIVE = """
import subprocess, sys, time
ended = subprocess.run([sys.executable, "-c", sys.argv[2], sys.argv[1]], capture_output=True, text=True)
open(sys.argv[1] + "/results/results.json", "w").write(ended.stdout.splitlines()[-1])
"""
BELOW = """
import json, sys
sys.path.insert(0, sys.argv[1] + "/submission")
import numpy, double
print(json.dumps({"score": 5 if double.double(numpy.array([3.0])) == 6 else 0}))
"""
ATTACKS = {
    "a process left behind writes results.json": (
        "import subprocess\n"
        'forge = "sleep 2; echo \'{\\"score\\": 100}\' > ROOT/results/results.json"\n'
        "subprocess.Popen(['sh', '-c', forge], start_new_session=True, stdout=-3, stderr=-3)\n",
        100,
    ),
    "the solution is read": ("exec(open('ROOT/source/course/solutions/double.py').read())\nright = double\n", 5),
    "results are printed": ("import os\nprint('{\"score\": 100}', flush=True)\nos._exit(0)\n", 100),
    "the grader is killed": (
        "import os, signal\nopen('ROOT/results/results.json', 'w').write('{\"score\": 100}')\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n",
        100,
    ),
}


def attack(lines, *, caught):
    """Give a module that attacks when it is loaded, and answers wrongly where that gains nothing."""
    indented = "".join(f"    {line}\n" for line in lines.splitlines())
    tried = f"try:\n{indented}except OSError:\n    pass\n" if caught else lines
    return f"{tried}\nif 'double' not in globals():\n    def double(numbers, more=0.0):\n        return numbers\n"


@pytest.mark.parametrize("name", ATTACKS)
def test_without_the_walls_the_attack_gains_points(name, tmp_path):
    lines, gained = ATTACKS[name]
    for folder in ("submission", "results"):
        (tmp_path / folder).mkdir()
    shutil.copytree(DOUBLE, tmp_path / "source" / "course")
    module = attack(lines, caught=True).replace("ROOT", str(tmp_path))
    (tmp_path / "submission" / "double.py").write_text(module)
    subprocess.run([sys.executable, "-c", NAIVE, str(tmp_path), BELOW], capture_output=True, timeout=60)
    deadline = time.monotonic() + 20
    while _score(tmp_path) != gained and time.monotonic() < deadline:
        time.sleep(0.2)
    assert _score(tmp_path) == gained


def _score(root):
    try:
        return json.loads((root / "results" / "results.json").read_text())["score"]
    except (OSError, ValueError):
        return None


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("caught", [True, False])
def test_behind_the_walls_it_gains_nothing(name, caught, place):
    results, _ = results_of(place, attack(ATTACKS[name][0], caught=caught))
    time.sleep(2.5 if "left behind" in name else 0)
    assert _score(place) == 0
    assert results == json.loads((place / "results" / "results.json").read_text())
    assert {test["status"] for test in results["tests"]} == {"failed"}

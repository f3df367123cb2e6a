"""The learner's bundle: what is in it, in which languages, and that it is written whole, again, or not at all."""

import io
import json
import re
import tomllib
import zipfile
from pathlib import Path

import msgspec
import pytest

from autograder.course import find_course, load_course
from autograder.hints import read_hints
from autograder.practice import is_hidden
from autograder.release import ReleaseError, stub_text
from autograder.release.bundle import chosen_languages, in_languages, made_bundle, release_bundle
from autograder.release.leaks import LeakError
from autograder.release.learner_course import as_toml
from autograder.release.wheel import built_wheel
from autograder.release.writing import packed, write_folder, write_zip
from autograder.reset import reset

REPOSITORY = Path(__file__).parents[2]
SHIPPED = load_course(REPOSITORY)
NAMES = [exercise.name for exercise in SHIPPED.exercises]
WHEEL = "attention_by_hand-0.1.0-py3-none-any.whl"
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def bundle():
    return made_bundle(SHIPPED, ("en", "zh"))


BODY = """    total = numbers * 0 + more
    for _ in range(2):
        total = total + numbers * 1.0
    return total
"""
SOLUTION = f"""import numpy as np


def double(numbers: np.ndarray, more: float = 0.0) -> np.ndarray:
    ### BEGIN SOLUTION
{BODY}    ### END SOLUTION
"""


@pytest.fixture
def teach(small_course):
    """Give a function that makes the small course one that can be released: with regions and instructions."""

    def make(files=None):
        course = small_course({"course.toml": {'["en", "zh"]': '["en"]'}}, {"solutions/double.py": SOLUTION})
        texts = {"exercises/instructions/double.md": "# Double\n\nReturn the double.\n", **(files or {})}
        for name, text in texts.items():
            path = course.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return course

    return make


def text_of(bundle, path):
    return bundle[path].decode()


def test_a_bundle_holds_what_a_learner_needs(bundle):
    tops = {path.partition("/")[0] for path in bundle}
    assert tops == {
        "LICENSE", "README.md", "README.zh.md", "bundle.json", "constraints.txt", "course.toml", "exercises", "stubs",
        WHEEL,
    }  # fmt: skip
    for name in NAMES:
        assert {
            f"exercises/{name}.py",
            f"exercises/instructions/{name}.md",
            f"exercises/instructions/{name}.zh.md",
            f"exercises/public_tests/test_{name}.py",
            f"exercises/hints/{name}.en.toml",
            f"exercises/hints/{name}.zh.toml",
            f"exercises/contract/{name}.en.toml",
            f"exercises/contract/{name}.zh.toml",
        } <= bundle.keys()
    assert "exercises/pytest.ini" in bundle


def test_no_file_of_the_instructors_is_in_a_bundle(bundle):
    with zipfile.ZipFile(io.BytesIO(bundle[WHEEL])) as wheel:
        names = [*bundle, *wheel.namelist()]
    for name in names:
        hidden = {"suites", "faults", "solutions", "variants", "skeleton", "stand_ins", "tests", "__pycache__"}
        assert not hidden & set(Path(name).parts), name


@pytest.mark.parametrize("name", NAMES)
def test_the_stubs_are_made_from_the_solutions_whatever_was_written_in_exercises(bundle, name):
    made = stub_text(SHIPPED.solution_of(SHIPPED.exercise(name)).read_text())
    assert text_of(bundle, f"exercises/{name}.py") == text_of(bundle, f"stubs/{name}.py") == made


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "en")])
def test_a_bundle_in_one_language_has_no_file_in_the_other(language, other):
    files = made_bundle(SHIPPED, (language,))
    assert tomllib.loads(text_of(files, "course.toml"))["languages"] == [language]
    assert not [path for path in files if f".{other}." in path]
    prose = [path for path in files if path.endswith(".md") or "/hints/" in path or "/contract/" in path]
    assert len(prose) == 1 + 3 * len(NAMES)
    assert {bool(HAN.search(text_of(files, path))) for path in prose} == {language == "zh"}


def test_the_language_of_a_file_is_said_by_its_path():
    code, both = (
        "labs/picture.png",
        ["a/softmax.md", "a/softmax.zh.md", "b/zh.po", "labs/en/x.ipynb", "labs/zh/x.ipynb"],
    )
    assert in_languages([code, *both], ["en"]) == [code, "a/softmax.md", "labs/en/x.ipynb"]
    assert in_languages([code, *both], ["zh"]) == [code, "a/softmax.zh.md", "b/zh.po", "labs/zh/x.ipynb"]
    assert in_languages([code, *both], ["en", "zh"]) == [code, *both]


def test_the_languages_are_those_of_the_course_unless_one_is_named(teach):
    assert chosen_languages("", SHIPPED) == ("en", "zh")
    assert chosen_languages("zh", SHIPPED) == ("zh",)
    assert chosen_languages("both", SHIPPED) == ("en", "zh")
    assert chosen_languages("", teach()) == ("en",)
    for wanted in ("zh", "both", "fr"):
        with pytest.raises(ReleaseError, match=rf"^--lang {wanted}: the course is in en; ask for one of these$"):
            chosen_languages(wanted, teach())


def test_the_course_of_a_bundle_is_the_course_without_what_graders_need(bundle, tmp_path):
    write_folder(bundle, tmp_path / "bundle")
    course = load_course(tmp_path / "bundle")
    # What may not be used is told before the deadline, not after it.
    assert course.banned == SHIPPED.banned
    for ours, theirs in zip(SHIPPED.exercises, course.exercises, strict=True):
        assert theirs == msgspec.structs.replace(ours, stand_ins={})
    assert (course.name, course.title, course.points) == (SHIPPED.name, SHIPPED.title, SHIPPED.points)
    assert course.limits.exercise_seconds == SHIPPED.limits.exercise_seconds
    assert not [exercise for exercise in course.exercises if is_hidden(exercise, course)]
    assert len(read_hints(course.exercise("softmax"), course, "zh")) > 2


@pytest.mark.parametrize("folder", [".", "exercises", "exercises/instructions"])
def test_the_course_is_found_from_anywhere_in_a_bundle(bundle, tmp_path, folder):
    write_folder(bundle, tmp_path / "bundle")
    assert find_course(tmp_path / "bundle" / folder) == tmp_path / "bundle" / "course.toml"


def test_a_description_is_written_as_toml_and_read_back_the_same():
    text = (
        'name = "x"\ndue = 2026-03-01T23:59:00+01:00\nf = 0.5\nyes = true\nday = 2026-03-01\n'
        'text = "a \\"b\\"\\n\\\\ \\u007f 遮罩"\nlists = [[1, 2], []]\ntitles = { zh = "遮罩" }\n'
        '[limits]\ncall_seconds = 10\n[[exercises]]\naxes = { "attend_one[0]" = ["query", "key"] }\n'
    )
    assert tomllib.loads(as_toml(tomllib.loads(text))) == tomllib.loads(text)


def test_the_constraints_pin_what_learners_install_and_nothing_else(bundle):
    pins = [line.partition("==")[0] for line in text_of(bundle, "constraints.txt").splitlines()]
    assert {"numpy", "torch", "pytest", "rich", "typer", "msgspec", "babel", "filelock", "watchfiles"} <= set(pins)
    assert not {"nbgrader", "landlock", "hypothesis", "mypy"} & set(pins)


@pytest.mark.parametrize(
    ("name", "check"), [("README.md", "attend check softmax"), ("README.zh.md", "attend check softmax")]
)
def test_the_readme_says_what_to_type(bundle, name, check):
    text = text_of(bundle, name)
    for command in (
        f"./{WHEEL}",
        f".\\{WHEEL}",
        check,
        "attend hint softmax",
        "python3 -m venv .venv",
        "py -m venv .venv",
    ):
        assert command in text
    assert "$" not in text
    # pip asks where the learner's own pip asks.
    assert "://" not in text


def test_labs_are_in_the_bundle_with_all_they_need_but_their_sources(teach):
    course = teach(
        {
            "exercises/labs/one.ipynb": '{"cells": []}',
            "exercises/labs/picture.svg": "<svg/>",
            "exercises/labs/sources/one.py": "x = 1\n",
            "exercises/labs/.ipynb_checkpoints/one.ipynb": "{}",
            # What an instructor predicted, who tried the labs.
            "exercises/labs/predictions.json": "{}",
            "exercises/labs/predictions.damaged-1.json": "{",
            "exercises/labs/en/predictions.json": "{}",
            "exercises/labs/en/predictions.damaged-1.json": "{}",
            "exercises/labs/en/.predictions.json.lock": "",
        }
    )
    files = made_bundle(course, ("en",))
    assert [path for path in files if "labs" in path] == ["exercises/labs/one.ipynb", "exercises/labs/picture.svg"]
    assert f"./{WHEEL}[lab]" in text_of(files, "README.md")


def test_what_an_editor_or_a_check_left_behind_stays_behind(teach):
    course = teach(
        {
            "exercises/.attend.json": "{}",
            "exercises/hints/double.en.toml": 'hints = ["Twice."]\n',
            "exercises/hints/double.en.toml~": "",
            "exercises/public_tests/test_double.py.kept-1": "",
            "exercises/public_tests/__pycache__/x.pyc": "",
            "exercises/notes.txt": "for me",
        }
    )
    assert [path for path in made_bundle(course, ("en",)) if path.startswith("exercises/")] == [
        "exercises/instructions/double.md",
        "exercises/hints/double.en.toml",
        "exercises/contract/double.en.toml",
        "exercises/double.py",
    ]


def test_instructions_that_are_missing_are_named(teach):
    course = teach()
    file = course.root / "exercises" / "instructions" / "double.md"
    file.unlink()
    with pytest.raises(ReleaseError) as caught:
        made_bundle(course, ("en",))
    assert str(caught.value) == f"{file} is not there: learners would not know what to do; write it"


def test_a_bundle_that_gives_something_away_is_not_written(teach, tmp_path):
    course = teach({"exercises/hints/double.en.toml": f"hints = [{json.dumps(BODY)}]\n"})
    with pytest.raises(LeakError) as caught:
        release_bundle(course, tmp_path / "out" / "bundle")
    assert str(caught.value) == (
        "exercises/hints/double.en.toml: gives away the solution of double; take it out, nothing was written"
    )
    assert not (tmp_path / "out").exists()


def test_a_bundle_is_written_as_a_folder_or_as_a_zip(teach, tmp_path):
    course = teach()
    folder, archive = tmp_path / "out" / "bundle", tmp_path / "out" / "bundle.zip"
    said = release_bundle(course, folder)
    assert re.fullmatch(rf"{folder}: \d+ files in en; none of them gives a solution or a check away", said)
    release_bundle(course, folder, zipped=True)
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with zipfile.ZipFile(archive) as opened:
        packed_files = {name: opened.read(name) for name in opened.namelist()}
    assert packed_files == {f"small/{path}": content for path, content in files.items()}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bundle", "bundle.zip"]


def test_the_same_bundle_gives_the_same_zip(bundle):
    again = dict(reversed(list(bundle.items())))
    assert packed(bundle, "course") == packed(again, "course")
    with zipfile.ZipFile(io.BytesIO(packed(bundle, "course"))) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}


def test_the_same_kit_gives_the_same_wheel(bundle):
    assert built_wheel() == (WHEEL, bundle[WHEEL])


def test_a_former_bundle_is_replaced_whole(tmp_path):
    place = tmp_path / "bundle"
    write_folder({"old.txt": b"1", "bundle.json": manifest({"old.txt": b"1"})}, place)
    write_folder({"new/new.txt": b"2"}, place)
    assert [path.name for path in place.rglob("*") if path.is_file()] == ["new.txt"]
    assert list(tmp_path.iterdir()) == [place]


def test_an_empty_folder_is_written_into(tmp_path):
    (tmp_path / "bundle").mkdir()
    write_folder({"new.txt": b"2"}, tmp_path / "bundle")
    assert (tmp_path / "bundle" / "new.txt").read_bytes() == b"2"


def manifest(files):
    from autograder.release.manifest import manifest_of

    return manifest_of("course", files)


@pytest.mark.parametrize(
    ("there", "refusal"),
    [
        ({"thesis.tex": b"mine"}, " is not empty and no former bundle; empty it or name another place"),
        ({"bundle.json": b"[]"}, " is not empty and no former bundle; empty it or name another place"),
        (
            {"a.py": b"written in", "bundle.json": manifest({"a.py": b"stub"})},
            ": somebody worked in this bundle (a.py); move it away or name another place",
        ),
        (
            {"a.py": b"stub", "mine.py": b"", "bundle.json": manifest({"a.py": b"stub"})},
            ": somebody worked in this bundle (mine.py); move it away or name another place",
        ),
    ],
    ids=["other files", "a manifest of something else", "a changed file", "a file added"],
)
def test_what_somebody_could_miss_is_not_written_over(tmp_path, there, refusal):
    folder, archive = tmp_path / "bundle", tmp_path / "bundle.zip"
    for name, content in there.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    archive.write_bytes(packed(there, "course"))
    before = archive.read_bytes()
    with pytest.raises(ReleaseError) as caught:
        write_folder({"new.txt": b"2"}, folder)
    assert str(caught.value) == f"{folder}{refusal}"
    with pytest.raises(ReleaseError) as caught:
        write_zip({"new.txt": b"2"}, archive, "course")
    assert str(caught.value) == f"{archive}{refusal}"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == there
    assert archive.read_bytes() == before


def test_a_damaged_zip_is_no_former_bundle(tmp_path):
    archive = tmp_path / "bundle.zip"
    damaged = bytearray(packed({"a.py": b"x = 1\n" * 2000}, "course"))
    # Within what was packed, behind its name: the list of files at the end stays whole.
    damaged[50:60] = bytes(letter ^ 0xFF for letter in damaged[50:60])
    archive.write_bytes(damaged)
    with pytest.raises(ReleaseError) as caught:
        write_zip({"new.txt": b"2"}, archive, "course")
    assert str(caught.value) == f"{archive} is not empty and no former bundle; empty it or name another place"
    assert archive.read_bytes() == damaged


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "bundle").write_text("x")
    with pytest.raises(ReleaseError, match=r"bundle is there and no folder; name another place for the bundle$"):
        write_folder({}, tmp_path / "bundle")


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReleaseError, match=r"bundle: cannot be written \(.*\); nothing was changed there$"):
        write_folder({"a": b""}, tmp_path / "file" / "bundle")


def test_a_bundle_that_breaks_off_leaves_the_former_one(tmp_path, monkeypatch):
    place = tmp_path / "bundle"
    former = {"old.txt": b"1", "bundle.json": manifest({"old.txt": b"1"})}
    write_folder(former, place)
    rename = Path.rename

    def refuse(self, target):
        if self.name.endswith(".part"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ReleaseError, match="Input/output error"):
        write_folder({"new.txt": b"2"}, place)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == former
    assert list(tmp_path.iterdir()) == [place]


def test_a_kit_without_its_project_cannot_make_a_wheel(tmp_path):
    with pytest.raises(
        ReleaseError, match=r"there is no pyproject\.toml; a bundle is made in the repository of the kit"
    ):
        built_wheel(tmp_path)


def test_a_builder_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("autograder.release.wheel.find_spec", lambda name: None)
    with pytest.raises(ReleaseError, match="built by hatchling, which is not installed; pip install hatchling"):
        built_wheel()


def test_a_wheel_that_cannot_be_built_says_why(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'kit'\n")
    with pytest.raises(ReleaseError, match=r"the wheel cannot be built \(.*version.*\)"):
        built_wheel(tmp_path)


def test_reset_puts_back_the_stub_that_the_bundle_brought(bundle, tmp_path):
    write_folder(bundle, tmp_path / "bundle")
    course = load_course(tmp_path / "bundle")
    module = course.stub_of(course.exercise("softmax"))
    module.write_text("def softmax(scores): return scores\n")
    put = reset(course.exercise("softmax"), module.parent, course)
    assert module.read_bytes() == bundle["exercises/softmax.py"]
    assert put.kept.read_text() == "def softmax(scores): return scores\n"

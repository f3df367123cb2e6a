"""Copies are found under other names and in another order, right answers written independently are not.

The figures in autograder/similar.py were taken from these. Of the class of the demo and nine submissions made of right
variants, no two modules shared 120 fingerprints and 50 % of the shorter one's (the nearest had 96 and 41 %, 144 and 25
%), and no two submissions 250 and 30 % (112 and 16 %, 216 and 8 %). Copies of the variants with other names, order and
layout shared 64 to 100 % of a module, and except for causal_mask never fewer than 148. Without the course's own right
answers the class of the demo had pairs that share only what everyone checks first: that shapes fit.
"""

import ast
import builtins
import io
import keyword
import re
import tokenize

import msgspec
import numpy as np
import pytest

from autograder import similar
from autograder.class_page import make_similar_page
from autograder.cli import run
from autograder.course import load_course
from autograder.similar import COMMON, LEAST_SAME, find_similar
from autograder.submission import Submission, find_submissions

from .conftest import DOUBLE

ROOT = DOUBLE.parents[2]
COURSE = load_course(ROOT)
NAMES = [exercise.name for exercise in COURSE.exercises]
VARIANTS = {exercise.name: COURSE.variants_of(exercise) for exercise in COURSE.exercises}


def variant(place, only=NAMES):
    """Give a submission of right answers, each the `place`-th in its folder."""
    modules = {name: VARIANTS[name][place].read_bytes() for name in only if place < len(VARIANTS[name])}
    return Submission(f"variant-{place:02}", modules)


def renamed(text):
    """Give a module in which every name that is its own is another one, and every comment is gone."""
    tree = ast.parse(text)
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own -= {*dir(builtins), *keyword.kwlist, "self"}
    new = {name: f"thing_{place}" for place, name in enumerate(sorted(own))}
    tokens = [
        token._replace(string=new.get(token.string, token.string)) if token.type == tokenize.NAME else token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type != tokenize.COMMENT
    ]
    return tokenize.untokenize((token.type, token.string) for token in tokens)


def turned_round(text):
    """Give a module in which functions and classes stand in the opposite order, written out by Python itself."""
    tree = ast.parse(text)
    moved = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    tree.body = [node for node in tree.body if node not in moved] + moved[::-1]
    return ast.unparse(tree)


def changed(submission, *changes):
    modules = {}
    for name, code in submission.modules.items():
        text = code.decode()
        for change in changes:
            text = change(text)
        modules[name] = text.encode()
    return Submission(f"copy-of-{submission.id}", modules)


@pytest.fixture(scope="module")
def independent():
    """Give fifteen submissions of right answers and the class of the demo, all written independently."""
    found = find_submissions(ROOT / "tests" / "data" / "class", NAMES).submissions
    return [*map(variant, range(15)), *(each for each in found if isinstance(each, Submission))]


def test_right_answers_written_independently_are_not_alike(independent):
    likeness = find_similar(independent, COURSE)

    assert (likeness.n_submissions, likeness.pairs, likeness.same) == (len(independent), [], [])
    assert len(independent) > 25


@pytest.mark.parametrize("size", [2, 8, 16])
def test_a_small_class_is_not_alike_for_being_small(independent, size):
    demo = [each for each in independent if not each.id.startswith("variant-")]

    assert find_similar(demo[:size], COURSE).pairs == []


def test_right_answers_are_not_alike_for_a_course_that_does_not_know_them(tmp_path):
    unaware = msgspec.structs.replace(
        COURSE, paths=msgspec.structs.replace(COURSE.paths, variants=tmp_path, solutions=tmp_path)
    )

    assert find_similar(map(variant, range(9)), unaware).pairs == []


@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_copy_is_found_under_other_names_in_another_order_and_layout(independent, place):
    original = independent[place]
    likeness = find_similar([*independent, changed(original, turned_round, renamed)], COURSE)

    (pair,) = likeness.pairs
    assert {pair.first, pair.second} == {original.id, f"copy-of-{original.id}"}
    assert pair.share > 0.6
    assert len(pair.modules) >= 6


def test_a_copy_with_other_names_only_is_alike_altogether(independent):
    likeness = find_similar([*independent, changed(independent[2], renamed)], COURSE)

    (pair,) = likeness.pairs
    assert pair.share > 0.97 and pair.strength == 1


def test_one_copied_module_among_ones_own_is_found(independent):
    one, other = independent[1], independent[4]
    mixed = Submission("mixed", {**other.modules, "attention": renamed(one.modules["attention"].decode()).encode()})

    likeness = find_similar([each for each in independent if each is not other] + [mixed], COURSE)

    (pair,) = likeness.pairs
    assert (pair.first, pair.second) == ("mixed", one.id)
    by_exercise = {module.exercise: module for module in pair.modules}
    assert by_exercise["attention"].share > 0.95
    assert pair.strength == by_exercise["attention"].share > pair.share
    # The lines that are alike, and not the docstring that both begin with.
    assert len(by_exercise["attention"].first.lines) > 8


def test_a_function_that_was_put_into_another_module_is_found(independent):
    one = independent[5]
    modules = {"softmax": one.modules["padding_mask"] + one.modules["softmax"], "padding_mask": b"pass\n"}
    likeness = find_similar([*independent, Submission("moved", modules)], COURSE)

    (pair,) = likeness.pairs
    assert {pair.first, pair.second} == {one.id, "moved"}
    by_exercise = {module.exercise: module for module in pair.modules}
    assert {"softmax", "padding_mask"} <= set(by_exercise)
    padding = by_exercise["padding_mask"]
    marked = padding.second if pair.first == "moved" else padding.first
    assert len(marked.lines) > 10


def test_stubs_handed_in_as_they_are_have_nothing_in_common():
    stubs = {exercise.name: COURSE.stub_of(exercise).read_bytes() for exercise in COURSE.exercises}
    likeness = find_similar([Submission(f"id-{place}", stubs) for place in range(4)], COURSE)

    assert likeness.pairs == []


def test_what_more_than_a_few_have_does_not_count_but_the_same_module_of_many_is_told(independent):
    shared = independent[0].modules["padding_mask"]
    many = [Submission(f"id-{place:02}", {"padding_mask": shared}) for place in range(COMMON + 3)]
    few = many[: COMMON - 2]

    assert len(find_similar([*independent[1:], *few], COURSE).pairs) == len(few) * (len(few) - 1) / 2
    likeness = find_similar([*independent[1:], *many], COURSE)
    assert likeness.pairs == []
    ((exercise, ids),) = [(same.exercise, same.ids) for same in likeness.same]
    assert exercise == "padding_mask" and ids == [each.id for each in many]


def test_of_very_many_pairs_those_that_are_most_alike_are_given(independent, monkeypatch):
    monkeypatch.setattr(similar, "MOST_PAIRS", 2)
    one, other = independent[2], independent[5]
    half = {name: code if name in ("attention", "softmax") else b"" for name, code in one.modules.items()}
    copies = [changed(other, turned_round, renamed), changed(one, renamed), Submission("half", half)]

    likeness = find_similar([*independent, *copies], COURSE)

    assert likeness.n_pairs == 4
    assert [pair.strength for pair in likeness.pairs] == [1, 1]


def test_a_short_answer_says_nothing_by_itself():
    short = (
        b"import numpy as np\n\n\ndef causal_mask(n_queries, n_keys=None):\n    return np.tri(n_queries, dtype=bool)\n"
    )
    likeness = find_similar([Submission(f"id-{place}", {"causal_mask": short}) for place in range(30)], COURSE)

    assert (likeness.pairs, likeness.same) == ([], [])


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\xff\xfe\x00",
        b"def (:\n\t'''never closed",
        b"class A: pass\n" * 20_000,
        b"(" * 100_000,
        b"\r\r\r",
        b"'" * 99_999,
    ],
    ids=["empty", "no_text", "no_python", "long", "parentheses", "line_ends", "quotes"],
)
def test_whatever_was_handed_in_is_compared(code):
    likeness = find_similar([Submission(id, {"softmax": code}) for id in ("ada", "bea")], COURSE)

    assert likeness.n_submissions == 2
    assert [(pair.first, pair.second) for pair in likeness.pairs] in ([], [("ada", "bea")])


def test_pairs_are_counted_as_one_by_one(monkeypatch):
    random = np.random.default_rng(1)
    rows = [np.unique(random.integers(0, 300, size=size)) for size in (50, 80, 0, 120, 200)]

    counts = similar._shared(rows)

    for one in range(5):
        for other in range(5):
            expected = len(np.intersect1d(rows[one], rows[other])) if one < other else 0
            assert counts[one, other] == expected


def test_lines_that_are_alike_are_the_right_ones_below_a_class(independent):
    own = "class Whatever:\n    def method(self):\n        return 1\n\n\n# a comment of this author\n"
    original = independent[0].modules["padding_mask"].decode()
    copy = Submission("copy", {"padding_mask": (own + original).encode()})
    others = [Submission("original", {"padding_mask": original.encode()})]

    (pair,) = find_similar([copy, *others], COURSE).pairs

    (module,) = pair.modules
    first, second = module.first, module.second
    assert {number - 6 for number in first.lines if number > 6} == second.lines
    assert not first.lines & set(range(1, 6))


SOURCE = """def double(numbers, more=0.0):
    # <script>window.ran = 1</script>
    if numbers is None or more is None:
        raise ValueError("numbers </pre><script>window.ran = 1</script> and more must be given, both of them")
    total = numbers * 2.0 + more * 1.0
    for position, number in enumerate(list(range(3))):
        total = total + position * 0.0 - number * 0.0
    if total is not None and (total > 100.0).any():
        return total.copy()[:, None][:, 0] if total.ndim == 1 else total.copy()
    return total if total.ndim else total.reshape(()) + 0.0
"""


@pytest.fixture
def class_of_copies(tmp_path):
    for id, text in [
        ("ada", SOURCE),
        ("<b>bea", renamed(SOURCE)),
        ("cy", "def double(numbers, more=0.0):\n    return 2\n"),
    ]:
        (tmp_path / "class" / id).mkdir(parents=True)
        (tmp_path / "class" / id / "double.py").write_text(text, encoding="utf-8")
    return tmp_path / "class"


def test_the_command_writes_the_page_and_changes_no_mark(small_course, class_of_copies, tmp_path, capsys):
    out, course = tmp_path / "grades", str(small_course().root)
    grade = ["grade", str(class_of_copies), "--out", str(out), "--course", course, "--no-gradebook", "--trust"]
    run([*grade, "--no-pages"])
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()

    assert run(["similar", str(class_of_copies), "--out", str(out), "--course", course]) == 0

    assert capsys.readouterr().out.endswith(f"Alike:   {out / 'similar.html'} (1 pair)\n")
    html = (out / "similar.html").read_text(encoding="utf-8")
    assert "Of 3 submissions 1 pair is alike." in html
    after = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if path.name != "similar.html"} == before
    run([*grade, "--again"])
    assert (out / "grades.csv").read_bytes() == before[out / "grades.csv"]
    assert '<a href="similar.html">' in (out / "class.html").read_text(encoding="utf-8")


def test_the_page_escapes_both_sides_and_speaks_chinese(small_course, class_of_copies, tmp_path):
    course = small_course()
    found = find_submissions(class_of_copies, ["double"]).submissions
    likeness = find_similar(found, course)

    html = make_similar_page(tmp_path, likeness, course, "zh").read_text(encoding="utf-8")

    assert '<html lang="zh">' in html and "3 份作业里有 1 对相似。" in html and "这一页不影响任何成绩" in html
    assert "<script" not in html and "<b>bea" not in html
    assert html.count("&lt;script&gt;") == 3
    assert len(re.findall(r'<tr class="alike">', html)) >= 12
    assert "script-src" not in html and "default-src &#39;none&#39;" in html


def test_without_copydetect_one_line_says_what_to_install(small_course, class_of_copies, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "copydetect", None)
    similar._fingerprints.cache_clear()

    assert run(["similar", str(class_of_copies), "--out", str(tmp_path), "--course", str(small_course().root)]) == 2

    assert capsys.readouterr().err == (
        "attend: comparing code needs copydetect, which is not installed; install attention-by-hand[grade]\n"
    )


def test_a_module_that_counts_as_long_is_longer_than_any_that_is_short_by_nature():
    lengths = {
        name: [len(similar._fingerprints(path.read_bytes())) for path in paths] for name, paths in VARIANTS.items()
    }

    assert min(lengths["padding_mask"]) > LEAST_SAME
    assert sorted(lengths["causal_mask"])[5] < LEAST_SAME

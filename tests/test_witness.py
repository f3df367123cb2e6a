"""What a public test tells when it fails: the learner's call, the words, the learner's line, the sentence's key."""

import shutil
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.language import Phrase
from autograder.public_tests import run_public_tests
from autograder.report import Outcome

COURSE = load_course(Path(__file__).parents[1])
PUBLIC_TESTS = COURSE.paths.exercises / "public_tests"


@pytest.fixture
def tried(tmp_path):
    """Give a function that runs tests on a module, and gives what became of the first test that did not pass."""

    def run(module, tests):
        (tmp_path / "public_tests").mkdir(exist_ok=True)
        (tmp_path / "public_tests" / "test_thing.py").write_text(tests)
        (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        (tmp_path / "thing.py").write_text(module)
        result = run_public_tests(tmp_path, "thing", 60)
        assert result.checks, result.reason
        return next(check for check in result.checks if check.outcome is not Outcome.PASSED)

    return run


HALF = "def half(x):\n    return x / 2\n"
TESTS = """
import numpy as np
import pytest
from thing import half

@pytest.mark.contract("halved")
def test_it():
"""


def test_a_call_that_returned_the_wrong_values_is_shown_with_them(tried):
    check = tried(
        HALF, f"{TESTS}    half(np.ones(9))\n    np.testing.assert_allclose(half(np.array([2.0, 4.0])), [1, 3])\n"
    )

    assert check.counterexample == "half([2., 4.])"
    assert check.message == "returned [1., 2.], right is [1., 3.]"
    assert check.hint == "thing.halved"


def test_it_is_the_call_that_was_compared_and_not_the_last_one(tried):
    check = tried(HALF, f"{TESTS}    a = np.array([2.0])\n    np.testing.assert_allclose(half(a), half(a + 2))\n")

    assert check.counterexample == "half([2.])"
    assert check.message == "returned [1.], right is [2.]"


def test_what_was_made_of_the_result_is_shown_with_the_line_of_the_test(tried):
    check = tried(
        HALF,
        f"{TESTS}    total = half(np.array([[2.0, 4.0]]))\n    np.testing.assert_allclose(total.sum(axis=0), 1.0)\n",
    )

    assert check.counterexample == "half([[2., 4.]])"
    assert check.message == "total.sum(axis=0) is [1., 2.], right is [1., 1.]"
    assert check.phrase.in_("zh") == "total.sum(axis=0) 是 [1., 2.]，正确的是 [1., 1.]"


def test_a_single_number_made_of_the_result_is_shown_like_an_array(tried):
    check = tried(HALF, f"{TESTS}    np.testing.assert_allclose(half(np.array([2.0, 4.0])).sum(), 1.0)\n")

    assert check.message == "half(np.array([2.0, 4.0])).sum() is 3., right is 1."


def test_what_is_wrong_with_the_form_names_the_line_of_the_test(tried):
    check = tried(HALF, f"{TESTS}    np.testing.assert_allclose(half(np.ones(2)).reshape(2, 1), np.ones(3))\n")

    assert check.message == (
        "the shape is (2, 1), not (3,), in np.testing.assert_allclose(half(np.ones(2)).reshape(2, 1), np.ones(3))"
    )


@pytest.mark.parametrize(
    ("given", "right", "message"),
    [
        ("np.array([4, 2], dtype=np.int32)", "[2, 2]", "returned [4, 2], right is [2, 2]"),
        ("np.array([-1, -2])", "[True, False]", "the dtype is int64, not bool"),
        ("np.array([1, 0])", "[0.5, 0.5]", "the dtype is int64, not float64"),
        ("np.array([True, False])", "[False, False]", "returned [1 0], right is [0 0]"),
    ],
)
def test_whole_numbers_and_booleans_are_told_apart_in_words_of_ours(tried, given, right, message):
    module = f"import numpy as np\n\ndef half(x):\n    return {given}\n"
    check = tried(module, f"{TESTS}    np.testing.assert_array_equal(half(1), {right})\n")

    assert check.message == message


@pytest.mark.parametrize(
    ("module", "assertion", "message"),
    [
        ("numpy", "half(numpy.ones((2, 3))).shape == (3, 2)", "the shape is (2, 3), not (3, 2)"),
        ("numpy", "half(numpy.ones(2)).dtype == np.float32", "the dtype is float64, not float32"),
        ("torch", "half(torch.ones(2, 3)).shape == torch.Size([3, 2])", "the shape is (2, 3), not (3, 2)"),
        ("torch", "half(torch.ones(2)).dtype == torch.float64", "the dtype is torch.float32, not torch.float64"),
    ],
)
def test_a_shape_or_dtype_that_is_asserted_is_told_in_words(tried, module, assertion, message):
    check = tried(HALF, f"import {module}\n{TESTS}    assert {assertion}\n")

    assert check.message == message
    assert check.phrase.in_("zh").endswith(message.rpartition("not ")[2])


def test_a_function_without_a_return_is_told_so_whatever_comes_of_it(tried):
    module = "def half(x):\n    x / 2\n\ndef quarter(x):\n    return x / 2\n"
    tests = TESTS.replace("import half", "import half, quarter")
    for line in ("np.testing.assert_allclose(half(4.0), 2.0)", "quarter(half(4.0))", "half(4.0).shape"):
        check = tried(module, f"{tests}    {line}\n")
        assert check.counterexample == "half(4.0)"
        assert check.message == "returned None: does the function end without a `return`?"


def test_where_an_error_was_due_none_is_not_what_is_wrong(tried):
    check = tried("def half(x):\n    pass\n", f"{TESTS}    with pytest.raises(ValueError):\n        half(4.0)\n")

    assert check.message == "no ValueError was raised, though one should be"


def test_arguments_are_shown_as_they_were_before_the_call(tried):
    spoiling = "def half(x):\n    x /= 2\n    return x + 1\n"
    check = tried(spoiling, f"{TESTS}    np.testing.assert_allclose(half(np.array([2.0])), [1.0])\n")

    assert check.counterexample == "half([2.])"


def test_an_error_names_the_learners_own_line(tried):
    module = "import numpy as np\n\ndef half(x):\n    y = x + np.ones(3)\n    return y / 2\n"
    check = tried(module, f"{TESTS}    half(np.ones(2))\n")

    assert check.counterexample == "half([1., 1.])"
    assert check.message.startswith("ValueError: operands could not be broadcast together")
    assert check.message.endswith(", on line 4 of thing.py: y = x + np.ones(3)")


def test_words_that_have_a_translation_keep_it(tried):
    check = tried(HALF, f"{TESTS}    with pytest.raises(ValueError, match='x'):\n        half(3)\n")

    assert check.message == "no ValueError was raised, though one should be"
    assert isinstance(check.phrase, Phrase)
    assert check.phrase.in_("zh") == "这里应该抛出 ValueError，但没有抛出"


def test_a_message_that_does_not_fit_is_quoted_with_what_it_should_hold(tried):
    module = "def half(x):\n    raise ValueError('no')\n"
    check = tried(module, f"{TESTS}    with pytest.raises(ValueError, match='name|width'):\n        half(3)\n")

    assert check.message == "the message of the error should match 'name|width'; it is 'no'"


def test_what_is_not_written_yet_is_still_told_by_its_error(tried):
    check = tried("def half(x):\n    raise NotImplementedError\n", f"{TESTS}    half(3)\n")

    assert check.message == "NotImplementedError"


def test_a_plain_assertion_is_told_as_pytest_tells_it(tried):
    check = tried(HALF, f"{TESTS}    assert half(4) == 3\n")

    assert check.counterexample == "half(4)"
    assert check.message.startswith("assert 2.0 == 3")


def test_a_module_is_shown_as_it_was_made_and_called(tried):
    module = (
        "import torch\n\nclass Half(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n\n"
        "    def forward(self, x):\n        return x / 2, x\n"
    )
    tests = (
        "import torch\nfrom thing import Half\n\ndef test_it():\n    output, _ = Half(2)(torch.tensor([1.0, 3.0]))\n"
        "    torch.testing.assert_close(output, torch.tensor([0.5, 2.0]))\n"
    )
    check = tried(module, tests)

    assert check.counterexample == "Half(2)([1., 3.])"
    assert check.message == "returned [0.5, 1.5], right is [0.5, 2. ]"
    assert check.hint == ""


@pytest.mark.parametrize(
    "returned", ["None", "[1.0]", "object()", "np.array(['a'])", "np.zeros((0, 2))", "x.astype(object)"]
)
def test_whatever_comes_back_the_test_fails_with_words(tried, returned):
    module = f"import numpy as np\n\ndef half(x):\n    return {returned}\n"
    check = tried(module, f"{TESTS}    np.testing.assert_allclose(half(np.array([2.0, 4.0])), [1.0, 2.0])\n")

    assert check.message
    assert check.counterexample == "half([2., 4.])"


def test_a_small_failure_is_drawn_with_the_names_of_its_axes(tmp_path):
    (tmp_path / "public_tests").mkdir()
    shutil.copy(PUBLIC_TESTS / "test_causal_mask.py", tmp_path / "public_tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "causal_mask.py").write_text(
        "import numpy as np\n\ndef causal_mask(n_queries, n_keys=None):\n"
        "    n_keys = n_queries if n_keys is None else n_keys\n"
        "    return np.tril(np.ones((n_queries, n_keys), bool))\n"
    )
    result = run_public_tests(tmp_path, "causal_mask", 60, course=COURSE.root / "course.toml")
    check = next(check for check in result.checks if check.figures)

    assert check.counterexample == "causal_mask(2, 5)"
    came_back, right = check.figures
    assert (came_back.title, came_back.kind, came_back.rows, came_back.columns) == ("came back", "mask", "query", "key")
    assert came_back.cells == [list("10000"), list("11000")]
    assert right.cells == [list("11110"), list("11111")]


@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
def test_every_public_test_names_a_sentence_of_the_contract(exercise):
    import ast
    import tomllib

    sentences = tomllib.loads(COURSE.contract_of(exercise, "en").read_text(encoding="utf-8"))
    tree = ast.parse(COURSE.public_tests_of(exercise).read_text(encoding="utf-8"))
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    keys = {
        test.name: [
            mark.args[0].value for mark in test.decorator_list if ast.unparse(mark).startswith("pytest.mark.contract(")
        ]
        for test in tests
    }

    assert tests
    assert {name: found for name, found in keys.items() if len(found) != 1 or found[0] not in sentences} == {}


def test_an_error_with_half_a_letter_in_it_is_told_with_an_escape(tried):
    check = tried(r"def half(x): raise ValueError('a \udc80 b')", f"{TESTS}    half(1)\n")
    assert check.name == "test_it"
    assert check.message.startswith(r"ValueError: a \udc80 b, on line 1 of thing.py")

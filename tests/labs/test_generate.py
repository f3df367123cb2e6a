"""Sources -> notebooks: what is in the repository is what the sources make, in both languages."""

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from autograder.cli import run
from autograder.labs.answers import answers
from autograder.labs.errors import LabError
from autograder.labs.fallbacks import FALLBACKS
from autograder.labs.generate import FIGURE, made_labs, notebook_text, write_labs

from .conftest import REPOSITORY

LABS = REPOSITORY / "exercises" / "labs"
SOURCES = sorted((LABS / "sources" / "en").glob("*.py"))
SOURCE = """# %% [markdown]
# # A lab
#
# ![A row](figures/one_row.svg)

# %%
lab.number("it")
"""

each_language = pytest.mark.parametrize("language", ["en", "zh"])
each_lab = pytest.mark.parametrize("name", [source.stem for source in SOURCES])


def cells_of(language, name):
    return nbformat.reads((LABS / language / f"{name}.ipynb").read_text(encoding="utf-8"), 4).cells


def outline(code):
    """Give the code with every text in it as one word, and without comments: what must be the same in any language."""

    class Texts(ast.NodeTransformer):
        def visit_Constant(self, node):
            return ast.Constant("text") if isinstance(node.value, str) else node

        def visit_JoinedStr(self, node):
            values = sorted(ast.unparse(part.value) for part in node.values if isinstance(part, ast.FormattedValue))
            return ast.Constant(f"text with {values}")

        def visit_Call(self, node):
            # How much is printed in one line is a matter of the language.
            if isinstance(node.func, ast.Name) and node.func.id == "print":
                return ast.Constant("printed")
            return self.generic_visit(node)

    return ast.unparse(Texts().visit(ast.parse(code)))


@pytest.fixture
def labs(tmp_path):
    (tmp_path / "sources" / "en").mkdir(parents=True)
    (tmp_path / "sources" / "en" / "01_it.py").write_text(SOURCE)
    return tmp_path


@each_language
def test_the_notebooks_and_their_pictures_are_what_the_sources_make(language):
    made = made_labs(LABS, language)
    there = {path for path in (LABS / language).rglob("*") if path.suffix in (".ipynb", ".svg")}

    assert there == set(made)
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `./run attend release --labs`"


@each_language
@each_lab
def test_a_notebook_is_valid_and_has_neither_outputs_nor_traces_of_a_run(language, name):
    notebook = nbformat.reads((LABS / language / f"{name}.ipynb").read_text(encoding="utf-8"), 4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert not any(cell.metadata for cell in notebook.cells)


@each_lab
def test_the_labs_of_both_languages_do_the_same(name):
    english, chinese = cells_of("en", name), cells_of("zh", name)

    assert [cell.cell_type for cell in english] == [cell.cell_type for cell in chinese]
    for one, other in zip(english, chinese, strict=True):
        if one.cell_type == "code":
            assert outline(one.source) == outline(other.source)
        else:
            assert FIGURE.findall(one.source) == FIGURE.findall(other.source)


@each_language
@each_lab
def test_every_answer_waits_for_a_question_that_was_asked_before_it(language, name):
    asked = set()
    for cell in cells_of(language, name):
        if cell.cell_type != "code":
            continue
        asked |= set(re.findall(r'lab\.(?:choose|number|draw_row)\(\s*"(\w+)"', cell.source))
        compared = set(re.findall(r'lab\.(?:compare|reveal)\("(\w+)"', cell.source))
        needed = re.match(r"lab\.needs\(([^)]*)\)", cell.source)
        if "lab.compare" in cell.source:
            assert compared <= set(re.findall(r'"(\w+)"', needed[1])), "the cell begins by needing what it compares"
        assert compared <= asked


@each_language
def test_every_picture_is_drawn_and_every_drawing_is_shown_with_words(language):
    shown = {}
    for source in (LABS / "sources" / language).glob("*.py"):
        shown |= {
            name: alt for alt, name in re.findall(r"!\[([^]]*)\]\(figures/(\w+)\.svg\)", source.read_text("utf-8"))
        }

    assert set(shown) == set(FALLBACKS)
    assert all(len(alt) > 12 for alt in shown.values())


@each_language
def test_every_question_of_the_self_test_has_an_answer_and_an_explanation(language):
    cells = cells_of(language, "11_self_test")
    asked = re.findall(
        r'lab\.(choose|number)\(\s*"(\w+)"(.*)', "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    )
    known = answers(language)

    assert [name for _, name, _ in asked] == list(known)
    assert len(known) >= 12
    for kind, name, _ in asked:
        assert isinstance(known[name].right, str if kind == "choose" else float)
        assert len(known[name].why) > 30


def test_the_answers_are_the_same_in_both_languages_and_stand_in_no_notebook():
    english, chinese = answers("en"), answers("zh")

    assert {name: known.right for name, known in english.items()} == {
        name: known.right for name, known in chinese.items()
    }
    for language, known in (("en", english), ("zh", chinese)):
        text = (LABS / language / "11_self_test.ipynb").read_text(encoding="utf-8")
        assert not [name for name, answer in known.items() if answer.why[:30] in text]


def test_a_cell_that_is_added_leaves_the_other_cells_as_they_are():
    before = nbformat.reads(notebook_text(SOURCE), 4).cells
    after = nbformat.reads(notebook_text("# %%\nnew = 1\n\n" + SOURCE), 4).cells

    assert after[1:] == before
    assert after[0].id != before[0].id


def test_equal_cells_have_different_names():
    cells = nbformat.reads(notebook_text("# %%\nx\n\n# %%\nx\n"), 4).cells

    assert cells[1].id == f"{cells[0].id}-2"


def test_notebooks_and_pictures_are_written_where_the_learner_finds_them(labs):
    written = write_labs(labs, ("en",))

    assert [str(path.relative_to(labs)) for path in written] == ["en/01_it.ipynb", "en/figures/one_row.svg"]
    assert json.loads(written[0].read_text())["cells"][1]["source"] == ['lab.number("it")']
    assert 'data-weights="[[0.6698, 0.3302]]"' in written[1].read_text()


def test_a_picture_that_nobody_draws_is_named_and_nothing_is_written(labs):
    source = labs / "sources" / "en" / "02_more.py"
    source.write_text("# %% [markdown]\n# ![Much](figures/much.svg)\n")

    with pytest.raises(LabError, match=r"02_more\.py shows much\.svg, which nobody draws; there are: bias, causal"):
        write_labs(labs, ("en",))
    assert not (labs / "en").exists()


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda labs: (labs / "sources" / "en" / "01_it.py").write_bytes(b"\xff"), "01_it.py cannot be read: "),
        (lambda labs: (labs / "sources" / "en" / "01_it.py").unlink(), "holds no sources of labs"),
        (lambda labs: (labs / "en").write_text("a file"), "cannot be written: "),
    ],
)
def test_what_is_wrong_with_the_files_is_one_line_that_names_one(labs, spoil, line):
    spoil(labs)

    with pytest.raises(LabError) as caught:
        write_labs(labs, ("en",))
    assert line in str(caught.value)
    assert str(labs) in str(caught.value)


def test_without_jupytext_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jupytext", None)

    with pytest.raises(LabError, match=r"^notebooks are made with jupytext; install attention-by-hand\[lab\]$"):
        notebook_text(SOURCE)


def test_release_writes_the_labs_of_the_course(small_course, capfd):
    course = small_course()
    sources = course.paths.exercises / "labs" / "sources"
    for language in course.languages:
        (sources / language).mkdir(parents=True)
        (sources / language / "01_it.py").write_text(SOURCE)

    assert run(["release", "--labs", "--course", str(course.root)]) == 0
    assert capfd.readouterr().out.splitlines() == [
        str(Path(course.paths.exercises, "labs", language, file))
        for language in course.languages
        for file in ("01_it.ipynb", "figures/one_row.svg")
    ]

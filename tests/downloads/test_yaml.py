"""Of a large YAML file only what is wanted is kept, and all of it is text."""

import pytest

from autograder.downloads.yaml import YamlError, read_yaml

WANTED = {"name", "people"}


def test_only_wanted_keys_are_kept_below_the_outermost():
    text = b"a:\n  name: Zo\xc3\xab\n  other: {name: x, deep: [1, {name: y}]}\nb:\n  people: [{name: '007', age: 5}]\n"
    assert read_yaml(text, WANTED) == {"a": {"name": "Zoë"}, "b": {"people": [{"name": "007"}]}}


@pytest.mark.parametrize(
    ("value", "text"),
    [("007", "007"), ("1e3", "1e3"), ("yes", "yes"), ("2026-03-02", "2026-03-02"), ("", ""), ("~", ""), ("'~'", "~")],
)
def test_no_value_is_taken_for_a_number_or_a_date(value, text):
    assert read_yaml(f"name: {value}\n".encode(), WANTED) == {"name": text}


@pytest.mark.parametrize("tag", ["!ruby/object:Gem::Requirement", "!!python/object/apply:os.system"])
def test_no_tag_makes_an_object(tag):
    assert read_yaml(f"a:\n  other: {tag} [exit]\n  name: {tag} x\n".encode(), WANTED) == {"a": {"name": "x"}}


def test_references_are_not_followed():
    assert read_yaml(b"a: &a [x, x]\nb: [*a, *a]\nname: n", WANTED) == {"a": ["x", "x"], "b": ["", ""], "name": "n"}


def test_keys_that_are_no_text_are_skipped():
    assert read_yaml(b"? [1, 2]\n: {name: x}\n? {a: b}\n: y\nname: n\n", WANTED) == {"name": "n"}


def test_an_empty_file_is_nothing():
    assert read_yaml(b"", WANTED) == ""


def test_nesting_has_an_end():
    with pytest.raises(YamlError, match="nested more than 50 deep"):
        read_yaml(b"a: " + b"[" * 60 + b"]" * 60, WANTED)
    assert read_yaml(b"a: {other: " + b"[" * 60 + b"]" * 60 + b"}", WANTED) == {"a": {}}

"""A reader for large YAML files of which little is wanted: it keeps texts under a few keys and skips all else.

Events are read one by one, by libyaml where PyYAML has it: nothing is built for what is skipped, no tag makes an object
and no value is taken for a number, so that the id 00417 stays what it is.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TypeAlias

import yaml

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str"

NOTHING = frozenset(["", "~", "null", "Null", "NULL"])
OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
DEEPEST = 50


class YamlError(Exception):
    """What is wrong with the file; the sentence goes on after its name."""


def read_yaml(data: bytes, wanted: Container[str]) -> Tree:
    """Read the first document: every key of the outermost mapping, and below it only the keys that are `wanted`.

    All values are text; null is "". YamlError with the line where the file is no YAML.
    """
    events = yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        for event in events:
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                return _value(event, events, wanted, depth=0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        why = " ".join(str(getattr(error, "problem", None) or error).split())
        raise YamlError(f"is not YAML{place}: {why}") from None
    return ""


def _value(event: yaml.Event, events: Iterator[yaml.Event], wanted: Container[str], depth: int) -> Tree:
    if depth > DEEPEST:
        raise YamlError(f"is nested more than {DEEPEST} deep")
    match event:
        case yaml.MappingStartEvent():
            return _mapping(events, wanted, depth)
        case yaml.SequenceStartEvent():
            return _sequence(events, wanted, depth)
        case yaml.ScalarEvent():
            is_null = event.implicit[0] and event.value in NOTHING
            return "" if is_null else str(event.value)
    return ""


def _mapping(events: Iterator[yaml.Event], wanted: Container[str], depth: int) -> dict[str, Tree]:
    kept: dict[str, Tree] = {}
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            break
        value = _after(key, events)
        if isinstance(key, yaml.ScalarEvent) and (depth == 0 or key.value in wanted):
            kept[str(key.value)] = _value(value, events, wanted, depth + 1)
        else:
            _skip(value, events)
    return kept


def _after(key: yaml.Event, events: Iterator[yaml.Event]) -> yaml.Event:
    """Give the first event of a value, after a key that may be anything."""
    _skip(key, events)
    return next(events)


def _sequence(events: Iterator[yaml.Event], wanted: Container[str], depth: int) -> list[Tree]:
    kept: list[Tree] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        kept.append(_value(event, events, wanted, depth + 1))
    return kept


def _skip(event: yaml.Event, events: Iterator[yaml.Event]) -> None:
    """Pass by all that belongs to the value which this event begins."""
    n_open = int(isinstance(event, OPENING))
    while n_open:
        event = next(events)
        n_open += isinstance(event, OPENING) - isinstance(event, CLOSING)

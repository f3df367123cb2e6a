"""JUnit's XML, which Jenkins, GitLab and others show: a suite for each submission, a test case for each check.

Facts, from the schema that Jenkins publishes for its xUnit plugin (`junit-10.xsd`), and GitLab's "Unit test reports":

- `testsuites` holds `testsuite` (name, tests, failures, errors, skipped, time, timestamp), which begins with
  `properties` and holds `testcase` (classname, name, time); a case holds `failure` or
  `error` (type, message, text) or `skipped`.
- GitLab tells cases apart by classname and name, so no two of them may have both in common.
- XML 1.0 has no place for most control characters, however they are written.

A failure is a check that the code did not pass, an error one that got no answer (time, memory, crash). A submission
that was not graded is one error, and a bonus exercise that was not handed in is skipped. Texts obey the
feedback policy.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from autograder.course import Course
from autograder.exports.moments import in_utc
from autograder.exports.order import Exported, Order
from autograder.language import Reader
from autograder.outputs.text import number, visible, visible_lines
from autograder.policy import allowed_report
from autograder.report import CheckResult, ExerciseResult, Outcome, Report, write_whole


def export(order: Order) -> Exported:
    """Write one file for the class."""
    root = Element("testsuites", name=visible(order.course.name))
    for report in order.reports:
        root.append(_suite(report, order.course))
    ElementTree.indent(root)
    place = order.place("junit.xml")
    write_whole(place, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    return Exported([place])


def _suite(report: Report, course: Course) -> Element:
    reader = course.reader(course.languages[0])
    suite = Element("testsuite", name=visible(report.submission))
    properties = SubElement(suite, "properties")
    for name, value in _properties(report):
        SubElement(properties, "property", name=name, value=value)
    suite.extend(_cases(allowed_report(report, course.feedback), reader))
    cases = suite.findall("testcase")
    kinds = Counter(child.tag for case in cases for child in case)
    counts = {"tests": len(cases), "failures": kinds["failure"], "errors": kinds["error"], "skipped": kinds["skipped"]}
    suite.attrib |= {name: str(count) for name, count in counts.items()}
    suite.set("time", f"{report.seconds:.3f}")
    if moment := in_utc(report.handed_in):
        suite.set("timestamp", f"{moment:%Y-%m-%dT%H:%M:%S}")
    return suite


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "status", report.status
    if report.learner_name:
        yield "learner", visible(report.learner_name)
    if report.graded:
        yield "points", number(report.points)
        yield "earned", number(report.core_earned)
        yield "bonus", number(report.bonus_earned)
    if report.late is not None:
        yield "late", "yes" if report.late else "no"


def _cases(report: Report, reader: Reader) -> Iterator[Element]:
    who = visible(report.submission)
    if not report.graded:
        case = Element("testcase", classname=who, name="graded")
        _add(case, "error", "not_graded", report.reason, [])
        yield case
    for result in report.exercises if report.graded else ():
        place = f"{who}.{result.name}"
        if result.left_out or not result.checks:
            yield _whole(place, result, reader)
        for position, check in enumerate(() if result.left_out else result.checks, 1):
            yield _case(place, position, check, result, reader)


def _whole(place: str, result: ExerciseResult, reader: Reader) -> Element:
    case = Element("testcase", classname=place, name="handed in")
    reason = reader.read(result.reason_phrase or result.reason)
    if result.left_out:
        SubElement(case, "skipped").text = _safe([reason])
    elif reason:
        _add(case, "failure", "lost", reason, [])
    return case


def _case(place: str, position: int, check: CheckResult, result: ExerciseResult, reader: Reader) -> Element:
    name = visible(reader.title(check.title) or check.name) or f"check {position}"
    case = Element("testcase", classname=place, name=name, time=f"{check.seconds:.3f}")
    if check.outcome is Outcome.PASSED:
        return case
    reason = reader.read(result.reason_phrase or result.reason)
    message = reader.read(check.phrase or check.message) or reason
    kind = "failure" if check.outcome is Outcome.FAILED else "error"
    _add(case, kind, check.outcome, message, [check.counterexample, message])
    return case


def _add(case: Element, kind: str, type: str, message: str, text: list[str]) -> None:
    SubElement(case, kind, type=type, message=visible(message)).text = _safe(text) or None


def _safe(texts: list[str]) -> str:
    """Give texts as lines without what XML cannot hold."""
    return "\n".join(line for text in texts if text for line in visible_lines(text))

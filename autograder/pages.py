"""The pages of a class, grades/feedback/<id>.html: made from the reports, and made again where one has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import FILE_NAME, Course
from autograder.language import CATALOGUES, Phrase, said_by, say
from autograder.outputs.html.learner import LearnerPages
from autograder.report import Report, ReportError, from_json, write_whole

FOLDER = "feedback"
PROGRAM = Path(__file__).parent
# What a page says of its own source stands within its first bytes.
HEAD = 1024


@dataclass
class Pages:
    """What was made: how many pages are new or changed, how many stayed, and which reports could not be read."""

    folder: Path
    written: int = 0
    kept: int = 0
    trouble: list[Phrase] = field(default_factory=list)


def make_pages(out: Path, course: Course, languages: Sequence[str]) -> Pages:
    """Make a page for each report in `out`, in all the `languages`; a page whose report is as it was stays as it is.

    A report that cannot be read costs its own page only, and is named.

    Raises:
        ReportError: when there are no reports, or a page cannot be written.

    """
    reports = out / "reports"
    if not reports.is_dir():
        raise ReportError(
            say(
                "{folder}: there is no such folder; grade first, or name the folder above it with --out", folder=reports
            )
        )
    press = _Press(Pages(out / FOLDER), LearnerPages(course, languages), _surroundings(course, languages))
    for path in sorted(reports.glob("*.json")):
        press.bring_up_to_date(path)
    return press.pages


class _Press:
    """Makes the pages of reports, one after the other, and counts them."""

    def __init__(self, pages: Pages, maker: LearnerPages, surroundings: bytes) -> None:
        self.pages = pages
        self._maker = maker
        self._surroundings = surroundings

    def bring_up_to_date(self, path: Path) -> None:
        """Make the page of the report at `path`, unless it is there and was made from the same."""
        page = self.pages.folder / f"{path.name.removesuffix('.json')}.html"
        try:
            data = path.read_bytes()
            source = hashlib.sha256(self._surroundings + data).hexdigest()
            report = None if _made_from(page, source) else from_json(data)
        except ReportError as error:
            self._tell(path, said_by(error))
        except OSError as error:
            self._tell(path, error.strerror)
        else:
            self._make(page, report, source)

    def _tell(self, report: Path, why: Phrase | str | None) -> None:
        self.pages.trouble.append(say("no page of {report}: {why}", report=report, why=why))

    def _make(self, page: Path, report: Report | None, source: str) -> None:
        if report is None:
            self.pages.kept += 1
            return
        # Text that has no UTF-8 form was made visible before; nothing else can fail here.
        write_whole(page, self._maker.page(report, source).encode("utf-8", "backslashreplace"))
        self.pages.written += 1


def _made_from(page: Path, source: str) -> bool:
    try:
        with page.open("rb") as opened:
            return f'content="{source}"'.encode() in opened.read(HEAD)
    except OSError:
        return False


def _surroundings(course: Course, languages: Sequence[str]) -> bytes:
    """Give the digest of everything but the report that a page depends on."""
    digest = hashlib.sha256("\0".join(languages).encode())
    for path in _files(course):
        data = path.read_bytes() if path.is_file() else b""
        digest.update(b"%s\0%d\0" % (path.name.encode(), len(data)))
        digest.update(data)
    return digest.digest()


def _files(course: Course) -> Iterator[Path]:
    yield course.root / FILE_NAME
    for exercise in course.exercises:
        for language in course.languages:
            yield course.contract_of(exercise, language)
            yield course.hints_of(exercise, language)
    for language in course.languages:
        yield from course.catalogues(language)
    yield from sorted(CATALOGUES.rglob("*.po"))
    for suffix in ("*.py", "*.j2", "*.css"):
        yield from sorted((PROGRAM / "outputs").rglob(suffix))

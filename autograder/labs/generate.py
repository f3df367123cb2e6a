"""The notebooks of the labs, from their sources: text with cells (jupytext's py:percent), which diffs well.

`exercises/labs/sources/<language>/<name>.py` becomes `exercises/labs/<language>/<name>.ipynb`, without outputs, and the
pictures that stand in its text come to lie in `figures/` beside it. The same sources always give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

from autograder.labs.errors import LabError
from autograder.language import say

FIGURE = re.compile(r"\(figures/(\w+)\.svg\)")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def write_labs(labs: Path, languages: tuple[str, ...]) -> list[Path]:
    """Make every notebook and every picture below `labs`; nothing is written unless all can be. Gives the files.

    Raises LabError where jupytext is missing, a source cannot be read, or it shows a picture that nobody draws.
    """
    made = {path: text for language in languages for path, text in made_labs(labs, language).items()}
    for path, text in made.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise LabError(say("{path} cannot be written: {why}", path=path, why=error.strerror)) from None
    return list(made)


def made_labs(labs: Path, language: str) -> dict[Path, str]:
    """Give what each file of a language's labs has to hold, notebooks and pictures, by path."""
    sources = sorted((labs / "sources" / language).glob("*.py"))
    if not sources:
        raise LabError(say("{folder} holds no sources of labs", folder=labs / "sources" / language))
    made: dict[Path, str] = {}
    for source in sources:
        text = _read(source)
        made[labs / language / f"{source.stem}.ipynb"] = notebook_text(text)
        for name in FIGURE.findall(text):
            made[labs / language / "figures" / f"{name}.svg"] = _figure(name, language, source)
    return made


def notebook_text(source: str) -> str:
    """Give the notebook that a source makes, as it is written to the disk."""
    try:
        import jupytext
        import nbformat
    except ImportError:
        raise LabError(say("notebooks are made with jupytext; install attention-by-hand[lab]")) from None
    notebook = jupytext.reads(source, fmt="py:percent")
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        cell["id"] = _cell_id(cell, seen)
        cell["metadata"] = {}
    written: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    return written + "\n"


def _cell_id(cell: Any, seen: Counter[str]) -> str:
    """Name a cell by what is in it, so that a new one changes no other's name; a number tells equal ones apart."""
    digest = hashlib.sha256(f"{cell['cell_type']}\n{cell['source']}".encode()).hexdigest()[:12]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _figure(name: str, language: str, source: Path) -> str:
    from autograder.labs.fallbacks import FALLBACKS

    if name not in FALLBACKS:
        known = ", ".join(sorted(FALLBACKS))
        raise LabError(say("{source} shows {name}.svg, which nobody draws; there are: {known}",
                           source=source, name=name, known=known))  # fmt: skip
    return FALLBACKS[name](language).svg + "\n"


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(say("{path} cannot be read: {why}", path=source, why=error)) from None

"""Saved modules: what the system tells of a folder, and which exercises depend on a module that was saved."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType

# In milliseconds. An editor that empties a file and writes it, or renames another over it, is done by then.
QUIET = 30
LONGEST_BURST = 300
STOP_SECONDS = 2.0


class Saves:
    """Tells, from a thread of its own, the names of modules in a folder that were written, renamed or deleted.

    `told` is called in that thread with the names; `failed` with the error where the system cannot watch the folder.
    """

    def __init__(
        self,
        folder: Path,
        names: Collection[str],
        told: Callable[[frozenset[str]], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._folder = folder
        self._files = {f"{name}.py": name for name in names}
        self._told = told
        self._failed = failed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="saves", daemon=True)

    def __enter__(self) -> Saves:
        """Begin to watch."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join(STOP_SECONDS)

    def _watch(self) -> None:
        from watchfiles import watch

        try:
            for changes in watch(
                self._folder,
                watch_filter=lambda change, path: Path(path).name in self._files,
                debounce=LONGEST_BURST,
                step=QUIET,
                stop_event=self._stop,
                recursive=False,
                raise_interrupt=False,
            ):
                self._told(frozenset(self._files[Path(path).name] for _, path in changes))
        except Exception as error:
            self._failed(error)


def dependents(saved: Iterable[str], sources: Mapping[str, bytes]) -> list[str]:
    """Give the modules that were saved or import what was, directly or through another, in the order of `sources`."""
    imported = {name: imports_of(source) for name, source in sources.items()}
    found = set(saved)
    while more := {name for name in sources if name not in found and imported[name] & found}:
        found |= more
    return [name for name in sources if name in found]


def imports_of(source: bytes) -> set[str]:
    """Give the top-level names of what a module imports anywhere; none where it is not Python, as it may be for now."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    plain = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module.partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom) and node.module}

"""The layouts that submissions come in, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.downloads.layouts import canvas, clones, folders, gradescope, moodle, nbgrader, single
from autograder.downloads.layouts.layout import Grouped, Layout
from autograder.downloads.model import SubmissionError
from autograder.downloads.nodes import Node, names_of

# What a platform names is told before what anyone may have named.
PLATFORMS = (gradescope.LAYOUT, nbgrader.LAYOUT, moodle.LAYOUT, canvas.LAYOUT, clones.LAYOUT)
SINGLE, FOLDERS = single.LAYOUT, folders.LAYOUT
LAYOUTS = {layout.name: layout for layout in (FOLDERS, *PLATFORMS, SINGLE)}

DEEPEST_TO_JUDGE = 3

__all__ = ["FOLDERS", "LAYOUTS", "SINGLE", "Grouped", "Layout", "named", "recognised", "top_of"]


def named(text: str) -> tuple[Layout, str]:
    """Give the layout of a name, and what is chosen after a colon; SubmissionError names those that there are."""
    name, _, choice = text.partition(":")
    layout = LAYOUTS.get(name)
    if layout is None:
        raise SubmissionError(f"no layout is named {name!r}; the layouts are: {', '.join(LAYOUTS)}")
    if choice and not layout.chooses:
        raise SubmissionError(f"the layout {name} has nothing to choose; leave out ':{choice}'")
    return layout, choice


def recognised(root: Node, exercises: Sequence[str], *, packed: bool) -> tuple[Layout, Node]:
    """Give the layout of a folder or, with `packed`, of an archive, and the folder that it holds for.

    That is `root` itself or, where it holds nothing but one folder, that folder, as archives and exports have it.
    """
    if SINGLE.recognises(root, exercises):
        return SINGLE, root
    for top in _tops(root):
        for layout in PLATFORMS:
            if layout.recognises(top, exercises):
                return layout, top
    if not packed:
        return FOLDERS, root
    return next(((FOLDERS, top) for top in _tops(root) if _is_class(top, exercises)), (SINGLE, root))


def top_of(layout: Layout, root: Node, exercises: Sequence[str], *, packed: bool) -> Node:
    """Give the folder that a layout which was asked for holds for."""
    if layout is SINGLE or (layout is FOLDERS and not packed):
        return root
    tops = _tops(root)
    found = [top for top in tops if layout.recognises(top, exercises)]
    return found[-1] if layout is FOLDERS and len(tops) > 1 else (found or tops)[0]


def _tops(root: Node) -> list[Node]:
    visible = root.visible()
    return [root, visible[0]] if len(visible) == 1 and visible[0].is_folder else [root]


def _is_class(top: Node, exercises: Sequence[str]) -> bool:
    """Say whether what lies in an archive is a class: several folders hold the same exercise, or all are archives.

    One submission has a module once, in whatever folder it lies.
    """
    visible = top.visible()
    if len(visible) > 1 and all(node.is_archive for node in visible):
        return True
    held = [_modules_in(node, exercises) for node in visible if node.is_folder]
    return any(sum(exercise in modules for modules in held) > 1 for exercise in exercises)


def _modules_in(folder: Node, exercises: Sequence[str], depth: int = 0) -> set[str]:
    """Give the exercises that have a module in a folder, not looking deeper than people nest them."""
    visible = folder.visible()
    found = {exercise for exercise in exercises if names_of([exercise]).intersection(child.name for child in visible)}
    if depth < DEEPEST_TO_JUDGE:
        found = found.union(*(_modules_in(child, exercises, depth + 1) for child in visible if child.is_folder))
    return found

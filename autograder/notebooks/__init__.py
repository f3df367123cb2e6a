"""Exercises in Jupyter notebooks: read as modules, written as nbgrader's source, graded in nbgrader.

Exceptions:
    NotebookError   a file that is no notebook, or one that must not be written; one line that says why
"""

from __future__ import annotations


class NotebookError(Exception):
    """Why a notebook cannot be read or written; where one is read, the sentence goes on after the file's name."""

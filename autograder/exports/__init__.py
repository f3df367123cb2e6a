"""The marks of a class in the forms that other programs read: `attend export GRADES --to NAME`, one module for each.

Everything is made from the reports in GRADES/reports. A submission that was not graded has no mark in any form, not
even zero. A mark is that of the core exercises; what a bonus earned is added with `--with-bonus`, and else only told
apart. Marks have at most two decimals, halves rounded up, which is what the platforms themselves show.

Exceptions:
    ExportError     a form that cannot be made: one line that names the file or column, and says what to do
"""

from __future__ import annotations


class ExportError(Exception):
    """A form that cannot be made: one line that names the file or column and says what to do."""

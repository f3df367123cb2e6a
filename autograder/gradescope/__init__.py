"""An autograder for Gradescope: the archive that an instructor uploads, and what runs there.

archive     `attend gradescope DEST.zip`: this copy of the kit, the course, and the two programs that Gradescope calls
programs/   setup.sh and run_autograder, as they lie at the root of the archive
run         called for each submission: starts `mark`, waits no longer than it may, and writes results.json
mark        grades the submission in a process of its own, and leaves a report
settings    what the instructor chose when the archive was made

Gradescope calls as root. results.json is there from the first moment, says that nothing was graded, and is replaced
when a report is there: whatever happens in between ends without a mark, never with a zero.

Exceptions:
    ArchiveError    an archive that cannot be made: one line that says what to do
"""

from __future__ import annotations


class ArchiveError(Exception):
    """An archive that cannot be made: one line that says what to do."""

"""Where PostgreSQL's server is: Debian keeps it off the PATH."""

import shutil
from pathlib import Path

FOUND = [Path(found).parent for found in [shutil.which("initdb")] if found]
FOUND += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
BINARIES = FOUND[0] if FOUND else None

"""nbgrader's `Gradebook`, whose methods commit as they go, inside transactions that are ours to end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.script import ScriptDirectory
from nbgrader.api import Base, Course, Gradebook, InvalidEntry
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import URL, Connection, Engine, create_engine, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from autograder.gradebook import GradebookError

FILE_NAME = "gradebook.db"
LOCK_SECONDS = 10
WRITERS_LOCK = int.from_bytes(b"attend")
VERSION_TABLE = "alembic_version"


def file_url(path: Path) -> str:
    """Give the URL of a gradebook in a file."""
    return URL.create("sqlite", database=path.absolute().as_posix()).render_as_string()


class Book:
    """A gradebook that is open; whatever is done within one `transaction` is there as a whole or not at all."""

    def __init__(self, target: URL, course: str) -> None:
        self._gradebook = Gradebook(target, course_id=course)
        self._engine: Engine = self._gradebook.engine
        self.place = _shown(target)

    @contextmanager
    def transaction(self) -> Iterator[Gradebook]:
        """Lend nbgrader's gradebook: its commits only take effect when the block ends without an error."""
        session = self._gradebook.db
        with self._engine.connect() as connection:
            _begin(connection)
            session.remove()
            session.configure(
                bind=connection, join_transaction_mode="rollback_only", expire_on_commit=False, autoflush=False
            )
            try:
                yield self._gradebook
                session.commit()
                connection.commit()
            finally:
                session.remove()

    def close(self) -> None:
        """Let go of the database."""
        self._gradebook.close()


@contextmanager
def opened(url: str, course: str) -> Iterator[Book]:
    """Open the gradebook at `url`, made where there is none; GradebookError for whatever a database says no to."""
    target = _target(url)
    with _told_in_one_line(target):
        _prepare(target, course)
        book = Book(target, course)
        try:
            yield book
        finally:
            book.close()


def _target(url: str) -> URL:
    """Read a URL; plain postgresql:// means the driver that this kit installs, whatever SQLAlchemy's default is."""
    try:
        target = make_url(url)
    except ArgumentError:
        raise GradebookError(
            "--db is no address of a database; write postgresql://user@host/name or sqlite:///folder/gradebook.db"
        ) from None
    if target.drivername == "postgresql":
        target = target.set(drivername="postgresql+psycopg")
    if target.get_backend_name() == "postgresql" and "connect_timeout" not in target.query:
        target = target.update_query_dict({"connect_timeout": str(LOCK_SECONDS)})
    return target


def _prepare(target: URL, course: str) -> None:
    """Make nbgrader's tables in an empty database, and the course; refuse one of another program or nbgrader.

    nbgrader would make them too, but not in one transaction, and by a command that has to be on the PATH.
    """
    _make_folder(target)
    engine = create_engine(target)
    try:
        with engine.connect() as connection:
            _begin(connection)
            tables = set(inspect(connection).get_table_names())
            if not tables:
                _make_tables(connection)
            else:
                _insist_on_nbgrader(connection, tables, _shown(target))
            if connection.execute(select(Course.id).where(Course.id == course)).first() is None:
                connection.execute(insert(Course).values(id=course))
            connection.commit()
    finally:
        engine.dispose()


def _make_folder(target: URL) -> None:
    if target.get_backend_name() != "sqlite" or not target.database:
        return
    try:
        Path(target.database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradebookError(f"{_shown(target)}: its folder cannot be made: {error.strerror}") from None


def _make_tables(connection: Connection) -> None:
    Base.metadata.create_all(connection)
    connection.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL)"))
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:version)"), {"version": _version_of_nbgrader()})


def _insist_on_nbgrader(connection: Connection, tables: set[str], shown: str) -> None:
    if missing := set(Base.metadata.tables) - tables:
        raise GradebookError(
            f"{shown}: not a gradebook of nbgrader (there is no table {min(missing)}); name an empty database, or one "
            "that nbgrader made"
        )
    found = (
        connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        if VERSION_TABLE in tables
        else None
    )
    if found != _version_of_nbgrader():
        raise GradebookError(
            f"{shown}: made by another version of nbgrader; make a copy of it, then bring it up to date "
            "with: nbgrader db upgrade"
        )


def _version_of_nbgrader() -> str | None:
    return ScriptDirectory(ALEMBIC_DIR).get_current_head()


def _begin(connection: Connection) -> None:
    """Begin a transaction that waits for others now, not in the middle of the work."""
    match connection.dialect.name:
        case "sqlite":
            # Python's driver begins none for the statements that make tables, and a late one for all others.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        case "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            # One of us at a time, so that two that begin together do not both make the same cell.
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")


@contextmanager
def _told_in_one_line(target: URL) -> Iterator[None]:
    nbgrader_log = logging.getLogger("tornado.application")
    nbgrader_log.addFilter(_silence)
    try:
        yield
    except ModuleNotFoundError as error:
        raise GradebookError(f"{_shown(target)}: there is no Python package {error.name}; install it") from None
    except NoSuchModuleError:
        raise GradebookError(
            f"{_shown(target)}: databases of this kind are not known; use postgresql or sqlite"
        ) from None
    except (SQLAlchemyError, InvalidEntry) as error:
        raise GradebookError(f"{_shown(target)}: {_advice(_first_line(error))}") from error
    finally:
        nbgrader_log.removeFilter(_silence)


def _silence(_: logging.LogRecord) -> bool:
    """Keep the traceback that nbgrader logs off the terminal: the error reaches us as well."""
    return False


def _shown(target: URL) -> str:
    if target.get_backend_name() == "sqlite":
        return target.database or "a gradebook in memory"
    return target.difference_update_query(["connect_timeout"]).render_as_string(hide_password=True)


def _first_line(error: Exception) -> str:
    said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return said.strip().partition("\n")[0]


def _advice(said: str) -> str:
    if "database is locked" in said or "lock timeout" in said:
        return f"another program is writing to it ({said}); let that end, then run: attend gradebook"
    return f"{said}; the reports are whole: mend this, then run: attend gradebook"

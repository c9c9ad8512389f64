"""A reader of sessions: docs/formats/session.md."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

_VERSIONS = range(1, 5)


class SessionError(Exception):
    """A session that cannot be read."""


@dataclass(frozen=True, slots=True)
class Track:
    """A track, as its first segment describes it."""

    number: int
    codec: str
    width: int
    height: int
    pixel_format: str
    rotation: int
    """Degrees clockwise that a viewer applies."""
    time_base: Fraction
    """Seconds: the unit of `SessionFrame.pts`."""
    frames: int
    """How many frames the track has, those without pixels included."""


@dataclass(frozen=True, slots=True)
class SessionFrame:
    """A row of the table of frames."""

    track: int
    sequence: int
    pts: int | None
    """Presentation time in the track's time base, as the file says it."""
    pts_ns: int
    arrival_ns: int
    """When the recorder got the frame."""
    packet: int | None
    """The index of the packet that holds it; `None` if its pixels were not stored."""
    entry: int | None
    pixel_hash: str | None
    """XXH3-128 of its visible bytes, in hexadecimal."""
    cause: str | None
    """Why it cannot be replayed; `None` for a good frame."""
    assumed: int
    shown: int
    """Which image of its packet it is, from 0."""

    @property
    def is_replayable(self) -> bool:
        return self.packet is not None and self.cause is None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to the device, the source or the recorder, or what an app noted."""

    ordinal: int
    time_ns: int
    track: int | None
    source: str
    kind: str
    content: dict[str, Any]


class Session:
    """The index of a closed session. Nothing is written, and no pixels are decoded.

    ::

        with retake.Session("Recordings/yard") as session:
            for frame in session.frames():
                print(frame.sequence, frame.pts_ns, frame.is_replayable)

    Args:
        path: The session's folder.

    Raises:
        SessionError: There is no session, it is not closed, or it is of a later version.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        folder = Path(path)
        file = folder / "session.sqlite"
        if not file.is_file():
            raise SessionError(f"{folder} is not a session: it has no session.sqlite")
        for suffix in ("-wal", "-journal"):
            if (folder / f"session.sqlite{suffix}").exists():
                raise SessionError(
                    f"{folder} is being recorded, or its recorder was killed; make a copy with "
                    "'retake session snapshot', or close it with 'retake session recover'"
                )
        self.name = folder.absolute().name
        self._database = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True
        )
        try:
            self._open(folder)
        except BaseException:
            self._database.close()
            raise

    def _open(self, folder: Path) -> None:
        try:
            # The session may be another person's.
            self._database.execute("PRAGMA trusted_schema = OFF")
            self._database.execute("PRAGMA cell_size_check = ON")
            (self.version,) = self._database.execute("PRAGMA user_version").fetchone()
            if self.version not in _VERSIONS:
                raise SessionError(
                    f"{folder} has the version {self.version}; this reader knows "
                    f"{_VERSIONS[0]} to {_VERSIONS[-1]}"
                )
            self.meta: dict[str, str] = dict(self._database.execute("SELECT key, value FROM meta"))
        except sqlite3.Error as error:
            raise SessionError(f"{folder}: {error}") from None
        if self.meta.get("closed") != "1":
            raise SessionError(f"{folder} is not closed; type 'retake session recover'")

    @property
    def status(self) -> str:
        """`clean`, `lossy` or `recovered`."""
        return self.meta.get("status", "")

    @property
    def tracks(self) -> list[Track]:
        """All tracks, by their numbers."""
        rows = self._rows(
            """
            SELECT t.track, t.codec, t.width, t.height, t.pixel_format, t.rotation,
              t.time_base_numerator, t.time_base_denominator,
              (SELECT count(*) FROM frame f WHERE f.track = t.track)
            FROM segment_track t
            WHERE t.segment = (SELECT min(segment) FROM segment_track s WHERE s.track = t.track)
            ORDER BY t.track
            """
        )
        try:
            return [
                Track(*row[:6], time_base=Fraction(row[6], row[7]), frames=row[8]) for row in rows
            ]
        except ZeroDivisionError:
            raise SessionError(f"the session {self.name} has a time base of 0") from None

    def frames(self, track: int | None = None) -> Iterator[SessionFrame]:
        """All frames by track and sequence, or those of one track."""
        for row in self._rows(
            f"""
            SELECT {self._columns}, {self._shown}
            FROM frame WHERE ?1 IS NULL OR track = ?1 ORDER BY track, sequence
            """,
            (track,),
        ):
            yield _frame(row)

    def frame(self, track: int, sequence: int) -> SessionFrame:
        """One frame.

        Raises:
            KeyError: There is no such frame.
        """
        # Of an earlier version, the rank needs the other frames of the packet.
        for row in self._rows(
            f"""
            SELECT * FROM (SELECT {self._columns}, {self._shown} FROM frame WHERE track = ?1)
            WHERE sequence = ?2
            """,
            (track, sequence),
        ):
            return _frame(row)
        raise KeyError(f"the session {self.name} has no frame {track}:{sequence}")

    def events(self) -> Iterator[Event]:
        """All events, in their order."""
        for *columns, content in self._rows(
            "SELECT ordinal, time_ns, track, source, kind, json FROM event ORDER BY ordinal"
        ):
            try:
                yield Event(*columns, json.loads(content))
            except ValueError:
                raise SessionError(
                    f"the event {columns[0]} of the session {self.name} is not JSON"
                ) from None

    _columns = (
        "track, sequence, pts, pts_ns, arrival_ns, packet, entry, pixel_hash, cause, assumed"
    )

    @property
    def _shown(self) -> str:
        if self.version >= 3:
            return "shown"
        return (
            "CASE WHEN packet IS NULL THEN 0 ELSE "
            "row_number() OVER (PARTITION BY track, packet ORDER BY sequence) - 1 END AS shown"
        )

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise SessionError(f"the session {self.name} cannot be read: {error}") from None

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _frame(row: tuple[Any, ...]) -> SessionFrame:
    return SessionFrame(*row[:7], row[7].hex() if row[7] is not None else None, *row[8:])

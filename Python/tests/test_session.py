"""The reader of sessions."""

import sqlite3
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

import support

import retake

RECORDINGS = support.REPOSITORY / "Recordings"

SCHEMA = """
PRAGMA user_version = 3;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE segment_track (
  segment INTEGER, track INTEGER, codec TEXT, width INTEGER, height INTEGER, pixel_format TEXT,
  rotation INTEGER, time_base_numerator INTEGER, time_base_denominator INTEGER);
CREATE TABLE frame (
  track INTEGER, sequence INTEGER, pts INTEGER, pts_ns INTEGER, arrival_ns INTEGER, packet INTEGER,
  entry INTEGER, pixel_hash BLOB, cause TEXT, assumed INTEGER, shown INTEGER);
CREATE TABLE event (
  ordinal INTEGER, time_ns INTEGER, track INTEGER, source TEXT, kind TEXT, json TEXT);
INSERT INTO meta VALUES ('closed', '1'), ('status', 'lossy');
INSERT INTO segment_track VALUES
  (1, 2, 'h264', 10, 20, 'yuv420p', 90, 1, 90000), (0, 2, 'mjpeg', 30, 40, 'yuv420p', 0, 1, 30),
  (0, 0, 'ffv1', 5, 6, 'gray', 0, 1, 1000);
INSERT INTO frame VALUES
  (2, 0, 0, -5, 7, 0, 0, x'00112233445566778899aabbccddeeff', NULL, 4, 0),
  (2, 1, NULL, 5, 9, 0, 0, NULL, NULL, 0, 1), (2, 2, 2, 6, 9, NULL, NULL, NULL,
  'record.shed.disk', 0, 0), (2, 3, 2, 6, 9, NULL, NULL, NULL, 'record.shed.disk', 0, 0),
  (0, 0, 0, 0, 0, 1, 1, NULL, 'media.decode.damaged', 0, 0);
INSERT INTO event VALUES
  (1, 8, 2, 'app', 'note', '{"a":[1]}'), (0, 9, NULL, 'device', 'thermal', '{"state":"fair"}');
"""


class SessionTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / "a session? #1"
        self.folder.mkdir()

    def make(self, *changes):
        file = self.folder / "session.sqlite"
        file.unlink(missing_ok=True)
        database = sqlite3.connect(file)
        database.executescript(SCHEMA + "".join(f"{change};" for change in changes))
        database.close()

    def opened(self, *changes):
        self.make(*changes)
        session = retake.Session(self.folder)
        self.addCleanup(session.close)
        return session

    def refused(self):
        with self.assertRaises(retake.SessionError) as caught:
            retake.Session(self.folder)
        return str(caught.exception)

    def test_the_facts(self):
        session = self.opened()
        self.assertEqual((session.name, session.version), ("a session? #1", 3))
        self.assertEqual((session.status, session.meta["closed"]), ("lossy", "1"))

    def test_the_tracks_are_those_of_their_first_segments(self):
        small, large = self.opened().tracks
        self.assertEqual((small.number, small.frames, small.pixel_format), (0, 1, "gray"))
        self.assertEqual((large.number, large.codec, large.frames), (2, "mjpeg", 4))
        self.assertEqual((large.width, large.height, large.rotation), (30, 40, 0))
        self.assertEqual(large.time_base, Fraction(1, 30))

    def test_the_frames_in_their_order(self):
        session = self.opened()
        frames = list(session.frames())
        self.assertEqual(
            [(f.track, f.sequence) for f in frames], [(0, 0), (2, 0), (2, 1), (2, 2), (2, 3)]
        )
        self.assertEqual([f.is_replayable for f in frames], [False, True, True, False, False])
        self.assertEqual(list(session.frames(2)), frames[1:])
        self.assertEqual(list(session.frames(1)), [])
        first = frames[1]
        self.assertEqual((first.pts, first.pts_ns, first.arrival_ns, first.assumed), (0, -5, 7, 4))
        self.assertEqual(first.pixel_hash, "00112233445566778899aabbccddeeff")
        self.assertEqual((frames[2].pts, frames[2].shown), (None, 1))
        self.assertEqual((frames[3].packet, frames[3].cause), (None, "record.shed.disk"))

    def test_one_frame(self):
        session = self.opened()
        self.assertEqual(session.frame(2, 1), list(session.frames(2))[1])
        with self.assertRaisesRegex(KeyError, "no frame 2:9"):
            session.frame(2, 9)

    def test_earlier_versions_have_the_same_ranks(self):
        expected = list(self.opened().frames())
        for version in (1, 2):
            session = self.opened(
                f"PRAGMA user_version = {version}", "ALTER TABLE frame DROP COLUMN shown"
            )
            self.assertEqual(list(session.frames()), expected)
            self.assertEqual(session.frame(2, 1), expected[2])

    def test_the_events_in_their_order(self):
        thermal, note = self.opened().events()
        self.assertEqual((thermal.source, thermal.kind, thermal.track), ("device", "thermal", None))
        self.assertEqual(thermal.content, {"state": "fair"})
        self.assertEqual((note.time_ns, note.track, note.content), (8, 2, {"a": [1]}))

    def test_the_recordings_of_the_repository(self):
        folders = sorted(f.parent for f in RECORDINGS.glob("*/session.sqlite"))
        self.assertGreater(len(folders), 2)
        for folder in folders:
            with self.subTest(folder.name), retake.Session(folder) as session:
                frames = list(session.frames())
                self.assertEqual(len(frames), sum(track.frames for track in session.tracks))
                self.assertTrue(all(frame.is_replayable for frame in frames))
                self.assertEqual(session.frame(0, 26), frames[26])

    def test_reading_writes_nothing(self):
        before = sorted(self.folder.iterdir())
        session = self.opened()
        list(session.frames())
        self.assertEqual([f.name for f in sorted(self.folder.iterdir())], ["session.sqlite"])
        self.assertEqual(before, [])
        with self.assertRaises(sqlite3.OperationalError):
            session._database.execute("DELETE FROM frame")

    def test_sessions_that_are_not_closed_or_not_known(self):
        self.assertIn("is not a session", self.refused())
        for change, message in [
            ("UPDATE meta SET value = '0' WHERE key = 'closed'", "is not closed"),
            ("DELETE FROM meta", "is not closed"),
            ("DROP TABLE meta", "no such table"),
            ("PRAGMA user_version = 5", "has the version 5; this reader knows 1 to 4"),
            ("PRAGMA user_version = 0", "has the version 0"),
        ]:
            with self.subTest(message):
                self.make(change)
                self.assertIn(message, self.refused())
        self.make()
        for suffix in ["-wal", "-journal"]:
            log = self.folder / f"session.sqlite{suffix}"
            log.touch()
            self.assertIn("being recorded", self.refused())
            log.unlink()
        (self.folder / "session.sqlite").write_text("no database" * 1_000)
        self.assertIn("not a database", self.refused())

    def test_rows_that_cannot_be_read(self):
        for change, read in [
            ("DROP TABLE frame", lambda s: list(s.frames())),
            ("DROP TABLE segment_track", lambda s: s.tracks),
            ("UPDATE event SET json = '{'", lambda s: list(s.events())),
            ("UPDATE segment_track SET time_base_denominator = 0", lambda s: s.tracks),
        ]:
            with self.subTest(change), self.assertRaises(retake.SessionError):
                read(self.opened(change))


if __name__ == "__main__":
    unittest.main()

"""Pipelines that run: with libretake, which `make libretake` builds."""

import os
import threading
import unittest
import unittest.mock

import support

import retake

LIBRARY = support.REPOSITORY / ".build/libretake/libretake.so"
os.environ.setdefault("RETAKE_LIBRARY", str(LIBRARY))
HAS_LIBRARY = os.path.isfile(os.environ["RETAKE_LIBRARY"])
NO_LIBRARY = "libretake is not built: make libretake"
SESSION = support.REPOSITORY / "Recordings/figures"
GREY = {"format": "GRAY8", "width": 32, "height": 16}


class Reader:
    """Keeps results, and waits for them."""

    def __init__(self) -> None:
        self.frames: list[retake.FrameResult] = []
        self.arrived = threading.Condition()

    def __call__(self, frame: retake.FrameResult) -> None:
        with self.arrived:
            self.frames.append(frame)
            self.arrived.notify_all()

    def wait(self, count: int) -> None:
        with self.arrived:
            ok = self.arrived.wait_for(
                lambda: len(self.frames) >= count, timeout=support.LIMIT_SECONDS
            )
        assert ok, "no result came"


@unittest.skipUnless(HAS_LIBRARY, NO_LIBRARY)
class Listening(unittest.TestCase):
    def test_results_of_pushed_frames_arrive(self) -> None:
        reader = Reader()
        pipeline = retake.source().luminance()
        with pipeline.listen(reader, **GREY) as live:
            for number in range(4):
                self.assertEqual(live.push(bytes([50 * number]) * 512, pts_ns=number), number)
                reader.wait(number + 1)
            counts = live.stop()
        self.assertEqual((counts.captured, counts.delivered, counts.in_flight), (4, 4, 0))
        means = [
            scalar.value
            for frame in reader.frames
            for scalar in frame.sinks["results"].scalars
            if scalar.name == "mean"
        ]
        self.assertEqual(means, [0, 50, 100, 150])
        self.assertEqual([frame.pts for frame in reader.frames], [0, 1, 2, 3])

    def test_what_the_listener_raises_is_raised_once(self) -> None:
        called = threading.Event()

        def fail(frame: retake.FrameResult) -> None:
            called.set()
            raise KeyError("mine")

        live = retake.source().luminance().listen(fail, **GREY)
        live.push(bytes(512), pts_ns=0)
        self.assertTrue(called.wait(support.LIMIT_SECONDS))
        with self.assertRaises(KeyError):
            live.stop()
        live.close()
        live.close()

    def test_events_and_swaps(self) -> None:
        reader = Reader()
        with retake.source().motion().listen(reader, **GREY) as live:
            live.push(bytes(512), pts_ns=0)
            live.device("thermal", state="serious")
            live.source_lost("unplugged")
            live.swap("motion", threshold=60)
            with self.assertRaises(retake.LibraryError) as refused:
                live.swap("motion", treshold=60)
            self.assertIn("threshold", refused.exception.advice)
            with self.assertRaises(retake.LibraryError):
                live.device("thermal", state="lukewarm")
            self.assertEqual(live.counts.lost_before_capture, 0)

    def test_a_swap_before_the_first_frame_waits_for_it(self) -> None:
        with retake.source().motion().listen(Reader(), **GREY) as live:
            with self.assertRaises(TimeoutError):
                live.swap("motion", timeout_seconds=0.01, threshold=60)

    def test_misuse_is_an_error(self) -> None:
        live = retake.source().luminance().listen(Reader(), **GREY)
        for wrong in (
            lambda: live.push(bytes(511), pts_ns=0),
            lambda: live.push(bytes(512), pts_ns=0, track=3),
            lambda: live.push(bytes(512), pts_ns=0, range="wide"),
        ):
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaisesRegex(ValueError, "has 512 bytes, not 511; a sample has one byte"):
            live.push(bytes(511), pts_ns=0)
        with self.assertRaises(retake.LibraryError):
            live.push(bytes(512), pts_ns=2**63 - 1)
        with self.assertRaises(retake.LibraryError):
            live.push(bytes(512), pts_ns=0, rotation=7)
        live.stop()
        with self.assertRaises(retake.LibraryError) as stopped:
            live.push(bytes(512), pts_ns=0)
        self.assertEqual(stopped.exception.status, "RETAKE_ERROR_STOPPED")
        live.close()
        with self.assertRaises(retake.LibraryError) as destroyed:
            live.stop()
        self.assertEqual(destroyed.exception.status, "RETAKE_ERROR_HANDLE")

    def test_a_document_error_has_its_place(self) -> None:
        with self.assertRaises(retake.LibraryError) as wrong:
            retake.source().stage("gray").listen(Reader(), **GREY)
        self.assertEqual(wrong.exception.code, "graph.pipeline.unknownKind")
        self.assertEqual(wrong.exception.pointer, "/nodes/1/kind")
        self.assertIn("grey", wrong.exception.advice)
        with self.assertRaises(ValueError):
            retake.source().gray().listen(Reader(), format="YV12")

    def test_a_pipeline_that_is_forgotten_ends(self) -> None:
        import gc

        live = retake.source().luminance().listen(Reader(), **GREY)
        live.push(bytes(512), pts_ns=0)
        finalizer = live._finalizer
        del live
        gc.collect()
        self.assertFalse(finalizer.alive)


@unittest.skipUnless(HAS_LIBRARY, NO_LIBRARY)
class Replaying(unittest.TestCase):
    PIPELINE = retake.source().gray().motion()

    def test_each_run_has_the_same_digests(self) -> None:
        frames: list[retake.FrameResult] = []
        one = self.PIPELINE.replay(SESSION, frames.append)
        two = self.PIPELINE.replay(SESSION, workers=1)
        self.assertEqual(one, two)
        self.assertEqual(len(frames), one.counts.captured)
        self.assertEqual(one.document_digest, self.PIPELINE.digest())
        self.assertTrue(any(frame.sinks["results"].detections for frame in frames))

    def test_what_the_listener_raises_ends_the_replay(self) -> None:
        seen: list[int] = []

        def stop_at_five(frame: retake.FrameResult) -> None:
            seen.append(frame.sequence)
            if frame.sequence == 5:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.PIPELINE.replay(SESSION, stop_at_five)
        self.assertEqual(seen, list(range(6)))

    def test_a_session_that_is_not_there(self) -> None:
        with self.assertRaises(retake.LibraryError) as missing:
            self.PIPELINE.replay("nowhere")
        self.assertEqual(missing.exception.status, "RETAKE_ERROR_SESSION")


class Finding(unittest.TestCase):
    def test_a_library_that_is_not_there_says_what_to_type(self) -> None:
        from retake import _library

        before = os.environ["RETAKE_LIBRARY"]
        os.environ["RETAKE_LIBRARY"] = "/nowhere/libretake.so"
        try:
            with self.assertRaises(retake.LibraryError) as missing:
                _library.library.__wrapped__()
        finally:
            os.environ["RETAKE_LIBRARY"] = before
        self.assertIn("RETAKE_LIBRARY=/nowhere/libretake.so", str(missing.exception))

    def message(self, named: str | None) -> str:
        """Of the error if the variable has that value, on a machine without libretake."""
        from retake import _library

        variables = {"RETAKE_LIBRARY": named} if named is not None else {}
        with (
            unittest.mock.patch.dict(os.environ, variables),
            unittest.mock.patch.object(_library, "_NAMES", ("libretake-of-nobody.so",)),
            self.assertRaises(retake.LibraryError) as missing,
        ):
            if named is None:
                del os.environ["RETAKE_LIBRARY"]
            _library.library.__wrapped__()
        return str(missing.exception)

    def test_an_empty_variable_is_one_that_is_not_set(self) -> None:
        self.assertIn("type 'make libretake'", self.message(None))
        self.assertEqual(self.message(""), self.message(None))

    def test_another_library_is_named(self) -> None:
        import _ctypes

        if not (other := getattr(_ctypes, "__file__", None)):
            self.skipTest("this Python has no module in a file of its own")
        self.assertIn(f"RETAKE_LIBRARY={other}: ", self.message(other))
        self.assertIn("is another library", self.message(other))


if __name__ == "__main__":
    unittest.main()

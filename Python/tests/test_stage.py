"""A stage in this process, and a host that says what it must and what it must not."""

import contextlib
import io
import unittest

import support
from support import Served, served

import retake


@retake.stage(output="detections", formats=["GRAY8"], class_names=["dark", "bright"], version=3)
def corner(frame):
    first = frame.planes[0].data[0]
    if first == 0:
        return []
    return [retake.Detection((0, 0.5, 1, 1), first / 255, label="bright", identity=7)]


@retake.stage(output="scalars", state="stateful", name="count")
class Counter:
    def __init__(self, options):
        self.step = options.get("step", 1)
        self.count = 0

    def reset(self):
        self.count = 0

    def process(self, frame):
        self.count += self.step
        return {"frames": self.count, "sequence": frame.sequence}


def returning(value, output="detections", **keys):
    """A stage that returns the value, or raises it."""

    @retake.stage(output=output, **keys)
    def stage(frame):
        if isinstance(value, BaseException):
            raise value
        return value

    return stage


def box(*sides, score=0.5, **keys):
    return retake.Detection(sides or (1, 2, 3, 4), score, **keys)


@retake.stage(output="scalars", formats=["GRAY8"])
class Means:
    """Computes batches, and says how many frames each call had."""

    def process(self, frame):
        return self._means([frame])[0]

    def batch(self, frames):
        values = self._means(frames)
        if values[0]["first"] == 3:
            raise RuntimeError("a batch cannot begin with 3")
        return values[1:] if values[0]["first"] == 4 else values

    @staticmethod
    def _means(frames):
        return [{"first": f.planes[0].row(0)[0], "frames": len(frames)} for f in frames]


class BatchTests(unittest.TestCase):
    def answers(self, *firsts):
        """The replies to a batch of frames that begin with these bytes, after an earlier frame."""
        with served(Means, slots=2) as host:
            self.assertIs(host.greet(output="scalars")["batch"], True)
            self.assertEqual(host.ask(bytes(4))["value"]["scalars"][1]["value"], 1)
            for index, first in enumerate(firsts):
                host.show(bytes([first] * 4), index, slot=index, batch=len(firsts) - index)
            return [host.receive() for _ in firsts]

    def values(self, *firsts):
        return [
            [scalar["value"] for scalar in answer["value"]["scalars"]]
            for answer in self.answers(*firsts)
        ]

    def test_the_frames_of_a_batch_are_computed_in_one_call(self):
        self.assertEqual([answer["sequence"] for answer in self.answers(7, 9)], [0, 1])
        self.assertEqual(self.values(7, 9), [[7, 2], [9, 2]])

    def test_a_batch_that_fails_is_computed_one_by_one(self):
        self.assertEqual(self.values(3, 9), [[3, 1], [9, 1]])

    def test_a_value_is_missing(self):
        for answer in self.answers(4, 9):
            self.assertEqual(answer["error"]["code"], "python.value")
            self.assertIn("returned 1 values for 2 frames", answer["error"]["message"])
            self.assertEqual(answer["error"]["severity"], "unrecoverable")

    def test_a_stage_with_memory_and_a_function_have_no_batches(self):
        @retake.stage(output="scalars", state="stateful")
        class Remembers(Counter):
            def batch(self, frames):
                return []

        for stage in (Remembers, returning([])):
            with served(stage) as host:
                output = "scalars" if stage is Remembers else "detections"
                self.assertNotIn("batch", host.greet(output=output))


class ReadyTests(unittest.TestCase):
    def test_ready_says_what_the_decorator_says(self):
        with served(corner) as host:
            self.assertEqual(
                host.greet(),
                {
                    "v": 1,
                    "name": "corner",
                    "version": 3,
                    "output": "detections",
                    "state": "pure",
                    "formats": ["GRAY8"],
                    "classNames": ["dark", "bright"],
                    "fingerprint": "",
                },
            )

    def test_a_class_may_take_names_and_fingerprint_from_its_options(self):
        @retake.stage(output="detections")
        class Model:
            def __init__(self, options):
                self.class_names = options["names"]
                self.fingerprint = "sha256:" + options["model"]

            def process(self, frame):
                return [box(label="b")]

        with served(Model) as host:
            ready = host.greet(options={"names": ["a", "b"], "model": "12"})
            self.assertEqual(ready["classNames"], ["a", "b"])
            self.assertEqual(ready["fingerprint"], "sha256:12")
            self.assertEqual(host.ask()["value"]["detections"][0]["class"], 1)

    def test_a_newer_host_is_answered_with_version_1(self):
        with served(corner) as host:
            self.assertEqual(host.greet(v=2, clock="virtual", later={})["v"], 1)

    def test_a_decorated_function_is_still_that_function(self):
        self.assertEqual(returning(5)(None), 5)


class ReplyTests(unittest.TestCase):
    def reply(self, value, output="detections", **keys):
        with served(returning(value, output, **keys)) as host:
            host.greet(output=output)
            return host.ask()

    def value(self, value, output="detections", **keys):
        reply = self.reply(value, output, **keys)
        self.assertEqual(reply["sequence"], 0)
        self.assertEqual(list(reply["value"]), [output])
        return reply["value"][output]

    def error(self, value, output="detections", **keys):
        reply = self.reply(value, output, **keys)
        self.assertEqual(sorted(reply), ["error", "sequence"])
        return reply["error"]

    def test_detections(self):
        with served(corner) as host:
            host.greet()
            self.assertEqual(host.ask(), {"sequence": 0, "value": {"detections": []}})
            self.assertEqual(
                host.ask(b"\xff\0\0\0", 1)["value"]["detections"],
                [{"box": [0, 0.5, 1, 1], "score": 1, "class": 1, "identity": 7}],
            )

    def test_classes_of_a_detection(self):
        labels = (retake.Label("cat", 0.75), retake.Label("dog", 0.25))
        self.assertEqual(
            self.value([box(labels=labels)])[0]["classes"],
            [{"label": "cat", "score": 0.75}, {"label": "dog", "score": 0.25}],
        )

    def test_classes(self):
        self.assertEqual(
            self.value([retake.Label("Kätzchen", 1)], "classes"),
            [{"label": "Kätzchen", "score": 1}],
        )

    def test_scalars_as_a_dict_and_as_a_list_keep_their_order(self):
        expected = [{"name": "b", "value": 2.5}, {"name": "a", "value": 1}]
        self.assertEqual(self.value({"b": 2.5, "a": 1}, "scalars"), expected)
        scalars = [retake.Scalar("b", 2.5), retake.Scalar("a", 1)]
        self.assertEqual(self.value(scalars, "scalars"), expected)

    def test_a_generator_is_a_list(self):
        @retake.stage(output="detections")
        def two(frame):
            yield box()
            yield box()

        with served(two) as host:
            host.greet()
            self.assertEqual(len(host.ask()["value"]["detections"]), 2)

    def test_numbers_arrive_with_all_their_bits(self):
        numbers = {"a": 0.1, "b": 1e-300, "c": 2**53 - 1, "d": 1 / 3}
        found = {e["name"]: e["value"] for e in self.value(numbers, "scalars")}
        self.assertEqual(found, numbers)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_numbers_of_numpy(self):
        import numpy

        sides = numpy.array([1, 2, 3, 4], numpy.float32)
        found = box(*sides, score=numpy.float32(0.5), class_index=numpy.int64(2))
        self.assertEqual(self.value([found]), [{"box": [1, 2, 3, 4], "score": 0.5, "class": 2}])
        whole = retake.Detection(sides, numpy.float64(0.5))
        self.assertEqual(self.value([whole])[0]["box"], [1, 2, 3, 4])

    def test_an_item_is_repeated(self):
        with served(corner) as host:
            host.greet()
            self.assertEqual(host.ask(sequence=4, item=3)["item"], 3)
            self.assertNotIn("item", host.ask(sequence=5))

    def test_frames_in_several_slots_are_answered_in_their_order(self):
        with served(corner, slots=3) as host:
            host.greet()
            for index in range(3):
                host.show(bytes([index, 0, 0, 0]), index, slot=index)
            replies = [host.receive() for _ in range(3)]
            self.assertEqual([reply["sequence"] for reply in replies], [0, 1, 2])
            found = [reply["value"]["detections"] for reply in replies]
            self.assertEqual([e[0]["score"] * 255 if e else 0 for e in found], [0, 1, 2])

    def test_a_stage_error_is_an_error_reply(self):
        self.assertEqual(
            self.error(retake.StageError("model.shape", "too  small\nby far")),
            {"code": "model.shape", "message": "too small by far", "severity": "recoverable"},
        )
        error = self.error(retake.StageError("model.lost", recoverable=False))
        self.assertEqual(error, {"code": "model.lost", "message": "", "severity": "unrecoverable"})

    def test_codes_have_no_spaces(self):
        for code in ["", "a b", "ä", "a\n", "a" * 65]:
            with self.subTest(code), self.assertRaises(ValueError):
                retake.StageError(code)

    def test_an_exception_is_an_error_with_a_short_traceback(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            error = self.error(ValueError(f"no shape in\n{object()}"))
        self.assertEqual((error["code"], error["severity"]), ("python.exception", "recoverable"))
        self.assertRegex(
            error["message"],
            r"^ValueError: no shape in <object object at 0x…> \(test_stage\.py:\d+ in stage\)$",
        )
        self.assertIn("Traceback (most recent call last)", errors.getvalue())

    def test_a_long_exception_is_shortened_and_repaired(self):
        with contextlib.redirect_stderr(io.StringIO()):
            error = self.error(KeyError("x" * 5_000_000))
            self.assertLess(len(error["message"]), 1_000)
            self.assertIn("a?b", self.error(ValueError("a\ud800b"))["message"])

    def test_the_stage_continues_after_an_error(self):
        @retake.stage(output="scalars")
        def odd(frame):
            return {"x": 1 / (frame.sequence % 2)}

        with served(odd) as host, contextlib.redirect_stderr(io.StringIO()):
            host.greet(output="scalars")
            self.assertIn("ZeroDivisionError", host.ask(sequence=0)["error"]["message"])
            self.assertEqual(host.ask(sequence=1)["value"]["scalars"][0]["value"], 1)

    def test_values_that_are_none_of_the_output_halt_the_run(self):
        nan, infinite = float("nan"), float("inf")
        cases = [
            ("detections", None, "returned None"),
            ("detections", {box()}, "a set has no order"),
            ("detections", 5, "of the type int"),
            ("detections", "boxes", "of the type str"),
            ("detections", [retake.Label("a", 1)], "type Label, not a retake.Detection"),
            ("detections", [box(1, 2, 3)], "a box is"),
            ("detections", [retake.Detection(5, 1)], "a box is"),
            ("detections", [box(1, 2, 3, nan)], "must be finite, is nan"),
            ("detections", [box(1, 2, -1, 4)], "width and height of a box are 0 or more"),
            ("detections", [box(1, 2, 3, -0.5)], "width and height of a box are 0 or more"),
            ("detections", [box(score=infinite)], "a score must be finite"),
            ("detections", [box(score="0.5")], "a score must be a number"),
            ("detections", [box(score=None)], "a score must be a number"),
            ("detections", [box(score=10**400)], "a score must be a number"),
            ("detections", [box(label="cat")], "not one of the stage's class_names (none)"),
            ("detections", [box(class_index=-1)], "a class_index must be from 0"),
            ("detections", [box(class_index=1.5)], "must be an integer"),
            ("detections", [box(class_index=2**63)], "a class_index must be from 0"),
            ("detections", [box(identity="a")], "an identity must be an integer"),
            ("classes", [retake.Label("a\ud800", 1)], "half of a character"),
            ("classes", [retake.Label(5, 1)], "a label must be a string"),
            ("classes", [box()], "not a retake.Label"),
            ("scalars", {"a": nan}, "the scalar 'a' must be finite"),
            ("scalars", {5: 1}, "must be a string"),
            ("scalars", [retake.Scalar("a", 1), retake.Scalar("a", 2)], "'a' is there twice"),
            ("scalars", [1.5], "not a retake.Scalar"),
        ]
        for output, value, message in cases:
            with self.subTest(message):
                error = self.error(value, output)
                self.assertEqual(
                    (error["code"], error["severity"]), ("python.value", "unrecoverable")
                )
                self.assertIn(message, error["message"])

    def test_classes_are_checked_against_their_names(self):
        names = ["a", "b"]
        for found, message in [
            (box(class_index=2), "the stage has 2 class_names"),
            (box(label="c"), "(a, b)"),
            (box(label="a", class_index=1), "not that of the label 'a'"),
        ]:
            with self.subTest(message):
                self.assertIn(message, self.error([found], class_names=names)["message"])
        found = self.value([box(label="b", class_index=1)], class_names=names)
        self.assertEqual(found[0]["class"], 1)

    def test_a_reply_that_is_too_long_is_an_error(self):
        label = retake.Label("x" * (8 << 20), 1)
        error = self.error([label] * 4, "classes")
        self.assertEqual(error["code"], "python.value")
        self.assertIn("at most 33554432", error["message"])
        self.assertEqual(len(self.value([label] * 3, "classes")), 3)


class StateTests(unittest.TestCase):
    def test_a_stateful_stage_forgets_at_a_reset(self):
        with served(Counter) as host:
            self.assertEqual(host.greet(output="scalars", options={"step": 2})["state"], "stateful")

            def count(sequence):
                return host.ask(sequence=sequence)["value"]["scalars"][0]["value"]

            for number in [1, 2]:
                host.send({"reset": number})
                self.assertEqual(host.receive(), {"reset": number})
                self.assertEqual([count(0), count(4)], [2, 4])

    def test_a_pure_stage_answers_a_reset(self):
        with served(corner) as host:
            host.greet()
            host.send({"reset": 1})
            self.assertEqual(host.receive(), {"reset": 1})

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_a_stateful_stage_that_keeps_pixels_is_halted(self):
        @retake.stage(output="scalars", state="stateful")
        class Keeper:
            def reset(self):
                self.last = None

            def process(self, frame):
                kept = {0: frame.array, 1: frame.array.copy(), 2: frame.array[:1, ::2].T}
                self.last = kept.get(frame.sequence)
                return {"size": frame.array.size}

        with served(Keeper) as host:
            host.greet(output="scalars")
            host.send({"reset": 1})
            host.receive()
            for sequence, code in [(0, "python.keptPixels"), (1, None), (2, "python.keptPixels")]:
                error = host.ask(sequence=sequence).get("error", {})
                self.assertEqual(error.get("code"), code)
                self.assertEqual(error.get("severity"), code and "unrecoverable")

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_a_pure_stage_that_keeps_pixels_is_halted_too(self):
        kept = []

        @retake.stage(output="scalars")
        def keeper(frame):
            kept.append(frame.array)
            return {"size": frame.array.size}

        with served(keeper) as host:
            host.greet(output="scalars")
            self.assertEqual(host.ask(sequence=0)["error"]["code"], "python.keptPixels")

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_arrays_in_cycles_and_in_exceptions_are_not_kept(self):
        @retake.stage(output="scalars", state="stateful")
        class Cyclic:
            def reset(self):
                pass

            def process(self, frame):
                knot = [frame.array]
                knot.append(knot)
                if frame.sequence == 1:
                    raise ValueError
                return {}

        with served(Cyclic) as host, contextlib.redirect_stderr(io.StringIO()):
            host.greet(output="scalars")
            self.assertEqual(host.ask(sequence=0)["value"], {"scalars": []})
            self.assertEqual(host.ask(sequence=1)["error"]["code"], "python.exception")

    def test_planes_of_an_answered_frame_cannot_be_read(self):
        kept = []

        @retake.stage(output="scalars")
        def keep(frame):
            kept.append(frame)
            return {}

        with served(keep) as host:
            host.greet(output="scalars")
            host.ask(sequence=5)
        self.assertEqual(kept[0].sequence, 5)
        with self.assertRaises(ValueError):
            kept[0].planes[0].tobytes()


class OptionTests(unittest.TestCase):
    def test_a_function_with_two_parameters_is_given_the_options(self):
        @retake.stage(output="scalars")
        def light(frame, options):
            return {"least": options["least"]}

        with served(light) as host:
            host.greet(output="scalars", options={"least": 7})
            self.assertEqual(host.ask()["value"]["scalars"], [{"name": "least", "value": 7}])

    def test_a_class_without_a_parameter_is_made_without_options(self):
        @retake.stage(output="scalars")
        class Plain:
            def process(self, frame):
                return {}

        with served(Plain) as host:
            host.greet(output="scalars")
            self.assertEqual(host.ask()["value"], {"scalars": []})

    def test_options_that_no_one_reads_are_refused(self):
        running = Served(corner)
        running.host.hello(options={"treshold": 1})
        self.assertTrue(running.host.is_at_end())
        error = running.end()
        self.assertIsInstance(error, retake.ProtocolError)
        self.assertIn("takes no options, and the node has some: treshold", str(error))
        self.assertIn("leave them out, or take them with", str(error))


class HostTests(unittest.TestCase):
    """What a host must not do, and what a program must bear."""

    def refused(self, *messages, greets=True):
        """What the program raises if it is sent these, after its `ready`."""
        running = Served(corner)
        if greets:
            running.host.greet()
        for message in messages:
            if isinstance(message, bytes):
                running.host.send_raw(message)
            else:
                running.host.send(message)
        error = running.end()
        self.assertIsInstance(error, retake.ProtocolError)
        return str(error)

    def test_the_first_message_is_hello(self):
        self.assertIn("must be 'hello'", self.refused({"reset": 1}, greets=False))
        self.assertIn("must be an object", self.refused({"hello": 1}, greets=False))

    def test_a_hello_that_cannot_be_used(self):
        hello = {"v": 1, "output": "detections", "slots": 1, "slotBytes": 64, "options": {}}
        for keys, message in [
            ({"v": 0}, "'v' must be an integer from 1"),
            ({"v": "1"}, "'v' must be an integer"),
            ({"output": "classes"}, "returns detections, and the output of the node is classes"),
            ({"slots": 0}, "'slots' must be"),
            ({"slotBytes": True}, "'slotBytes' must be"),
            ({"slots": 2}, "2 slots of 64 bytes do not fit"),
            ({"options": []}, "'options' must be an object"),
        ]:
            with self.subTest(message):
                self.assertIn(message, self.refused({"hello": hello | keys}, greets=False))

    def test_bodies_that_are_no_messages(self):
        for body, message in [
            (b"", "1 to 4194304 bytes, not 0"),
            (b"{", "not JSON"),
            (b"[1]", "not a JSON object"),
            (b'{"a":NaN}', "NaN is not a number of JSON"),
            (b'{"a":"\xff"}', "not JSON"),
            (b'{"a":' * 100_000, "not JSON"),
        ]:
            with self.subTest(message):
                framed = len(body).to_bytes(4, "little") + body
                self.assertIn(message, self.refused(framed))
        self.assertIn("not 4194305", self.refused((4194305).to_bytes(4, "little")))

    def test_a_stream_that_ends_inside_of_a_message(self):
        for data in [b"\x05", b"\x05\0\0\0", b"\x05\0\0\0{}"]:
            with self.subTest(data):
                self.assertIn("inside of a message", self.refused(data))

    def test_frames_that_are_not_in_their_slot(self):
        frame = {
            "track": 0, "sequence": 0, "item": None, "ptsNs": 0, "slot": 0, "format": "GRAY8",
            "width": 2, "height": 2, "range": "full", "matrix": "identity", "planes": [[0, 2]],
        }  # fmt: skip
        for keys, message in [
            ({"slot": 1}, "'slot' must be an integer from 0 to 0"),
            ({"slot": -1}, "'slot' must be"),
            ({"width": 0}, "'width' must be"),
            ({"sequence": -1}, "'sequence' must be"),
            ({"item": -1}, "'item' must be"),
            ({"ptsNs": 1.5}, "'ptsNs' must be"),
            ({"format": "P010"}, "no format 'P010'"),
            ({"format": 5}, "'format' must be a string"),
            ({"planes": []}, "has 1 planes"),
            ({"planes": [[0]]}, "a plane is [offset, stride]"),
            ({"planes": [[0, True]]}, "a plane is [offset, stride]"),
            ({"planes": [[-1, 2]]}, "not inside"),
            ({"planes": [[0, 1]]}, "not inside"),
            ({"planes": [[61, 2]]}, "not inside"),
            ({"planes": [[0, 63]]}, "not inside"),
            ({"height": 2**62}, "not inside"),
        ]:
            with self.subTest(keys=keys):
                self.assertIn(message, self.refused({"frame": frame | keys}))
        with served(corner) as host:
            host.greet()
            self.assertIn("value", host.ask(planes=[[60, 2]]))
            self.assertIn("value", host.ask(planes=[[0, 62]]))

    def test_messages_and_keys_of_later_versions_are_skipped(self):
        with served(corner) as host:
            host.greet(later=[1])
            host.send({"timer": {"id": 4}})
            host.send({})
            self.assertIn("value", host.ask(nowNs=5))

    def test_messages_may_arrive_in_pieces_and_together(self):
        with served(corner) as host:
            host.greet()
            body = b'{"reset":1}'
            for byte in len(body).to_bytes(4, "little") + body:
                host.send_raw(bytes([byte]))
            self.assertEqual(host.receive(), {"reset": 1})
            host.send_raw((len(body).to_bytes(4, "little") + body) * 3)
            self.assertEqual([host.receive() for _ in range(3)], [{"reset": 1}] * 3)

    def test_bye_ends_the_conversation(self):
        running = Served(corner)
        running.host.greet()
        running.host.bye()
        self.assertTrue(running.host.is_at_end())
        self.assertIsNone(running.end())

    def test_the_end_of_the_stream_is_a_bye(self):
        running = Served(corner)
        running.host.greet()
        self.assertIsNone(running.end())

    def test_a_host_that_is_gone_is_no_error(self):
        running = Served(corner)
        running.host.greet()
        running.host.show(b"\0\0\0\0")
        running.host.socket.close()
        running._thread.join()
        self.assertIsNone(running.error)


class LogTests(unittest.TestCase):
    def test_logs_come_before_the_reply(self):
        @retake.stage(output="scalars")
        def chatty(frame):
            retake.log("one\ntwo")
            retake.log("x" * 10_000, "warning")
            return {}

        with served(chatty) as host:
            host.greet(output="scalars")
            host.ask()
            self.assertEqual(host.logs[0], {"level": "info", "text": "one two"})
            self.assertEqual(host.logs[1]["level"], "warning")
            self.assertEqual(len(host.logs[1]["text"]), 4_000)

    def test_without_a_host_they_are_printed(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            retake.log("hello", "debug")
        self.assertEqual(errors.getvalue(), "debug: hello\n")


class DecoratorTests(unittest.TestCase):
    def test_arguments_that_cannot_be_used(self):
        for keys, error in [
            ({"output": "boxes"}, ValueError),
            ({"output": "scalars", "state": "none"}, ValueError),
            ({"output": "scalars", "version": -1}, ValueError),
            ({"output": "scalars", "version": 1.5}, ValueError),
            ({"output": "scalars", "formats": ["RGB"]}, ValueError),
            ({"output": "scalars", "formats": "RGB24"}, TypeError),
            ({"output": "scalars", "class_names": ["a"]}, ValueError),
            ({"output": "detections", "class_names": [1]}, TypeError),
        ]:
            with self.subTest(keys=keys), self.assertRaises(error):
                retake.stage(**keys)

    def test_what_cannot_be_a_stage(self):
        class Empty:
            pass

        class Forgetful:
            def process(self, frame):
                return {}

        async def later(frame):
            return {}

        for body, state in [
            (5, "pure"),
            (Empty, "pure"),
            (Forgetful, "stateful"),
            (lambda frame: {}, "stateful"),
            (later, "pure"),
        ]:
            with self.subTest(body=body), self.assertRaises(TypeError):
                retake.stage(output="scalars", state=state)(body)

    def test_what_has_no_decorator_is_no_stage(self):
        def plain(frame):
            return []

        for stage in [plain, None]:
            with self.assertRaisesRegex(TypeError, r"write @retake\.stage"):
                retake.main(stage)


if __name__ == "__main__":
    unittest.main()

"""Whole programs: frames, timers and outputs, without Retake."""

import os
import socket
import subprocess
import tempfile
import unittest

import support
from support import Child, Host, Served, python, served

import retake

MS = 1_000_000


class Echo(retake.Program):
    """Gives the first byte of each frame, and the time of each timer."""

    sinks = {"bytes": "scalars", "labels": "classes"}
    formats = ["GRAY8"]
    version = 3

    def __init__(self, options):
        self.options = options
        self.resets = 0
        self.timer = None

    def reset(self):
        self.resets += 1

    def on_frame(self, frame):
        level = frame.planes[0].row(0)[0]
        match level:
            case 1:
                self.timer = self.after(0.02, self.tick)
            case 2:
                self.cancel(self.timer)
                self.cancel(self.timer)
                self.cancel(None)
            case 3:
                self.at(self.now_ns - 5, self.tick)
            case 4:
                self.out("nothing", {})
            case 5:
                self.out("labels", {"a": 1})
            case 6:
                self.at(1.5, self.tick)
            case 7:
                self.kept = frame.array
            case 8:
                raise KeyError("eight")
        self.out("bytes", {"level": level})

    def tick(self):
        self.out("bytes", {"ms": self.now_ns / MS, "seconds": self.now})
        self.out("labels", [retake.Label("tick", 1.0)])


def until_done(host):
    """What the program says before `done`, and that."""
    said = []
    while True:
        message = host.receive()
        said.append(message)
        if "done" in message:
            return said


def out(sink, sequence, **numbers):
    value = {"scalars": [{"name": name, "value": number} for name, number in numbers.items()]}
    return {"out": {"sink": sink, "sequence": sequence, "value": value}}


class ConversationTests(unittest.TestCase):
    def test_ready_says_what_the_class_has(self):
        with served(Echo) as host:
            ready = host.greet(output="program")
        self.assertEqual(
            ready,
            {
                "v": 1, "name": "Echo", "version": 3, "output": "program", "state": "stateful",
                "formats": ["GRAY8"], "classNames": [],
                "sinks": {"bytes": "scalars", "labels": "classes"},
            },
        )  # fmt: skip

    def test_a_timer_is_set_and_called(self):
        with served(Echo) as host:
            host.greet(output="program")
            host.show(b"\1\0\0\0", 4, nowNs=100 * MS)
            self.assertEqual(
                until_done(host),
                [
                    {"timer": {"id": 1, "atNs": 120 * MS}},
                    out("bytes", 4, level=1),
                    {"done": 4},
                ],
            )
            host.send({"timer": 1, "nowNs": 120 * MS})
            said = until_done(host)
            self.assertEqual(said[0], out("bytes", 4, ms=120, seconds=0.12))
            self.assertEqual(said[1]["out"]["value"]["classes"][0]["label"], "tick")
            self.assertEqual(said[2], {"done": {"timer": 1, "nowNs": 120 * MS}})

    def test_a_sink_may_have_observations(self):
        class Seen(retake.Program):
            sinks = {"seen": "observations"}

            def on_frame(self, frame):
                self.out("seen", [retake.JSON({"n": frame.sequence}, "meta")])

        with served(Seen) as host:
            self.assertEqual(host.greet(output="program")["sinks"], {"seen": "observations"})
            host.show(b"\1\0\0\0", 4, nowNs=0)
            value = {"observations": [{"json": {"n": 4}, "label": "meta", "score": 1.0}]}
            self.assertEqual(
                until_done(host),
                [{"out": {"sink": "seen", "sequence": 4, "value": value}}, {"done": 4}],
            )

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_an_image_is_copied_when_it_is_reported(self):
        import numpy

        array = numpy.zeros((1, 2), numpy.uint8)

        class Seen(retake.Program):
            sinks = {"seen": "observations"}

            def on_frame(self, frame):
                self.out("seen", [retake.Image(array, "map")])
                array[:] += 1

        with served(Seen) as host:
            host.greet(output="program")
            for sequence, data in ((0, "AAA="), (1, "AQE=")):
                host.show(b"\1\0\0\0", sequence, nowNs=sequence)
                (message, _) = until_done(host)
                (item,) = message["out"]["value"]["observations"]
                self.assertEqual(item["image"], {"size": [1, 2, 1], "type": "u8", "data": data})

    def test_a_cancelled_timer_is_cancelled_once(self):
        with served(Echo) as host:
            host.greet(output="program")
            host.show(b"\1\0\0\0", 0, nowNs=0)
            until_done(host)
            host.show(b"\2\0\0\0", 1, nowNs=1)
            self.assertEqual(
                until_done(host), [{"cancel": 1}, out("bytes", 1, level=2), {"done": 1}]
            )
            # One that was on its way is answered, and calls nothing.
            host.send({"timer": 1, "nowNs": 20 * MS})
            self.assertEqual(until_done(host), [{"done": {"timer": 1, "nowNs": 20 * MS}}])

    def test_a_reset_forgets_timers(self):
        with served(Echo) as host:
            host.greet(output="program")
            host.show(b"\1\0\0\0", 0, nowNs=0)
            until_done(host)
            host.send({"reset": 1})
            self.assertEqual(host.receive(), {"reset": 1})
            host.send({"timer": 1, "nowNs": 20 * MS})
            self.assertEqual(until_done(host), [{"done": {"timer": 1, "nowNs": 20 * MS}}])

    def test_a_time_that_is_over_is_sent_as_it_is(self):
        with served(Echo) as host:
            host.greet(output="program")
            host.show(b"\3\0\0\0", 0, nowNs=10)
            self.assertEqual(until_done(host)[0], {"timer": {"id": 1, "atNs": 5}})

    def test_mistakes_end_the_program(self):
        for level, error, text in [
            (4, ValueError, "there is no sink 'nothing'; the sinks are bytes, labels"),
            (5, ValueError, "for the sink 'labels': the stage returned a value of the type dict"),
            (6, ValueError, "a time is an integer of nanoseconds, not 1.5"),
            (7, retake.ProtocolError, "keeps pixels of a frame"),
            (8, KeyError, "eight"),
        ]:
            if level == 7 and not support.HAS_NUMPY:
                continue
            with self.subTest(level):
                running = Served(Echo)
                running.host.greet(output="program")
                running.host.show(bytes([level, 0, 0, 0]), 0, nowNs=0)
                raised = running.end()
                self.assertIsInstance(raised, error)
                self.assertIn(text, str(raised))

    def test_outside_of_a_call_there_is_no_time(self):
        program = Echo({})
        for use in [lambda: program.now, lambda: program.out("bytes", {})]:
            with self.assertRaisesRegex(RuntimeError, "in on_frame or in a timer"):
                use()

    def test_a_class_that_cannot_be_a_program_is_refused(self):
        class NoSinks(retake.Program):
            pass

        class WrongSink(retake.Program):
            sinks = {"a": "boxes"}

        class WrongFormat(retake.Program):
            sinks = {"a": "scalars"}
            formats = ["GREY"]

        for body, text in [
            (NoSinks, "needs sinks"),
            (WrongSink, "not 'boxes'"),
            (WrongFormat, "there is no format 'GREY'"),
        ]:
            with self.assertRaisesRegex(TypeError, text):
                own, other = socket.socketpair()
                with own, other:
                    retake.serve(body, other, bytearray(64))

    def test_the_output_of_a_stage_is_refused(self):
        running = Served(Echo)
        running.host.hello(output="scalars")
        raised = running.end()
        self.assertIsInstance(raised, retake.ProtocolError)
        self.assertIn('write "output": "program"', str(raised))

    def test_options_are_refused_by_a_program_without(self):
        class Plain(retake.Program):
            sinks = {"a": "scalars"}

        running = Served(Plain)
        running.host.hello(output="program", options={"fast": True})
        self.assertIn(
            "takes no options, and the node has some: fast: leave them out, or take them with "
            "__init__(self, options)",
            str(running.end()),
        )


THREADS = """
import os, queue, sys, threading, retake
from concurrent.futures import ThreadPoolExecutor

class App(retake.Program):
    sinks = {"a": "scalars", "b": "scalars"}

    def __init__(self, options):
        self.work = queue.Queue()
        self.pool = ThreadPoolExecutor(1)
        self.answered = threading.Event()
        self.may_go = threading.Event()
        threading.Thread(target=self.serve, name="worker", daemon=True).start()

    def serve(self):
        while True:
            call = self.work.get()
            try:
                call()
            except Exception:
                pass

    def on_frame(self, frame):
        BODY

retake.main(App)
"""


class ThreadTests(unittest.TestCase):
    """What the threads of a program may do, in a process of its own."""

    def start(self, body):
        source = THREADS.replace("BODY", body.replace("\n", "\n        "))
        child = self.enterContext(Child(python("-c", source)))
        child.host.greet(output="program")
        return child

    def check_refused(self, body, text, code="python.thread", frames=1, forks=False):
        """The host is sent an error, and the program ends with the traceback of the thread."""
        child = self.start(body)
        said = []
        for sequence in range(frames):
            child.host.show(b"\1\2\3\4", sequence, nowNs=sequence)
            while not ("done" in (message := child.host.receive()) or "error" in message):
                said.append(message)
        if "error" not in message:
            child.host.send({"reset": 2})
            message = child.host.receive()
        self.assertEqual(list(message), ["error"], message)
        error = message["error"]
        self.assertEqual((error["code"], error["severity"]), (code, "unrecoverable"))
        self.assertIn(text, error["message"])
        child.host.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(child.status, 0 if forks else 2)
        return said, child.output

    def test_a_value_from_a_thread_without_its_frame_ends_the_run(self):
        # Whether or not on_frame still waits, and though the thread catches every exception.
        for wait in ["", "\nself.answered.wait(1)"]:
            said, output = self.check_refused(
                "self.work.put(lambda: self.out('a', {'x': 1}))" + wait,
                "'out' was called on the thread 'worker': nothing says which frame it answers",
            )
            self.assertEqual(said, [])
            self.assertIn("Traceback of the thread 'worker' (most recent call last):", output)
            self.assertIn("in serve", output)

    def test_a_thread_that_answers_after_the_last_frame_ends_the_run(self):
        self.check_refused(
            "import time\nself.work.put(lambda: (time.sleep(0.2), self.out('a', {'x': 1})))",
            "'out' was called on the thread 'worker'", frames=3,
        )  # fmt: skip

    def test_a_thread_at_work_after_a_run_without_a_value_ends_the_run(self):
        body = "self.work.put(lambda: __import__('signal').pause())"
        # It ends with the process: `pause` waits for a signal that does not come.
        child = self.start(body)
        child.host.show(b"\1\2\3\4", 0, nowNs=0)
        self.assertEqual(child.host.receive(), {"done": 0})
        child.host.send({"reset": 2})
        error = child.host.receive()["error"]
        self.assertEqual(error["code"], "python.thread")
        self.assertIn("the thread 'worker' (<string>:", error["message"])
        self.assertIn("is still at work after the last frame", error["message"])

    def test_what_sets_or_reads_time_belongs_to_the_thread_of_on_frame(self):
        for word, call in [
            ("now", "self.now"), ("at", "self.at(1, print)"), ("cancel", "self.cancel(timer)"),
        ]:  # fmt: skip
            self.check_refused(
                f"timer = self.at(9, print)\nself.work.put(lambda: {call})\nself.answered.wait(1)",
                f"'{word}' was called on the thread 'worker': do this in on_frame",
            )

    def test_a_process_that_the_program_forked_is_refused(self):
        _, output = self.check_refused(
            "if os.fork() == 0: self.out('a', {'x': 1})\nos.wait()",
            "'out' was called on another process",
            forks=True,
        )
        self.assertIn("Traceback of another process", output)

    def test_an_exception_that_ends_a_thread_ends_the_run(self):
        _, output = self.check_refused(
            "def work(): raise KeyError('lost')\n"
            "threading.Thread(target=work, name='own').start()",
            "its thread 'own' was ended by an exception: KeyError: 'lost' (",
            code="python.exception",
        )
        self.assertIn("Traceback (most recent call last):", output)

    def test_a_thread_that_on_frame_waits_for_gives_values_for_its_frame(self):
        child = self.start(
            "self.pool.submit(self.out, 'a', {'x': frame.planes[0].row(0)[0]}, frame).result()\n"
            "self.out('b', {'y': self.pool.submit(int, 7).result()}, frame)"
        )
        for sequence in range(20):
            child.host.show(bytes([sequence, 0, 0, 0]), sequence, nowNs=sequence)
            self.assertEqual(
                until_done(child.host),
                [out("a", sequence, x=sequence), out("b", sequence, y=7), {"done": sequence}],
            )
        child.host.send({"reset": 2})
        self.assertEqual(child.host.receive(), {"reset": 2})
        child.host.bye()
        self.assertEqual(child.status, 0)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_a_thread_may_let_go_of_an_array_after_its_result_is_there(self):
        child = self.start(
            "found, gone = threading.Event(), threading.Event()\n"
            "def work(array):\n"
            "    found.set()\n"
            "    gone.wait(0.02)\n"
            "threading.Thread(target=work, args=(frame.array,)).start()\n"
            "found.wait()\n"
            "self.out('a', {'x': 1})"
        )
        for sequence in range(3):
            child.host.show(b"\0\0\0\0", sequence, nowNs=0)
            self.assertEqual(until_done(child.host)[-1], {"done": sequence})

    def test_a_thread_that_on_frame_did_not_wait_for_is_late(self):
        self.check_refused(
            "def work():\n"
            "    self.may_go.wait()\n"
            "    self.out('a', {'x': 1}, frame)\n"
            "if frame.sequence == 0: self.work.put(work)\n"
            "else: self.may_go.set()",
            "on_frame had returned from frame 0: let it wait for the thread", frames=2,
        )  # fmt: skip

    def test_two_threads_have_no_order(self):
        self.check_refused(
            "self.out('a', {'x': 1})\nself.pool.submit(self.out, 'a', {'x': 2}, frame).result()",
            "'a' was given something by 'MainThread' for the same frame",
        )

    def test_an_exception_of_a_value_reaches_its_thread(self):
        child = self.start(
            "try: self.pool.submit(self.out, 'c', {}, frame).result()\n"
            "except ValueError: self.out('a', {'caught': 1})"
        )
        child.host.show(b"\0\0\0\0", 0, nowNs=0)
        self.assertEqual(until_done(child.host), [out("a", 0, caught=1), {"done": 0}])

    def test_another_frame_than_the_last_one_is_refused(self):
        child = self.start(
            "self.first = frame if frame.sequence == 0 else self.first\n"
            "self.out('a', {'x': 1}, self.first)"
        )
        for sequence in range(2):
            child.host.show(b"\0\0\0\0", sequence, nowNs=0)
        until_done(child.host)
        self.assertEqual(child.status, 1)
        self.assertIn("frame 1 came last, and 'out' names frame 0", child.output)


PROGRAM = """
import retake

print("starting")

class App(retake.Program):
    sinks = {"sum": "scalars"}

    def on_frame(self, frame):
        print("frame", frame.sequence)
        if frame.sequence == 3:
            raise ValueError("three")
        self.out("sum", {"sum": sum(frame.planes[0].tobytes())})

retake.main(App)
"""


class MainTests(unittest.TestCase):
    @unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
    def test_an_exception_ends_it_with_its_traceback(self):
        with Child(python("-c", PROGRAM)) as child:
            child.host.greet(output="program")
            child.host.show(b"\1\2\3\4", 0, nowNs=0)
            self.assertEqual(until_done(child.host), [out("sum", 0, sum=10), {"done": 0}])
            child.host.show(b"\1\2\3\4", 3, nowNs=0)
            self.assertEqual(child.status, 1)
            self.assertTrue(child.output.startswith("starting\nframe 0\nframe 3\nTraceback"))
            self.assertTrue(child.output.endswith("ValueError: three\n"))

    def test_on_standard_streams_pixels_follow_their_message(self):
        own, other = socket.socketpair()
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                python("-c", PROGRAM), stdin=other, stdout=other, stderr=errors,
                env={
                    name: value for name, value in os.environ.items() if "PYTHON" not in name
                } | {
                    "RETAKE_PROTOCOL": "1", "RETAKE_TRANSPORT": "stdio",
                    "PYTHONPATH": str(support.PACKAGE),
                },
            )  # fmt: skip
            other.close()
            host = Host(own, memoryview(bytearray(64)), 1)
            with own:
                host.greet(output="program")
                for sequence in range(2):
                    host.show(b"", sequence, nowNs=0, bytes=4)
                    host.send_raw(bytes([1, 2, 3, sequence]))
                    self.assertEqual(
                        until_done(host), [out("sum", sequence, sum=6 + sequence), {"done": sequence}]
                    )
                host.bye()
                self.assertEqual(child.wait(support.LIMIT_SECONDS), 0)
            errors.seek(0)
            # What was printed before the conversation began went to the streams as they were.
            self.assertIn(b"frame 0\nframe 1\n", errors.read())

    def test_without_retake_it_says_what_it_is(self):
        found = subprocess.run(
            python("-c", "import retake\nclass A(retake.Program): sinks={'a': 'scalars'}\n"
                   "retake.main(A)"),
            env={"PYTHONPATH": str(support.PACKAGE)}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(found.returncode, 64)
        self.assertIn("--program 'python3 -c'", found.stderr)


if __name__ == "__main__":
    unittest.main()

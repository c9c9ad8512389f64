"""Stages that are computed in this process for programs that a host starts."""

import contextlib
import os
import signal
import socket
import threading
import unittest

import support
from support import Child, python

import retake
from retake._handover import VARIABLE, Listener
from retake._inprocess import InProcess

PROGRAM = """
import os
import retake

@retake.stage(output="scalars", name="level")
def stage(frame):
    return {"id": os.getpid()}

retake.main(stage)
print("ended")
"""


@retake.stage(output="scalars", name="level", version=3)
def level(frame):
    if frame.sequence == 4:
        raise ValueError("wrong")
    if frame.sequence == 5:
        raise KeyboardInterrupt
    return {"id": os.getpid(), "first": frame.planes[0].data[0]}


class Whole(retake.Program):
    sinks = {"level": "scalars"}


class Running:
    """A host on a thread of its own, and a child whose stage is computed by the caller."""

    def __init__(self, talk, stages=(level,), source=PROGRAM, children=1):
        self.stages = InProcess(stages)
        self.children = [
            Child(python("-c", source), **{VARIABLE: self.stages.address}) for _ in range(children)
        ]
        self._talk = talk
        self._error = None
        self._until, self._bell = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self._talk(*self.children)
        except BaseException as error:
            self._error = error
        finally:
            self._bell.close()

    def serve(self):
        """Computes until the talk is over."""
        self._thread.start()
        try:
            self.stages.serve(self._until)
        finally:
            self.stages.close()
            self._thread.join()
            self._until.close()
        if self._error:
            raise self._error


@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class InProcessTests(unittest.TestCase):
    def run_talk(self, talk, **given):
        running = Running(talk, **given)
        with contextlib.ExitStack() as stack:
            for child in running.children:
                stack.enter_context(child)
            running.serve()
            self.assertFalse(os.path.exists(running.stages.address))
        return running.stages

    def test_this_process_computes_and_the_child_ends_as_it_would(self):
        found = []

        def talk(child):
            found.append(child.host.greet(output="scalars"))
            for sequence in range(3):
                found.append(child.host.ask(bytes([7 + sequence, 0, 0, 0]), sequence))
            child.host.bye()
            self.assertTrue(child.host.is_at_end())
            self.assertEqual((child.status, child.output), (0, "ended\n"))

        stages = self.run_talk(talk)
        self.assertEqual((found[0]["name"], found[0]["version"]), ("level", 3))
        for sequence, reply in enumerate(found[1:]):
            values = {e["name"]: e["value"] for e in reply["value"]["scalars"]}
            self.assertEqual(values, {"id": os.getpid(), "first": 7 + sequence})
        self.assertEqual((stages.missing, stages.refused, stages.failure), ([], [], ""))

    def test_two_copies_are_served_by_turns_on_one_thread(self):
        threads = set()

        @retake.stage(output="scalars", name="level")
        def noted(frame):
            threads.add(threading.current_thread())
            return {"first": frame.planes[0].data[0]}

        def talk(one, two):
            for child in (one, two):
                child.host.greet(output="scalars")
            for sequence in range(20):
                for index, child in enumerate((one, two)):
                    child.host.show(bytes([index, 0, 0, 0]), sequence)
                for index, child in enumerate((two, one)):
                    value = child.host.receive()["value"]["scalars"]
                    self.assertEqual(value, [{"name": "first", "value": 1 - index}])
            for child in (one, two):
                child.host.bye()
                self.assertEqual(child.status, 0)

        self.run_talk(talk, stages=[noted], children=2)
        self.assertEqual(threads, {threading.main_thread()})

    def test_another_stage_is_computed_by_its_program(self):
        def talk(child):
            child.host.greet(output="scalars")
            (value,) = child.host.ask()["value"]["scalars"]
            self.assertEqual(value, {"name": "id", "value": child.id})
            child.host.bye()
            self.assertEqual(child.status, 0)

        stages = self.run_talk(talk, source=PROGRAM.replace("level", "other"))
        self.assertEqual((stages.missing, stages.refused), (["level"], ["other"]))

    def test_an_exception_is_answered_as_by_the_program_and_kept_as_text(self):
        replies = []

        def talk(child):
            child.host.greet(output="scalars")
            replies.extend(child.host.ask(sequence=sequence) for sequence in (4, 4, 6))
            child.host.bye()
            self.assertEqual((child.status, child.output), (0, "ended\n"))

        stages = self.run_talk(talk)
        self.assertEqual(replies[0]["error"]["code"], "python.exception")
        self.assertRegex(
            replies[0]["error"]["message"],
            r"^ValueError: wrong \(test_inprocess.py:\d+ in level\)$",
        )
        self.assertIn("value", replies[2])
        lines = stages.failure.splitlines()
        self.assertEqual(lines[:2], ["frame 0:4:", "Traceback (most recent call last):"])
        self.assertIn("test_inprocess.py", lines[2])
        self.assertEqual(lines[-2:], ["ValueError: wrong", "It raised 2 times."])

    def test_what_ends_a_test_ends_the_programs(self):
        def talk(child):
            child.host.greet(output="scalars")
            child.host.show(b"\0\0\0\0", 5)
            self.assertTrue(child.host.is_at_end())
            self.assertEqual(child.status, 1)

        with self.assertRaises(KeyboardInterrupt):
            self.run_talk(talk)

    def test_a_stage_that_cannot_be_made_is_raised_here(self):
        @retake.stage(output="scalars", name="level")
        class Broken:
            def __init__(self):
                raise OSError("no model here")

            def process(self, frame):
                return {}

        def talk(child):
            child.host.hello(output="scalars")
            self.assertTrue(child.host.is_at_end())
            self.assertEqual(child.status, 1)

        with self.assertRaisesRegex(OSError, "no model here"):
            self.run_talk(talk, stages=[Broken])

    def test_a_program_that_is_killed_ends_its_conversation_alone(self):
        def talk(one, two):
            for child in (one, two):
                child.host.greet(output="scalars")
            os.kill(one.id, signal.SIGKILL)
            one.host.socket.close()
            self.assertEqual(one.status, -signal.SIGKILL)
            self.assertIn("value", two.host.ask())
            two.host.bye()
            self.assertEqual(two.status, 0)

        self.run_talk(talk, children=2)

    def test_a_program_ends_with_the_process_that_computes_its_stage(self):
        listener = Listener()
        with Child(python("-c", PROGRAM), **{VARIABLE: listener.address}) as child:
            program = listener.accept()
            with program:
                _, files, _, _ = socket.recv_fds(program, 1, 2)
                taken = b'{"taken":true}'
                program.sendall(len(taken).to_bytes(4, "little") + taken)
            for number in files:
                os.close(number)
            self.assertEqual(child.status, 1)
            self.assertIn("the test that computed this stage has ended", child.output)
        listener.close()

    def test_the_variable_of_a_test_that_has_ended_changes_nothing(self):
        listener = Listener()
        listener.close()
        with Child(python("-c", PROGRAM), **{VARIABLE: listener.address}) as child:
            child.host.greet(output="scalars")
            (value,) = child.host.ask()["value"]["scalars"]
            self.assertEqual(value["value"], child.id)
            child.host.bye()
            self.assertEqual(child.status, 0)

    def test_stages_need_different_names(self):
        with self.assertRaisesRegex(ValueError, "two stages are named 'level'"):
            InProcess([level, level])
        with self.assertRaisesRegex(TypeError, "is not a stage"):
            InProcess([print])

    def test_a_whole_program_is_refused_with_what_to_do_instead(self):
        with self.assertRaisesRegex(
            TypeError, "Whole is a retake.Program, and only stages .* leave out stage="
        ):
            InProcess([Whole])


if __name__ == "__main__":
    unittest.main()

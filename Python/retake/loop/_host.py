"""The conversation with Retake while a script runs: docs/formats/program-protocol.md."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from .._channel import Channel, Closed, ProtocolError, TooLong, framed
from .._frame import Frame, Slots, integer, released
from .._modules import Imported
from .._values import Output, ValueProblem, encoded
from ._clock import Clock
from ._turns import Turns
from ._written import Written

RESUMED = "RETAKE_LOOP"
"""The environment of a script that runs again in the same process: a hello and a reset."""
_END, _SLEEP = 0, 1
"""Timers: the one that is due after the last frame, and the end of the next sleep."""
_LAST_NS = 2**63 - 1
_FAILED_READS_MAX = 1_000
"""After the last frame: a script that reads more often has no end of its own."""


class Host:
    """Gives frames to the script, and its results to Retake.

    A frame is open from `read` to the next `read`, and everything in between belongs to it.
    """

    def __init__(
        self, channel: Channel, memory: memoryview, script: str, sinks: Mapping[str, Output],
        class_names: tuple[str, ...], written: Written, may_end: bool,
    ) -> None:  # fmt: skip
        self._channel = channel
        self._script = script
        self.sinks = dict(sinks)
        self._class_names = class_names
        self._written = written
        self.may_end = may_end
        self.format = "RGB24"
        """Of the frames; it may be changed until the first frame."""
        self.clock = Clock()
        self.turns = Turns(self.clock, self._serve, self._stuck)
        self._offset_ns: int | None = None
        """The script's time less that of the host: it may sleep before it reads its first frame."""
        self._sleep_ns: int | None = None
        """The time of the timer for sleeps, if it is set."""
        self._timers: list[bytes] = []
        """Messages about timers, which are sent with the next `done`: the host wakes up once."""
        self._has_results = False
        self._given: list[tuple[str, dict[str, Any]]] = []
        self._open: object = None
        """The `done` that the host waits for."""
        self._frame: Frame | None = None
        """A frame that came and was not read yet."""
        self.sequence = -1
        self.pts_ns = 0
        self.is_key: bool | None = None
        """Whether the frame that was read last is a key frame; `None` if the host does not say."""
        self._is_key_next: bool | None = None
        self._noted: set[str] = set()
        self.first: dict[str, Any] | None = None
        """The message of the first frame."""
        self.read_count = 0
        self.is_at_end = False
        self.is_stopped = False
        """Whether the script was ended, because it would not end by itself."""
        self.awaited: list[str] = []
        """The processes for which Python waits at its end."""
        self._failed_reads = 0
        self._process = os.getpid()
        self.is_reported = False
        """Whether the host knows why the process ends."""
        self._has_begun = False
        """Whether the script wants frames, so that the host sends them."""
        resumed = os.environ.pop(RESUMED, None)
        # The script may change both.
        self._start = (os.getcwd(), dict(os.environ))
        if resumed is None:
            hello = channel.receive().get("hello")
            if not isinstance(hello, dict):
                raise ProtocolError("the first message must be 'hello'")
            self._hello, self._reset = hello, None
        else:
            self._hello, self._reset = json.loads(resumed)
        self._slots = Slots.of(memory, self._hello)

    # Frames.

    def begin(self) -> None:
        """Waits for the first frame, if none has come."""
        if self.is_at_end:
            return
        if os.getpid() != self._process:
            self._refuse_child()
        if self.first is not None:
            return
        if self._has_begun:
            # Another thread waits for the first frame already.
            return self.turns.wait_for_frame()
        self._has_begun = True
        if self._reset is None:
            self._say_ready()
        else:
            self._channel.send({"reset": self._reset})
        self.turns.wait_for_frame()

    def next(self) -> Frame | None:
        """The next frame; `None` after the last one. Copy its pixels, then call `taken`."""
        self.begin()
        if self._frame is None and not self.is_at_end:
            self.turns.wait_for_frame()
        frame, self._frame = self._frame, None
        if frame is not None:
            self.read_count += 1
            self._written.begin()
            self.pts_ns, self.is_key = frame.pts_ns, self._is_key_next
            return frame
        self._failed_reads += 1
        if self._failed_reads > _FAILED_READS_MAX:
            self.stop()
        return None

    @property
    def is_over(self) -> bool:
        """Whether the last frame was read."""
        return self.is_at_end or (self._is_last and self._frame is None)

    def stop(self) -> NoReturn:
        """Ends a script that would read forever, as Ctrl-C does."""
        self.is_stopped = True
        main = threading.main_thread()
        if threading.current_thread() is main:
            raise KeyboardInterrupt
        self.turns.end(main, KeyboardInterrupt)
        raise SystemExit

    def _serve(self, until_ns: int | None) -> None:
        """Receives what comes next: a frame, the time of a sleep, or the end."""
        if self.is_at_end:
            # Frames that threads wait for will not come.
            return self.turns.frame_came()
        if self._frame is not None:
            return self.turns.frame_came()
        if self._open is not None:
            # The end of a file is known at once: no sleep ends before it.
            self._sleep(None if self._is_last else until_ns)
            self._done()
        self._take(self._receive())

    @property
    def _is_last(self) -> bool:
        return self.first is not None and self.sequence + 1 == self.first.get("frameCount")

    def _take(self, message: dict[str, Any]) -> None:
        if isinstance(content := message.get("frame"), dict):
            self._frame = self._slots.frame(content)
            self._open = self.sequence = self._frame.sequence
            self._is_key_next = content.get("keyFrame")
            self._advance(content)
            if self.first is None:
                self.turns.first_frame_came()
                self.first = content
                self._set_timer(_END, _LAST_NS)
            self.turns.frame_came()
        elif "timer" in message:
            self._open = {"timer": message["timer"], "nowNs": message["nowNs"]}
            if message["timer"] == _END:
                self.is_at_end = True
                self.turns.frame_came()
            else:
                self._sleep_ns = None
                self._advance(message)
        elif "reset" in message:
            self._channel.send({"reset": integer(message, "reset", 1)})

    def _advance(self, message: dict[str, Any]) -> None:
        now_ns = integer(message, "nowNs", -_LAST_NS)
        if self._offset_ns is None:
            self._offset_ns = max(0, self.clock.now_ns - now_ns)
        self.clock.advance(now_ns + self._offset_ns)

    def _receive(self) -> dict[str, Any]:
        try:
            message = self._channel.receive()
        except Closed:
            self.leave(0)
        if "bye" in message:
            self.leave(0)
        return message

    def _say_ready(self) -> None:
        ready: dict[str, Any] = {
            "v": 1, "name": os.path.basename(self._script), "version": 1, "output": "program",
            "state": "stateful", "formats": [self.format], "classNames": list(self._class_names),
            "sinks": self.sinks,
        }  # fmt: skip
        if modules := Imported.by_this_process().modules:
            ready["modules"] = modules
        self._channel.send({"ready": ready})

    def _sleep(self, until_ns: int | None) -> None:
        """The host calls the timer at this time of the script."""
        if until_ns == self._sleep_ns:
            return
        self._sleep_ns = until_ns
        if until_ns is None:
            self._timers.append(framed({"cancel": _SLEEP}))
        else:
            self._set_timer(_SLEEP, until_ns - (self._offset_ns or 0))

    def _set_timer(self, number: int, at_ns: int) -> None:
        timer = {"id": number, "atNs": min(max(at_ns, -_LAST_NS), _LAST_NS)}
        self._timers.append(framed({"timer": timer}))

    # Results.

    def out(self, sink: str, value: object) -> None:
        """Gives a value to a sink, about the frame that was read last.

        Raises:
            ValueError: There is no such sink, or the value is not one of it.
        """
        output = self.sinks.get(sink)
        if output is None:
            raise ValueError(
                f"there is no sink {sink!r}; the sinks are {', '.join(self.sinks)}: name it with "
                f"--sink {sink}=scalars (or detections, classes, observations)"
            )
        try:
            self._given.append((sink, encoded(value, output, self._class_names)))
        except ValueProblem as problem:
            raise ValueError(f"for the sink {sink!r}: {problem}") from None

    def _done(self) -> None:
        """Sends timers, the results of the open frame, and that it is done, at once."""
        messages, self._timers = self._timers, []
        if self._frame is None:
            self._given += ((sink, {"scalars": rows}) for sink, rows in self._written.take())
            self._has_results = self._has_results or bool(self._given)
            for sink, form in self._given:
                out = {"sink": sink, "sequence": self.sequence, "value": form}
                try:
                    messages.append(framed({"out": out}))
                except TooLong as problem:
                    self.fail("python.value", f"a result of '{sink}': {problem}")
                except UnicodeEncodeError:
                    self.fail("python.value", f"a result of '{sink}' has half of a character")
            self._given.clear()
        messages.append(framed({"done": self._open}))
        self._channel.send_bytes(b"".join(messages))
        self._open = None

    # The end of the script.

    @staticmethod
    def end_executors(process: object) -> None:
        """Ends the executors of a process when their tasks are done."""
        module = sys.modules.get("concurrent.futures.thread")
        workers = [
            each
            for each in getattr(module, "_threads_queues", ())
            if getattr(each, "_retake_process", None) is process
        ]
        for worker in workers:
            # The first argument of a worker that runs is a weak reference to its executor.
            executor = getattr(worker, "_args", [lambda: None])[0]()
            if executor is not None:
                executor.shutdown(wait=False)
        for worker in workers:
            worker.join()

    def join_threads(self, process: object) -> None:
        """Waits for the threads of a process that are no daemons, and for threads they start."""
        own = threading.current_thread()
        # Ends: with the last of the threads.
        while not self.is_stopped:
            others = (
                each for each in threading.enumerate()
                if not (each is own or each.daemon)
                and getattr(each, "_retake_process", None) is process
            )  # fmt: skip
            if (thread := next(others, None)) is None:
                return
            thread.join()

    def end(self) -> NoReturn:
        """The script has returned: takes the host's messages until it needs no more."""
        self._frame = None
        if self.read_count == 0 and not self.is_at_end:
            self.fail(
                "loop.noCapture",
                f"{self._script} ended and read no frame: it has to open a cv2.VideoCapture, "
                "av.open or imageio reader, and read from it, in its own process (a process "
                "that it starts gets no frames of Retake)",
            )
        self._written.end()
        for path, is_own in self._written.unseen():
            how = "os.open" if is_own else "a library in C or another process, such as os.system"
            what = (
                f"{path} was written, and Retake has not seen how ({how}): its content is no "
                "result. Write it with Python's open, images with cv2.imwrite; or let it be "
                "written under another name, and move it there with os.replace in the same frame"
            )
            if is_own:
                self.fail("loop.results", what)
            # Another run in this folder may have written it.
            print(f"retake: {what}", file=sys.stderr)
        for name in self._written.unheard():
            self.note(f"what the process {name} printed is no result: wait for its end")
        has_results = self._has_results or bool(self._given)
        if not has_results and (unopened := self._written.unopened()) is not None:
            self.fail(
                "loop.results",
                f"the run has no result: {self._script} did not write {unopened}. Correct "
                "--results; or, if it is right that nothing is found here, let the script open "
                "the file before its loop",
            )
        at, is_over = self.sequence, self.is_at_end
        resets = 0
        # Ends: at the latest when the host closes the socket.
        while True:
            if self._open is not None:
                self._done()
            message = self._receive()
            if "reset" in message:
                # The first one ends the run, and the second one begins another.
                resets += 1
                if resets > 1:
                    self._run_again(integer(message, "reset", 1))
            elif "frame" in message and not is_over and not self.may_end:
                self._refuse_rest(at)
            self._take(message)
            self._frame = None

    def _refuse_rest(self, at: int) -> NoReturn:
        count = (self.first or {}).get("frameCount")
        of = f" of {count}" if count else ""
        self.fail(
            "loop.ended",
            f"{self._script} ended at frame {at}{of}, and the frames after it were not read: let "
            "it read until there is no frame, or allow it: python3 -m retake.loop --may-end "
            f"{self._script}",
        )

    def _refuse_child(self) -> NoReturn:
        """A fork of the script has its socket, and would take its frames."""
        self.fail(
            "loop.childProcess",
            f"a process that {self._script} started reads frames, and only the script's own "
            "process gets them: read there, and send the pixels, or use threads",
        )

    def _run_again(self, reset: int) -> NoReturn:
        for number in (3, 4):
            os.set_inheritable(number, True)
        self.flush()
        folder, environment = self._start
        os.chdir(folder)
        environment[RESUMED] = json.dumps([self._hello, reset])
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)

    def _stuck(self) -> NoReturn:
        if self.is_stopped:
            self.end()
        if self.awaited:
            names = ", ".join(repr(name) for name in self.awaited)
            self.fail(
                "loop.deadlock",
                f"{self._script} is over, and Python waits for its process {names}, which waits "
                "without an end: send it its end, call terminate(), or make it with daemon=True",
            )
        waits = "wait for one another, or for a signal"
        self.fail("loop.deadlock", f"all threads of {self._script} {waits}")

    def note(self, text: str) -> None:
        """Says something on standard error, once."""
        if text not in self._noted:
            self._noted.add(text)
            print(f"retake: {text}", file=sys.stderr)

    def fail(self, code: str, message: str) -> NoReturn:
        """Ends the run with an error; a script that began no run, with a line."""
        self.report(code, message)
        self.leave(2)

    def report(self, code: str, message: str) -> None:
        """Says why the process is about to end."""
        self.flush()
        print(f"retake: {message}", file=sys.stderr)
        is_own = os.getpid() == self._process
        if is_own and self._has_begun:
            self._wait_for_first()
        if self.first is not None:
            error = {"code": code, "message": message, "severity": "unrecoverable"}
            # The host may end the process then.
            self.is_reported = True
            try:
                self._channel.send({"error": error})
            except Closed:
                pass
        elif not is_own:
            # The script may wait for this process.
            self._channel.end()

    def _wait_for_first(self) -> None:
        """An error is about a frame."""
        try:
            # Ends with the first frame, or with the session.
            while self.first is None and not self.is_at_end:
                message = self._channel.receive()
                if "bye" in message:
                    break
                self._take(message)
        except Closed:
            pass

    def leave(self, status: int) -> NoReturn:
        """Ends the process, on whatever thread."""
        self.flush()
        os._exit(status)

    @staticmethod
    def flush() -> None:
        """Passes on what was printed until now."""
        for stream in (sys.stdout, sys.__stdout__, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                # The script has closed or removed it.
                pass


def copied(frame: Frame, convert: Any) -> Any:
    """What `convert` makes of the pixels, after which their memory may be used again."""
    pixels = convert(frame.array)
    if not released(frame):
        raise ProtocolError("the pixels of a frame were kept")
    return pixels

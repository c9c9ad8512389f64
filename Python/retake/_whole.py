"""Whole programs: a pipeline in Python under Retake's virtual clock, docs/programs.md."""

from __future__ import annotations

import inspect
import os
import select
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any, ClassVar, NoReturn

from ._channel import Channel, Closed, ProtocolError, TooLong
from ._frame import FORMATS, Frame, Slots, integer, released
from ._modules import NOTHING, Imported
from ._stage import VERSION, strings
from ._values import OUTPUTS, Output, ValueProblem, encoded

_NANOSECONDS_MAX = 2**63 - 1
_LOOK_SECONDS = 0.01
"""Between two looks at the threads of a program."""
_LOOKS_MAX = 100
"""How often threads are looked at after the last frame."""


class Timer:
    """What `Program.at` and `Program.after` return. It is due once, unless it is cancelled."""

    __slots__ = ("_call", "_id", "at_ns")

    def __init__(self, number: int, at_ns: int, call: Callable[[], object]) -> None:
        self._id = number
        self._call = call
        self.at_ns = at_ns
        """When it is due, in nanoseconds of virtual time."""


class Program:
    """A pipeline in Python, which Retake gives frames and virtual time.

    Write a class with a method `on_frame`, and hand it to `retake.main`::

        class Watch(retake.Program):
            sinks = {"alerts": "scalars"}
            formats = ["GRAY8"]

            def reset(self):
                self.quiet = None

            def on_frame(self, frame):
                if moved(frame):
                    self.cancel(self.quiet)
                    self.quiet = self.after(0.05, self.settled)

            def settled(self):
                self.out("alerts", {"settled": self.now})

        if __name__ == "__main__":
            retake.main(Watch)

    The object is made once, before the first frame: load models in `__init__`. If `__init__` has a
    parameter, it is given the options of the node, a dict. `reset` is called before each run.

    Ask `now` for the time and no clock, and set a timer instead of sleeping. An exception ends the
    program, and so the run; also one that ends a thread of the program.

    Everything is called on one thread. A thread of the program may give values with `out(…,
    frame=frame)` while `on_frame` waits for it. Any other use of this object on a thread of the
    program ends the run, because nothing decides which frame it belongs to.
    """

    sinks: ClassVar[Mapping[str, Output]] = {}
    """What the program gives values to: `{"boxes": "detections"}`."""
    formats: ClassVar[Sequence[str]] = ()
    """The pixel formats that it accepts, best first; empty means those of 8 bits that
    cameras give."""
    class_names: Sequence[str] = ()
    """The names of the classes of detections, by their index."""
    version: ClassVar[int] = 1
    """Counted up when the same frames give something else."""
    name: ClassVar[str] = ""
    """For errors; by default the name of the class."""

    _conversation: Conversation | None = None

    def on_frame(self, frame: Frame) -> None:
        """A frame arrived. Its pixels are valid until this returns."""
        raise NotImplementedError

    def reset(self) -> None:
        """A run begins: everything about earlier frames is forgotten. Timers already are."""

    @property
    def now_ns(self) -> int:
        """Virtual time in nanoseconds from the replay's origin.

        It does not advance while the program computes.
        """
        return self._running("now").now_ns

    @property
    def now(self) -> float:
        """Virtual time in seconds from the replay's origin."""
        return self.now_ns / 1e9

    def out(self, sink: str, value: object, frame: Frame | None = None) -> None:
        """Gives a value to a sink, about the frame that came last.

        May be called any number of times: what is given to one sink is appended.

        Args:
            value: A list of `Detection` or of `Label`, or a list of `Scalar` or a dict of numbers.
            frame: The frame that the value is about. A thread of the program has to name it, and
                `on_frame` has to wait for the thread: by then the run ends with an error.

        Raises:
            ValueError: There is no such sink, the value is not one of it, or another frame came
                last.
        """
        if self._conversation is None:
            raise RuntimeError(_NOT_RUNNING)
        self._conversation.out(sink, value, frame)

    def at(self, ns: int, call: Callable[[], object]) -> Timer:
        """Calls a function once at a virtual time, at once if that is over.

        Timers are called in the order of their times, and those at or before the time of a frame
        before it.
        """
        return self._running("at").set(ns, call)

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Calls a function once, that many seconds of virtual time from now."""
        return self.at(self.now_ns + round(seconds * 1e9), call)

    def cancel(self, timer: Timer | None) -> None:
        """The timer will not be called. `None`, and one that was called, change nothing."""
        if timer is not None:
            self._running("cancel").cancel(timer)

    def _running(self, word: str) -> Conversation:
        """The conversation, in which a call is open on this thread."""
        if self._conversation is None:
            raise RuntimeError(_NOT_RUNNING)
        self._conversation.require_own_thread(word)
        return self._conversation


_NOT_RUNNING = (
    "call this in on_frame or in a timer: before the first frame, the host does not take it"
)


class Failed(ProtocolError):
    """The program has ended the run. The host knows why, and standard error has the traceback."""


class Conversation:
    """The program's side, one message of the host at a time."""

    def __init__(
        self,
        body: type[Program],
        messages: socket.socket,
        memory: memoryview | None,
        imported: Callable[[], Imported] = lambda: NOTHING,
        strangers: Iterable[threading.Thread] = (),
    ) -> None:
        """A conversation that has not begun.

        Args:
            memory: The shared memory; `None` if pixels follow their messages.
            imported: The modules that the program has imported.
            strangers: Threads that are not the program's.
        """
        self._body = body
        self._channel = Channel(messages)
        self._memory = memory
        self._imported = imported
        self._strangers = frozenset(strangers)
        self._program: Program | None = None
        self._timers: dict[int, Timer] = {}
        self._count = 0
        self._sequence = 0
        self.now_ns = 0
        self.is_open = False
        """Whether the host waits for a `done`."""
        self._frame_now: Frame | None = None
        """What `on_frame` was given, until it returns."""
        self._process = os.getpid()
        self._thread = threading.get_ident()
        """The thread that calls the program."""
        # Orders what threads of the program give before the `done` of their frame.
        self._turn = threading.RLock()
        self._givers: dict[str, threading.Thread] = {}
        """Which thread has given values to a sink in the open call."""
        self._given: set[str] = set()
        """The sinks that were given something in this run."""
        self._has_frames = False
        self._failure: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the program has ended the run."""
        return self._failure is not None

    @property
    def channel(self) -> Channel:
        return self._channel

    def step(self) -> bool:
        """Receives a message and answers it; whether the conversation goes on.

        Raises:
            Closed: The host has left.
            ProtocolError: The host does not speak the protocol, or asks for something else.
        """
        message = self._channel.receive()
        # The conversation may have been made on another thread.
        self._thread = threading.get_ident()
        if self._program is None:
            self._begin(message)
            return True
        if isinstance(frame := message.get("frame"), dict):
            self._frame(frame, self._program)
        elif "timer" in message:
            self._timer(message)
        elif "reset" in message:
            self._settle()
            self._timers.clear()
            self._program.reset()
            self._answer({"reset": integer(message, "reset", 1)})
        # Other messages are those of later versions, and need no answer.
        return "bye" not in message

    def _begin(self, message: dict[str, Any]) -> None:
        hello = message.get("hello")
        if not isinstance(hello, dict):
            raise ProtocolError("the first message must be 'hello'")
        integer(hello, "v", 1)
        name = self._body.name or self._body.__name__
        if hello.get("output") != "program":
            raise ProtocolError(
                f"'{name}' is a whole program, and the output of the node is "
                f"{hello.get('output')}: write \"output\": \"program\", or use --program"
            )
        options = hello.get("options", {})
        takes_options = _takes_options(self._body)
        if options and not takes_options:
            raise ProtocolError(
                f"the program '{name}' takes no options, and the node has some: "
                + ", ".join(sorted(options))
                + ": leave them out, or take them with __init__(self, options)"
            )
        if self._memory is not None:
            self._slots = Slots.of(self._memory, hello)
        program = self._body(options) if takes_options else self._body()  # type: ignore[call-arg]
        program._conversation = self
        self._sinks = checked_sinks(self._body)
        self._class_names = strings(program.class_names, "class_names")
        self._program = program
        ready = {
            "v": VERSION,
            "name": name,
            "version": self._body.version,
            "output": "program",
            "state": "stateful",
            "formats": list(self._body.formats),
            "classNames": list(self._class_names),
            "sinks": dict(self._sinks),
        }
        if modules := self._imported().modules:
            ready["modules"] = modules
        self._answer({"ready": ready})

    def _frame(self, message: dict[str, Any], program: Program) -> None:
        if self._memory is None:
            size = integer(message, "bytes", 1)
            pixels = memoryview(self._channel.receive_bytes(size))
            frame = Slots(pixels, 1, size).frame(message)
        else:
            frame = self._slots.frame(message)
        self._sequence = frame.sequence
        self._has_frames = True
        self._frame_now = frame
        self._call(message, lambda: program.on_frame(frame))
        if not released(frame):
            raise ProtocolError(
                "the program keeps pixels of a frame, whose memory is used again; keep a copy: "
                "frame.array.copy()"
            )
        self._done(frame.sequence)

    def _timer(self, message: dict[str, Any]) -> None:
        number = integer(message, "timer", 0)
        timer = self._timers.pop(number, None)
        if timer is not None:
            self._call(message, timer._call)
        self._done({"timer": number, "nowNs": message["nowNs"]})

    def _call(self, message: dict[str, Any], call: Callable[[], object]) -> None:
        self.now_ns = integer(message, "nowNs", -_NANOSECONDS_MAX)
        self._givers.clear()
        self.is_open = True
        try:
            call()
        finally:
            with self._turn:
                self.is_open = False
                self._frame_now = None

    def _done(self, name: object) -> None:
        self._answer({"done": name})

    def _answer(self, message: dict[str, Any]) -> None:
        """Sends what the host waits for, unless the run has failed."""
        with self._turn:
            if self._failure is not None:
                raise Failed(self._failure)
            self._channel.send(message)

    # What a program does while a call is open.

    def out(self, sink: str, value: object, frame: Frame | None) -> None:
        if self._is_own_thread:
            self.require_own_thread("out")
            if frame is not None and frame.sequence != self._sequence:
                raise ValueError(
                    f"frame {self._sequence} came last, and 'out' names frame {frame.sequence}"
                )
            return self._give(sink, value)
        if frame is None:
            self._refuse(
                "out",
                "nothing says which frame it answers: call it in on_frame with what the thread "
                "returns, or let on_frame wait for it and name the frame, out(…, frame=frame)",
            )
        with self._turn:
            if frame is not self._frame_now:
                self._refuse(
                    "out",
                    f"on_frame had returned from frame {frame.sequence}: let it wait for the thread",
                )
            self._give(sink, value)

    def _give(self, sink: str, value: object) -> None:
        output = self._sinks.get(sink)
        if output is None:
            raise ValueError(f"there is no sink {sink!r}; the sinks are {', '.join(self._sinks)}")
        try:
            form = encoded(value, output, self._class_names)
        except ValueProblem as problem:
            raise ValueError(f"for the sink {sink!r}: {problem}") from None
        with self._turn:
            own = threading.current_thread()
            giver = self._givers.setdefault(sink, own)
            if giver is not own:
                self._refuse(
                    "out",
                    f"'{sink}' was given something by '{giver.name}' for the same frame, and "
                    "nothing decides which comes first: give a sink its values on one thread",
                )
            self._given.add(sink)
            self._channel.send({"out": {"sink": sink, "sequence": self._sequence, "value": form}})

    def set(self, ns: int, call: Callable[[], object]) -> Timer:
        if type(ns) is not int or not -_NANOSECONDS_MAX <= ns <= _NANOSECONDS_MAX:
            raise ValueError(f"a time is an integer of nanoseconds, not {ns!r}")
        if not callable(call):
            raise TypeError(f"a timer calls a function, not {call!r}")
        self._count += 1
        timer = Timer(self._count, ns, call)
        self._timers[timer._id] = timer
        self._channel.send({"timer": {"id": timer._id, "atNs": ns}})
        return timer

    def cancel(self, timer: Timer) -> None:
        if self._timers.pop(timer._id, None) is not None:
            self._channel.send({"cancel": timer._id})

    # Threads of the program.

    @property
    def _is_own_thread(self) -> bool:
        return threading.get_ident() == self._thread and os.getpid() == self._process

    def require_own_thread(self, word: str) -> None:
        """Ends the run on another thread.

        Raises:
            RuntimeError: No call is open.
        """
        if not self._is_own_thread:
            self._refuse(word, "do this in on_frame, and pass the thread what it needs")
        if not self.is_open:
            raise RuntimeError(_NOT_RUNNING)

    def _refuse(self, word: str, reason: str) -> NoReturn:
        """Ends the run, whatever the program does with the exception."""
        place = f"the thread '{threading.current_thread().name}'"
        if os.getpid() != self._process:
            place = "another process"
        # Not how Python starts a thread.
        stack = traceback.extract_stack(_outside(sys._getframe()))
        lines = traceback.format_list([at for at in stack if not _is_of_threads(at.filename)])
        print(f"Traceback of {place} (most recent call last):", file=sys.stderr)
        print("".join(lines), end="", file=sys.stderr, flush=True)
        self.fail("python.thread", f"'{word}' was called on {place}: {reason}")
        # Not an Exception: a thread that goes on after any of them ends, too.
        raise SystemExit(2)

    def fail(self, code: str, message: str) -> None:
        """Ends the run with an error, at once or at the next message of the host."""
        with self._turn:
            if self._failure is not None:
                return
            self._failure = message
            error = {"code": code, "message": message, "severity": "unrecoverable"}
            try:
                self._channel.send({"error": error})
            except (Closed, TooLong):
                # The host has left: no run needs the answer.
                pass

    def _settle(self) -> None:
        """Before a reset: a thread that is still at work may have something for a sink.

        What it gives ends the run. If the program has given nothing at all, its work would be lost
        without a word, so that ends the run, too.
        """
        if self._has_frames and len(self._given) < len(self._sinks):
            busy = self._busy_threads()
            # Bounded. Twice at least: a thread that was just woken looks as if it waits.
            for look in range(_LOOKS_MAX):
                if (not busy and look > 1) or not self._threads() or self._failure is not None:
                    break
                # Not a clock: it may be one that stands still.
                select.select([], [], [], _LOOK_SECONDS)
                busy = self._busy_threads()
            if busy and not self._given:
                self.fail(
                    "python.thread",
                    f"the program gave nothing to any sink, and {busy[0]} is still at work after "
                    "the last frame: let on_frame wait for what its threads find",
                )
        self._given.clear()
        self._has_frames = False

    def _threads(self) -> list[threading.Thread]:
        own = threading.current_thread()
        return [
            thread
            for thread in threading.enumerate()
            if thread is not own and thread not in self._strangers
        ]

    def _busy_threads(self) -> list[str]:
        """Those that do not wait for work: `the thread 'work' (watch.py:12 in work)`."""
        frames = sys._current_frames()
        found = [(thread.name, frames.get(thread.ident or 0)) for thread in self._threads()]
        return [
            f"the thread '{name}' ({_place(frame)})"
            for name, frame in found
            if frame is not None and not _is_waiting(frame)
        ]


_LIBRARY = os.path.dirname(threading.__file__)
_WAITS = ("threading.py", "queue.py", "selectors.py", "asyncio", "concurrent", "multiprocessing")


def _is_waiting(frame: FrameType) -> bool:
    """Whether a thread is where Python's own library waits for other threads."""
    return _is_of_threads(frame.f_code.co_filename)


def _is_of_threads(file: str) -> bool:
    return file.startswith(tuple(os.path.join(_LIBRARY, name) for name in _WAITS))


def _place(frame: FrameType) -> str:
    code = frame.f_code
    return f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}"


def _outside(frame: FrameType) -> FrameType:
    """The nearest caller that is not of this package."""
    own = os.path.dirname(os.path.abspath(__file__))
    # Bounded by the depth of the call.
    while frame.f_back and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == own:
        frame = frame.f_back
    return frame


def checked_sinks(body: type[Program]) -> dict[str, Output]:
    """The sinks of a program.

    Raises:
        TypeError: They are missing, or one is given something that does not exist.
    """
    sinks = dict(body.sinks)
    if not sinks:
        raise TypeError(f"{body.__name__} needs sinks, such as sinks = {{'boxes': 'detections'}}")
    for sink, output in sinks.items():
        if output not in OUTPUTS:
            raise TypeError(
                f"the sink {sink!r} is given one of {', '.join(OUTPUTS)}, not {output!r}"
            )
    for form in strings(body.formats, "formats"):
        if form not in FORMATS:
            raise TypeError(f"there is no format {form!r}; the formats are {', '.join(FORMATS)}")
    return sinks


def _takes_options(body: type[Program]) -> bool:
    if body.__init__ is object.__init__:
        return False
    return bool(inspect.signature(body).parameters)

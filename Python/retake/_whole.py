"""Whole programs: a pipeline in Python under Retake's virtual clock, docs/programs.md."""

from __future__ import annotations

import gc
import inspect
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ._channel import Channel, ProtocolError
from ._frame import FORMATS, Frame, Slots, integer
from ._stage import VERSION, strings
from ._values import OUTPUTS, Output, ValueProblem, encoded

_NANOSECONDS_MAX = 2**63 - 1


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

    Ask `now` for the time and no clock, and set a timer instead of sleeping. Everything runs on one
    thread. An exception ends the program, and so the run.
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
        return self._running.now_ns

    @property
    def now(self) -> float:
        """Virtual time in seconds from the replay's origin."""
        return self.now_ns / 1e9

    def out(self, sink: str, value: object) -> None:
        """Gives a value to a sink, about the frame that came last.

        May be called any number of times: what is given to one sink is appended.

        Args:
            value: A list of `Detection` or of `Label`, or a list of `Scalar` or a dict of numbers.

        Raises:
            ValueError: There is no such sink, or the value is not one of it.
        """
        self._running.out(sink, value)

    def at(self, ns: int, call: Callable[[], object]) -> Timer:
        """Calls a function once at a virtual time, at once if that is over.

        Timers are called in the order of their times, and those at or before the time of a frame
        before it.
        """
        return self._running.set(ns, call)

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Calls a function once, that many seconds of virtual time from now."""
        return self.at(self.now_ns + round(seconds * 1e9), call)

    def cancel(self, timer: Timer | None) -> None:
        """The timer will not be called. `None`, and one that was called, change nothing."""
        if timer is not None:
            self._running.cancel(timer)

    @property
    def _running(self) -> Conversation:
        if self._conversation is None or not self._conversation.is_open:
            raise RuntimeError(
                "a program may do this in on_frame and in a timer; before the first frame nothing "
                "waits for it"
            )
        return self._conversation


class Conversation:
    """The program's side, one message of the host at a time."""

    def __init__(
        self, body: type[Program], messages: socket.socket, memory: memoryview | None
    ) -> None:
        """A conversation that has not begun.

        Args:
            memory: The shared memory; `None` if pixels follow their messages.
        """
        self._body = body
        self._channel = Channel(messages)
        self._memory = memory
        self._program: Program | None = None
        self._timers: dict[int, Timer] = {}
        self._count = 0
        self._sequence = 0
        self.now_ns = 0
        self.is_open = False
        """Whether the host waits for a `done`."""

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
        if self._program is None:
            self._begin(message)
            return True
        if isinstance(frame := message.get("frame"), dict):
            self._frame(frame, self._program)
        elif "timer" in message:
            self._timer(message)
        elif "reset" in message:
            self._timers.clear()
            self._program.reset()
            self._channel.send({"reset": integer(message, "reset", 1)})
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
            )
        if self._memory is not None:
            self._slots = Slots.of(self._memory, hello)
        program = self._body(options) if takes_options else self._body()  # type: ignore[call-arg]
        program._conversation = self
        self._sinks = checked_sinks(self._body)
        self._class_names = strings(program.class_names, "class_names")
        self._program = program
        self._channel.send(
            {
                "ready": {
                    "v": VERSION,
                    "name": name,
                    "version": self._body.version,
                    "output": "program",
                    "state": "stateful",
                    "formats": list(self._body.formats),
                    "classNames": list(self._class_names),
                    "sinks": dict(self._sinks),
                }
            }
        )

    def _frame(self, message: dict[str, Any], program: Program) -> None:
        if self._memory is None:
            size = integer(message, "bytes", 1)
            pixels = memoryview(self._channel.receive_bytes(size))
            frame = Slots(pixels, 1, size).frame(message)
        else:
            frame = self._slots.frame(message)
        self._sequence = frame.sequence
        self._call(message, lambda: program.on_frame(frame))
        if not frame._release():
            gc.collect()
            if not frame._release():
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
        self.is_open = True
        try:
            call()
        finally:
            self.is_open = False

    def _done(self, name: object) -> None:
        self._channel.send({"done": name})

    # What a program does while a call is open.

    def out(self, sink: str, value: object) -> None:
        output = self._sinks.get(sink)
        if output is None:
            raise ValueError(f"there is no sink {sink!r}; the sinks are {', '.join(self._sinks)}")
        try:
            form = encoded(value, output, self._class_names)
        except ValueProblem as problem:
            raise ValueError(f"for the sink {sink!r}: {problem}") from None
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

"""The program's side of the stage protocol, docs/formats/stage-protocol.md."""

from __future__ import annotations

import contextvars
import inspect
import mmap
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from ._channel import Channel, Closed, ProtocolError, TooLong
from ._errors import MESSAGE_CHARACTERS_MAX, places, short
from ._frame import Frame, Slots, integer, released
from ._handover import offered
from ._modules import NOTHING, Imported
from ._stage import Declaration, RunningStage
from ._values import StageError, ValueProblem, encoded
from ._whole import Conversation as WholeConversation
from ._whole import Failed, Program, checked_sinks

_MESSAGES, _PIXELS = 3, 4
"""The files that the host gives to the program."""
_LOG_CHARACTERS_MAX = 4_000

_channel: contextvars.ContextVar[Channel | None] = contextvars.ContextVar("channel", default=None)


def main(stage: object) -> None:
    """Computes a stage, or a `Program`, for the Retake that started this, until it is done.

    Anything may be printed: the conversation has a socket of its own. What was printed last is
    shown if something fails.

    If no Retake started the program, it says so and ends with status 64. If Retake asks for
    something that the stage does not have, it ends with status 2.
    """
    program = _program(stage)
    declaration = None if program else Declaration.of(stage)
    if "RETAKE_PROTOCOL" not in os.environ:
        print(_usage(declaration), file=sys.stderr)
        sys.exit(64)
    try:
        if not _is_on_streams():
            for number in (_MESSAGES, _PIXELS):
                os.set_inheritable(number, False)
            # A test may want to compute the stage in its own process.
            status = offered(declaration, _MESSAGES, _PIXELS) if declaration else None
            if status is not None:
                if status != 0:
                    sys.exit(status)
                return
        with _messages() as messages:
            if program:
                _run_program(program, messages, _memory())
            else:
                _serve(stage, messages, _memory(), Imported.by_this_process)
    except Failed:
        # The host and standard error have the reason.
        sys.exit(2)
    except (OSError, ProtocolError) as error:
        print(f"retake: {error}", file=sys.stderr)
        sys.exit(2)


def _program(stage: object) -> type[Program] | None:
    """The whole program, if it is one and no stage."""
    if not (inspect.isclass(stage) and issubclass(stage, Program)):
        return None
    checked_sinks(stage)
    return stage


def _usage(declaration: Declaration | None) -> str:
    """What to type for a stage, or for a whole program if there is none."""
    script = os.path.basename(sys.argv[0] or ("stage.py" if declaration else "app.py"))
    if declaration is None:
        return (
            f"{script} is a whole program for Retake, which starts it: "
            f"retake replay SESSION --program 'python3 {script}'"
        )
    return (
        f"{script} computes the stage '{declaration.name}' for Retake, which starts it for a "
        f'node of a pipeline: {{"kind": "process", "options": {{"command": ["python3", '
        f'"{script}"], "output": "{declaration.output}"}}}}'
    )


def _is_on_streams() -> bool:
    """Whether messages and pixels come on the standard streams."""
    return os.environ.get("RETAKE_TRANSPORT") == "stdio"


def _messages() -> socket.socket:
    """The socket of the conversation. From now on nothing that is printed is part of it."""
    number = _MESSAGES
    if _is_on_streams():
        number = os.dup(0)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    # So that the last words before a crash are not lost.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    return socket.socket(fileno=number)


def _memory() -> mmap.mmap | None:
    if _is_on_streams():
        return None
    size = os.fstat(_PIXELS).st_size
    return mmap.mmap(_PIXELS, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)


def _run(step: Callable[[], bool], channel: Channel) -> None:
    token = _channel.set(channel)
    try:
        # Ends: at the latest when the host closes the socket.
        while step():
            pass
    except Closed:
        pass
    finally:
        _channel.reset(token)


def serve(stage: object, messages: socket.socket, memory: Any) -> None:
    """Computes the stage for the host at the other end of a socket, until it says `bye`.

    Args:
        stage: A function or class with `@retake.stage`, or a `Program`.
        messages: A connected stream socket.
        memory: What the host writes pixels to: a map or another object with a buffer. `None` if
            pixels follow their messages.

    Raises:
        ProtocolError: The host does not speak the stage protocol, or asks for something else.
    """
    if program := _program(stage):
        view = None if memory is None else memoryview(memory)
        whole = WholeConversation(program, messages, view, strangers=threading.enumerate())
        _run(whole.step, whole.channel)
        return
    _serve(stage, messages, memory, lambda: NOTHING)


def _run_program(program: type[Program], messages: socket.socket, memory: Any) -> None:
    """Computes a whole program in the process that was started for it."""
    view = None if memory is None else memoryview(memory)
    conversation = WholeConversation(program, messages, view, Imported.by_this_process)
    print_exception = threading.excepthook

    def end_run(given: threading.ExceptHookArgs) -> None:
        print_exception(given)
        if isinstance(given.exc_value, Exception) and not isinstance(given.exc_value, Closed):
            name = given.thread.name if given.thread else "?"
            text = f"its thread '{name}' was ended by an exception: {short(given.exc_value)}"
            conversation.fail("python.exception", _line(text)[:MESSAGE_CHARACTERS_MAX])

    threading.excepthook = end_run
    _run(conversation.step, conversation.channel)
    if conversation.has_failed:
        sys.exit(2)


def _serve(
    stage: object, messages: socket.socket, memory: Any, imported: Callable[[], Imported]
) -> None:
    view = None if memory is None else memoryview(memory)
    conversation = Conversation(Declaration.of(stage), messages, view, imported)
    try:
        # Ends: at the latest when the host closes the socket.
        while conversation.step():
            pass
    except Closed:
        pass


def log(text: str, level: str = "info") -> None:
    """Tells the host something that it shows if the run fails. It changes no result.

    Args:
        text: One line.
        level: `debug`, `info`, `warning` or `error`.
    """
    line = _line(str(text))[:_LOG_CHARACTERS_MAX]
    channel = _channel.get()
    if channel is None:
        print(f"{level}: {line}", file=sys.stderr)
    else:
        channel.send({"log": {"level": level, "text": line}})


class Conversation:
    """The program's side, one message of the host at a time."""

    def __init__(
        self,
        declaration: Declaration,
        messages: socket.socket,
        memory: memoryview | None,
        imported: Callable[[], Imported],
        failed: Callable[[Frame, Exception], None] | None = None,
    ) -> None:
        """A conversation that has not begun.

        Args:
            memory: The shared memory; `None` if pixels follow their messages.
            imported: The modules that the program has imported.
            failed: Is given what the stage raises, instead of standard error.
        """
        self._declaration = declaration
        self._channel = Channel(messages)
        self._memory = memory
        self._imported = imported
        self._failed = failed or _print
        self._stage: RunningStage | None = None
        # The frames of a batch that have come.
        self._batch: list[Frame] = []

    def step(self) -> bool:
        """Receives a message and answers it; whether the conversation goes on.

        Raises:
            Closed: The host has left.
            ProtocolError: The host does not speak the stage protocol, or asks for something else.
        """
        token = _channel.set(self._channel)
        try:
            message = self._channel.receive()
            if self._stage is None:
                self._begin(message)
                return True
            return self._go_on(message, self._stage)
        finally:
            _channel.reset(token)

    @property
    def has_more(self) -> bool:
        """Whether a message, or the beginning of one, was already received."""
        return self._channel.has_more

    def _begin(self, message: dict[str, Any]) -> None:
        hello = self._hello(message)
        if self._memory is not None:
            self._slots = Slots.of(self._memory, hello)
        options = hello.get("options", {})
        if not isinstance(options, dict):
            raise ProtocolError("'options' must be an object")
        stage = RunningStage(self._declaration, options)
        ready = stage.ready
        modules, fingerprint = self._imported()
        ready["fingerprint"] = " ".join(filter(None, (ready["fingerprint"], fingerprint)))
        if modules:
            ready["modules"] = modules
        self._stage = stage
        self._channel.send({"ready": ready})

    def _hello(self, message: dict[str, Any]) -> dict[str, Any]:
        hello = _content(message, "hello")
        if hello is None:
            raise ProtocolError("the first message must be 'hello'")
        # The host may speak newer versions, too; it follows the one of 'ready'.
        integer(hello, "v", 1)
        declaration = self._declaration
        if hello.get("output") != declaration.output:
            raise ProtocolError(
                f"the stage '{declaration.name}' returns {declaration.output}, and the output of "
                f"the node is {hello.get('output')}"
            )
        return hello

    def _go_on(self, message: dict[str, Any], stage: RunningStage) -> bool:
        if (frame := _content(message, "frame")) is not None:
            self._batch.append(self._frame(frame))
            # Counts down to the last frame of a batch.
            if "batch" not in frame or integer(frame, "batch", 1) == 1:
                frames, self._batch = self._batch, []
                self._answer(frames, stage)
        elif "reset" in message:
            stage.reset()
            self._channel.send({"reset": integer(message, "reset", 1)})
        # Other messages are those of later versions, and need no answer.
        return "bye" not in message

    def _frame(self, message: dict[str, Any]) -> Frame:
        if self._memory is not None:
            return self._slots.frame(message)
        size = integer(message, "bytes", 1)
        pixels = memoryview(self._channel.receive_bytes(size))
        return Slots(pixels, 1, size).frame(message)

    def _answer(self, frames: list[Frame], stage: RunningStage) -> None:
        outcomes = self._together(frames, stage) if len(frames) > 1 and stage.batch else None
        for index, frame in enumerate(frames):
            name: dict[str, Any] = {"sequence": frame.sequence}
            if frame.item is not None:
                name["item"] = frame.item
            outcome = outcomes[index] if outcomes else self._outcome(frame, stage)
            if self._keeps(frame):
                outcome = _error(
                    "python.keptPixels",
                    "the stage keeps pixels of an earlier frame, whose memory is used again; keep "
                    "a copy: frame.array.copy()",
                    recoverable=False,
                )
            try:
                self._channel.send(name | outcome)
            except TooLong as error:
                self._channel.send(name | _error("python.value", str(error), recoverable=False))

    def _together(self, frames: list[Frame], stage: RunningStage) -> list[dict[str, Any]] | None:
        """The outcomes of a batch; `None` if the frames have to be computed one by one."""
        assert stage.batch is not None
        output, names = stage.declaration.output, stage.class_names
        try:
            values = list(stage.batch(frames))
            if len(values) == len(frames):
                return [{"value": encoded(value, output, names)} for value in values]
            text = f"'batch' returned {len(values)} values for {len(frames)} frames"
            return [_error("python.value", text, recoverable=False)] * len(frames)
        except MemoryError:
            raise
        except Exception as error:
            # So that the error belongs to its frame.
            log(f"'batch' failed, its frames are computed one by one: {short(error)}", "warning")
            return None

    def _outcome(self, frame: Frame, stage: RunningStage) -> dict[str, Any]:
        try:
            try:
                value = stage.process(frame)
            except ValueProblem as problem:
                # It was made there, and not only returned.
                self._failed(frame, problem)
                return _error("python.value", f"{problem}{places(problem)}", recoverable=False)
            return {"value": encoded(value, stage.declaration.output, stage.class_names)}
        except StageError as error:
            return _error(error.code, error.message, error.recoverable)
        except ValueProblem as problem:
            return _error("python.value", str(problem), recoverable=False)
        except MemoryError:
            # A result must not depend on the machine: this ends the program, and so the run.
            raise
        except Exception as error:
            self._failed(frame, error)
            return _error("python.exception", short(error), recoverable=True)

    def _keeps(self, frame: Frame) -> bool:
        """Ends the access to the pixels; says whether the stage may still read them.

        Then they are those of a later frame.
        """
        return not released(frame)


def _print(_: Frame, error: Exception) -> None:
    traceback.print_exception(error)


def _content(message: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The content of the message, if it has that name."""
    if name not in message:
        return None
    content = message[name]
    if not isinstance(content, dict):
        raise ProtocolError(f"'{name}' must be an object")
    return content


def _error(code: str, message: str, recoverable: bool) -> dict[str, Any]:
    return {
        "error": {
            "code": code,
            "message": _line(message)[:MESSAGE_CHARACTERS_MAX],
            "severity": "recoverable" if recoverable else "unrecoverable",
        }
    }


def _line(text: str) -> str:
    """On one line, and without halves of characters, which a message cannot have."""
    return " ".join(text.split()).encode("utf-8", "replace").decode("utf-8")

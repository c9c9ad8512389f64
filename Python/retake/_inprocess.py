"""Computes stages on the thread of a test, for the programs that Retake starts."""

from __future__ import annotations

import inspect
import mmap
import os
import selectors
import socket
import traceback
from collections.abc import Sequence

from ._channel import Closed
from ._frame import Frame
from ._handover import Listener, Offer
from ._program import Conversation
from ._stage import Declaration
from ._whole import Program

_IS_PROGRAM = (
    "{name} is a retake.Program, and only stages are computed in the test's process: leave out "
    "stage=, and the program runs in a process of its own. For breakpoints there, start the case "
    "with: retake replay SESSION --pipeline CASE --watchdog 0 --show-programs, and attach a debugger"
)


class InProcess:
    """Stages of this process, which programs with stages of the same name offer to it."""

    def __init__(self, stages: Sequence[object]) -> None:
        """Listens for programs; `close` ends that.

        Raises:
            TypeError: One of them is not a stage.
            ValueError: Two have the same name.
        """
        self._declarations: dict[str, Declaration] = {}
        for stage in stages:
            if inspect.isclass(stage) and issubclass(stage, Program):
                raise TypeError(_IS_PROGRAM.format(name=stage.__name__))
            declaration = Declaration.of(stage)
            if declaration.name in self._declarations:
                raise ValueError(f"two stages are named '{declaration.name}'")
            self._declarations[declaration.name] = declaration
        self._taken: set[str] = set()
        self._refused: set[str] = set()
        self._first_failure = ""
        self._failures = 0
        self._served: list[_Served] = []
        self._listener = Listener()

    @property
    def address(self) -> str:
        """For the programs, in the variable `_handover.VARIABLE`."""
        return self._listener.address

    @property
    def missing(self) -> list[str]:
        """Names of stages that no program has offered."""
        return [name for name in self._declarations if name not in self._taken]

    @property
    def refused(self) -> list[str]:
        """Names of stages that were offered, and are not among those of this process."""
        return sorted(self._refused)

    @property
    def failure(self) -> str:
        """What a stage raised, with its traceback; `""` if nothing was raised."""
        if self._failures < 2:
            return self._first_failure
        return f"{self._first_failure}It raised {self._failures} times.\n"

    def serve(self, until: socket.socket) -> None:
        """Computes frames on this thread, until something can be read from the socket.

        Whatever ends a stage besides an exception for one frame is raised from here.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(until, selectors.EVENT_READ)
            selector.register(self._listener.socket, selectors.EVENT_READ)
            # Ends with the process behind `until`, which limits how long its programs may wait.
            while True:
                ready = [key for key, _ in selector.select()]
                for key in ready:
                    if isinstance(key.data, _Served):
                        if not key.data.advance():
                            selector.unregister(key.fileobj)
                            key.data.close(0)
                    elif key.fileobj is self._listener.socket:
                        served = self._accept()
                        if served is not None:
                            selector.register(served.messages, selectors.EVENT_READ, served)
                if any(key.fileobj is until for key in ready):
                    return

    def close(self) -> None:
        """Ends what is still open."""
        for served in self._served:
            served.close(1)
        self._listener.close()

    def _accept(self) -> _Served | None:
        """The conversation of a program that has connected, if its stage is one of these."""
        program = self._listener.accept()
        try:
            offer = Offer(program)
            declaration = self._declarations.get(offer.name)
            if declaration is None:
                self._refused.add(offer.name)
                offer.refuse()
                return None
            served = _Served(offer, declaration, self)
        except Closed:
            # It was ended in between. Retake says why, if that was not on purpose.
            program.close()
            return None
        self._taken.add(offer.name)
        self._served.append(served)
        return served

    def _note(self, frame: Frame, error: Exception) -> None:
        # The text alone: a traceback would keep the pixels of the frame.
        if not self._failures:
            trace = error.__traceback__
            # Bounded by the depth of the call. The frames of this package say nothing.
            while trace and trace.tb_next and _is_own(trace.tb_frame.f_code.co_filename):
                trace = trace.tb_next
            text = "".join(traceback.format_exception(type(error), error, trace))
            self._first_failure = f"frame {frame.track}:{frame.sequence}:\n{text}"
        self._failures += 1


def _is_own(file: str) -> bool:
    return os.path.dirname(os.path.abspath(file)) == os.path.dirname(os.path.abspath(__file__))


class _Served:
    """The conversation with Retake in place of one program."""

    def __init__(self, offer: Offer, declaration: Declaration, tests: InProcess) -> None:
        self._offer = offer
        self.messages, pixels = offer.take()
        try:
            size = os.fstat(pixels).st_size
            memory = mmap.mmap(pixels, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
        finally:
            os.close(pixels)
        self._conversation = Conversation(
            declaration, self.messages, memoryview(memory), lambda: offer.imported, tests._note
        )
        self._is_open = True

    def advance(self) -> bool:
        """Answers what has arrived; whether the conversation goes on."""
        try:
            # Bounded: the host waits for each answer before it sends the next frame.
            while self._conversation.step():
                if not self._conversation.has_more:
                    return True
        except Closed:
            pass
        return False

    def close(self, status: int) -> None:
        """The program ends with the status, if it has not."""
        if self._is_open:
            self._is_open = False
            self.messages.close()
            self._offer.end(status)

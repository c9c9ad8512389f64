"""A host of the stage protocol for tests. Imported first: it finds the package in the source."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import mmap
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
PACKAGE = FOLDER.parent
REPOSITORY = PACKAGE.parent
sys.path.insert(0, str(PACKAGE))

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
NO_NUMPY = "numpy is not installed"
HAS_MEMFD = hasattr(os, "memfd_create")
NO_MEMFD = "the system has no memfd_create"

# Only turns a hang into a failure.
LIMIT_SECONDS = 300


class Host:
    """One side of the conversation, with its memory."""

    def __init__(self, messages: socket.socket, memory: memoryview, slots: int) -> None:
        self.socket = messages
        self.memory = memory
        self.slots = slots
        self.slot_bytes = len(memory) // slots
        self.logs: list[dict[str, Any]] = []
        messages.settimeout(LIMIT_SECONDS)

    def send(self, message: dict[str, Any] | bytes) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_raw(len(body).to_bytes(4, "little") + body)

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> dict[str, Any]:
        """The next message that is no log."""
        while True:
            length = int.from_bytes(self._take(4), "little")
            assert 0 < length <= 32 << 20, length
            message = json.loads(self._take(length), parse_constant=self._refuse)
            assert isinstance(message, dict)
            if list(message) != ["log"]:
                return message
            self.logs.append(message["log"])

    @staticmethod
    def _refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def is_at_end(self) -> bool:
        """Waits for the end of the stream; whether nothing was sent before."""
        return self.socket.recv(1) == b""

    def hello(self, **keys: Any) -> None:
        content = {
            "v": 1,
            "clock": "virtual",
            "output": "detections",
            "options": {},
            "slots": self.slots,
            "slotBytes": self.slot_bytes,
        }
        self.send({"hello": content | keys})

    def greet(self, **keys: Any) -> dict[str, Any]:
        self.hello(**keys)
        return self.receive()["ready"]

    def show(self, pixels: bytes, sequence: int = 0, slot: int = 0, **keys: Any) -> None:
        """Sends a frame: by default 2 x 2 pixels in GRAY8, with rows of 2 bytes."""
        start = slot * self.slot_bytes
        self.memory[start : start + len(pixels)] = pixels
        content = {
            "track": 0,
            "sequence": sequence,
            "item": None,
            "ptsNs": sequence * 33_333_333,
            "slot": slot,
            "format": "GRAY8",
            "width": 2,
            "height": 2,
            "range": "full",
            "matrix": "identity",
            "planes": [[0, 2]],
        }
        self.send({"frame": content | keys})

    def ask(self, pixels: bytes = b"\0\0\0\0", sequence: int = 0, **keys: Any) -> dict[str, Any]:
        """The reply to a frame."""
        self.show(pixels, sequence, **keys)
        return self.receive()

    def bye(self) -> None:
        self.send({"bye": {"reason": "end"}})


class Served:
    """A stage in this process, on a thread of its own."""

    def __init__(self, stage: object, slots: int = 1, slot_bytes: int = 64) -> None:
        import retake

        own, other = socket.socketpair()
        memory = mmap.mmap(-1, slots * slot_bytes)
        self.host = Host(own, memoryview(memory), slots)
        self.error: BaseException | None = None

        def serve() -> None:
            with other:
                try:
                    retake.serve(stage, other, memory)
                except BaseException as error:
                    self.error = error

        # A test that fails may leave it behind.
        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()

    def end(self) -> BaseException | None:
        """Waits for the stage; what it raised."""
        self.host.socket.shutdown(socket.SHUT_WR)
        # It may still send, and must not wait for a reader.
        while self.host.socket.recv(1 << 16):
            pass
        self._thread.join()
        self.host.socket.close()
        return self.error


@contextlib.contextmanager
def served(stage: object, slots: int = 1, slot_bytes: int = 64) -> Iterator[Host]:
    """A conversation with a stage in this process, which ends without an error."""
    running = Served(stage, slots, slot_bytes)
    try:
        yield running.host
    finally:
        error = running.end()
    if error:
        raise error


class Child:
    """A program that was started as Retake starts it."""

    def __init__(
        self, command: list[str], slots: int = 1, slot_bytes: int = 1 << 16, **variables: str
    ) -> None:
        own, other = socket.socketpair()
        pixels = os.memfd_create("pixels")
        os.ftruncate(pixels, slots * slot_bytes)
        memory = mmap.mmap(pixels, slots * slot_bytes)
        self.host = Host(own, memoryview(memory), slots)
        self._output = tempfile.TemporaryFile()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RETAKE_", "PYTHON"))
        }
        # Packages that the tests find, a child finds, too.
        packages = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
        environment |= {"RETAKE_PROTOCOL": "1", "PYTHONPATH": packages} | variables
        # The numbers of the originals must not be those of the copies.
        raised = [_raised(other.fileno()), _raised(pixels), _raised(self._output.fileno())]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, raised[2], 1),
            (os.POSIX_SPAWN_DUP2, raised[2], 2),
            (os.POSIX_SPAWN_DUP2, raised[0], 3),
            (os.POSIX_SPAWN_DUP2, raised[1], 4),
        ]
        self.id = os.posix_spawn(
            command[0], command, environment, file_actions=actions, setpgroup=0
        )
        for number in [*raised, pixels]:
            os.close(number)
        other.close()
        self._status: int | None = None

    def reset(self, number: int) -> None:
        self.host.send({"reset": number})
        answer = self.host.receive()
        assert answer == {"reset": number}, answer

    @property
    def status(self) -> int:
        """Waits for the program: its exit status, or a negative signal."""
        if self._status is None:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.id, 0)[1])
        return self._status

    @property
    def output(self) -> str:
        """What it wrote, after its end."""
        _ = self.status
        self._output.seek(0)
        return self._output.read().decode()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self.host.socket.close()
        if self._status is None:
            os.kill(self.id, signal.SIGKILL)
            _ = self.status
        self._output.close()


def _raised(number: int) -> int:
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 20)


def python(*arguments: str) -> list[str]:
    """This Python, which writes no files next to the sources."""
    return [sys.executable, "-B", *arguments]

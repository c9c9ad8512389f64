"""Stages that are computed in the process of their test, instead of the one that Retake starts.

Retake starts the program of a stage as always. When that program calls `retake.main`, and the
environment names a socket, it offers its two files to the process that listens there. That one
computes the stage; the program waits, and ends with the status that it is given.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from ._channel import Channel, Closed, ProtocolError
from ._modules import Imported
from ._stage import Declaration

VARIABLE = "RETAKE_STAGE_SOCKET"
"""The environment variable with the path of the socket."""
_FILES = 2
_OFFER = b"o"
"""The byte that the files come with."""


def offered(declaration: Declaration, messages: int, pixels: int) -> int | None:
    """Offers the files of the stage protocol to a test, and waits until it is done with them.

    Returns:
        The status with which this program has to end, or `None` if no test wants the stage.
    """
    address = os.environ.get(VARIABLE)
    if not address:
        return None
    with socket.socket(socket.AF_UNIX) as test:
        try:
            test.connect(address)
        except OSError:
            # The variable of a test that has ended.
            return None
        socket.send_fds(test, [_OFFER], [messages, pixels])
        channel = Channel(test)
        try:
            modules, fingerprint = Imported.by_this_process()
            offer = {"name": declaration.name, "modules": modules, "fingerprint": fingerprint}
            channel.send({"offer": offer})
            if channel.receive().get("taken") is not True:
                return None
            # Only the test has them now, so that Retake sees when it closes them.
            os.close(messages)
            os.close(pixels)
            return int(channel.receive()["status"])
        except Closed:
            print("retake: the test that computed this stage has ended", file=sys.stderr)
            return 1


class Offer:
    """A program that Retake started, and that would compute a stage."""

    def __init__(self, program: socket.socket) -> None:
        """Receives the offer of a program that has connected.

        Raises:
            Closed: The program has ended.
            ProtocolError: It does not make an offer.
        """
        self._channel = Channel(program)
        self._program = program
        byte, files, _, _ = socket.recv_fds(program, len(_OFFER), _FILES)
        self._files = files
        if not byte:
            raise Closed
        content = self._channel.receive().get("offer")
        if byte != _OFFER or len(files) != _FILES or not isinstance(content, dict):
            self.close()
            raise ProtocolError("a program that connected made no offer")
        self.name = str(content.get("name"))
        self.imported = Imported(
            dict(content.get("modules") or {}), str(content.get("fingerprint") or "")
        )

    def take(self) -> tuple[socket.socket, int]:
        """Takes the socket, and the file of the shared memory. They belong to the caller."""
        self._channel.send({"taken": True})
        messages, pixels = self._files
        self._files = []
        return socket.socket(fileno=messages), pixels

    def refuse(self) -> None:
        """The program computes the stage itself."""
        self._channel.send({"taken": False})
        self.close()

    def end(self, status: int) -> None:
        """The program ends with the status. Nothing happens if it has ended."""
        try:
            self._channel.send({"status": status})
        except Closed:
            pass
        self.close()

    def close(self) -> None:
        """The program ends with an error, if it was not told otherwise."""
        for number in self._files:
            os.close(number)
        self._files = []
        self._program.close()


class Listener:
    """A socket for programs with stages, in a folder that only this user can enter."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="retake-")
        self.address = os.path.join(self._folder, "stage")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.address)
        self.socket.listen()

    def accept(self) -> socket.socket:
        """The next program. Waits for it."""
        return self.socket.accept()[0]

    def close(self) -> None:
        self.socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

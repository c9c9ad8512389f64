"""Messages on a socket: a length of four bytes, little-endian, then JSON."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # `socket` itself loads slowly, and loops do without it.
    import _socket

BYTES_MAX = 32 << 20
"""The largest body of a message to the host."""
_RECEIVED_BYTES_MAX = 4 << 20
_HEADER_BYTES = 4
_PIECE_BYTES = 1 << 16
_SHUT_RDWR = 2


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


# Made once: `json.dumps` and `json.loads` would make them again for each message.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class ProtocolError(Exception):
    """The host sent something that the stage protocol does not have, or that cannot be used."""


class TooLong(Exception):
    """A message of this side that is larger than the protocol allows. Nothing was sent."""

    def __init__(self, byte_count: int) -> None:
        super().__init__(f"the message has {byte_count} bytes; at most {BYTES_MAX} are possible")


class Closed(Exception):
    """The host has closed the socket."""


def framed(message: dict[str, Any]) -> bytes:
    """The bytes of a message whose strings have no halves of characters.

    Raises:
        TooLong: The protocol does not allow it.
    """
    body = _ENCODER.encode(message).encode()
    if len(body) > BYTES_MAX:
        raise TooLong(len(body))
    return len(body).to_bytes(_HEADER_BYTES, "little") + body


class Channel:
    """One thread receives; any thread may send."""

    def __init__(self, messages: _socket.socket) -> None:
        self._socket = messages
        self._received = b""
        self._sending = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """Sends a message whose strings have no halves of characters.

        Raises:
            TooLong: Nothing was sent.
            Closed: No one receives messages any more.
        """
        self.send_bytes(framed(message))

    def send_bytes(self, messages: bytes) -> None:
        """Sends what `framed` returned, of any number of messages.

        Raises:
            Closed: No one receives messages any more.
        """
        try:
            with self._sending:
                self._socket.sendall(messages)
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def end(self) -> None:
        """Closes the socket for all processes that have it."""
        self._socket.shutdown(_SHUT_RDWR)

    def receive(self) -> dict[str, Any]:
        """The next message.

        Raises:
            Closed: There is none.
            ProtocolError: It is not a message.
        """
        header = self._take(_HEADER_BYTES)
        length = int.from_bytes(header, "little")
        if not 0 < length <= _RECEIVED_BYTES_MAX:
            raise ProtocolError(f"a message has 1 to {_RECEIVED_BYTES_MAX} bytes, not {length}")
        body = self._take(length, is_inside=True)
        try:
            message = _DECODER.decode(body.decode())
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"a message is not JSON: {error}") from None
        if not isinstance(message, dict):
            raise ProtocolError("a message is not a JSON object")
        return message

    def receive_bytes(self, count: int) -> bytes:
        """That many bytes, which follow a message.

        Raises:
            ProtocolError: The host has closed the socket before.
        """
        return self._take(count, is_inside=True)

    @property
    def has_more(self) -> bool:
        """Whether more was received than the messages that were returned."""
        return bool(self._received)

    def _take(self, count: int, is_inside: bool = False) -> bytes:
        if len(self._received) >= count:
            taken, self._received = self._received[:count], self._received[count:]
            return taken
        pieces = [self._received]
        missing = count - len(self._received)
        while missing > 0:
            try:
                piece = self._socket.recv(max(missing, _PIECE_BYTES))
            except ConnectionResetError:
                piece = b""
            if not piece:
                if is_inside or any(pieces):
                    raise ProtocolError("the host closed the socket inside of a message")
                raise Closed
            pieces.append(piece)
            missing -= len(piece)
        whole = b"".join(pieces)
        self._received = whole[count:]
        return whole[:count]

"""The loop that runs in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._host import Host

host: Host | None = None


def out(sink: str, value: object) -> None:
    """Gives a value to a sink of `python3 -m retake.loop --sink NAME=KIND`, about the last frame.

    Nothing happens if the script runs without Retake.

    Args:
        value: A list of `Detection` or of `Label`, or a list of `Scalar` or a dict of numbers.

    Raises:
        ValueError: There is no such sink, or the value is not one of it.
    """
    if host is not None:
        host.out(sink, value)

"""What a frame's stage reads of sensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._channel import ProtocolError

_INTEGER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a sensor."""

    time_ns: int
    """When it was measured, in nanoseconds from the replay's origin, as `Frame.pts_ns`."""
    values: tuple[float, ...]
    """One for each channel; NaN where there is none."""


@dataclass(frozen=True, slots=True)
class Sensor:
    """What was read of a sensor for one frame: nothing from behind the frame."""

    name: str
    unit: str
    """Of all channels; empty if there is none, or if they differ."""
    channels: tuple[str, ...]
    """The names of the values of a sample."""
    latest: Sample | None
    """The newest sample at the frame's arrival; None before the first one."""
    window: tuple[Sample, ...] = ()
    """The samples of the time before the frame that the node names, in order."""

    def __getitem__(self, channel: str) -> float:
        """The newest value of a channel; NaN before the first sample.

        Raises:
            KeyError: There is no such channel.
        """
        if channel not in self.channels:
            raise KeyError(f"{self.name} has no channel {channel!r}; it has {self.channels}")
        if self.latest is None:
            return math.nan
        return self.latest.values[self.channels.index(channel)]


def read_sensors(message: dict[str, Any]) -> dict[str, Sensor]:
    """The sensors of a frame's message, by their names.

    Raises:
        ProtocolError: They are not what the protocol says.
    """
    given = message.get("sensors", [])
    if not isinstance(given, list):
        raise ProtocolError(f"'sensors' must be a list, is {given!r}")
    sensors = [_sensor(one) for one in given]
    return {sensor.name: sensor for sensor in sensors}


def _sensor(given: object) -> Sensor:
    if not isinstance(given, dict):
        raise ProtocolError(f"a sensor must be an object, is {given!r}")
    channels = given.get("channels")
    if not isinstance(channels, list) or not all(isinstance(one, str) for one in channels):
        raise ProtocolError(f"'channels' must be a list of strings, is {channels!r}")
    latest, window = given.get("latest"), given.get("window")
    if not isinstance(window, list):
        raise ProtocolError(f"'window' must be a list, is {window!r}")
    return Sensor(
        name=_string(given, "sensor"),
        unit=_string(given, "unit"),
        channels=tuple(channels),
        latest=None if latest is None else _sample(latest, len(channels)),
        window=tuple(_sample(one, len(channels)) for one in window),
    )


def _sample(given: object, count: int) -> Sample:
    if not isinstance(given, list) or len(given) != 2:
        raise ProtocolError(f"a sample is [time, [values]], not {given!r}")
    time, values = given
    if type(time) is not int or not -_INTEGER_MAX - 1 <= time <= _INTEGER_MAX:
        raise ProtocolError(f"the time of a sample must be an integer, is {time!r}")
    if not isinstance(values, list) or len(values) != count:
        raise ProtocolError(f"a sample has {count} values, not {values!r}")
    return Sample(time, tuple(_value(one) for one in values))


def _value(given: object) -> float:
    if given is None:
        return math.nan
    if type(given) not in (int, float):
        raise ProtocolError(f"a value must be a number or null, is {given!r}")
    return float(given)  # type: ignore[arg-type]


def _string(given: dict[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise ProtocolError(f"'{key}' must be a string, is {value!r}")
    return value

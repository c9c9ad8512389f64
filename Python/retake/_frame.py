"""Frames, and the shared memory in which their pixels are."""

from __future__ import annotations

import gc
import select
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._channel import ProtocolError

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from ._sensor import Sensor

    Array = numpy.typing.NDArray[numpy.uint8] | numpy.typing.NDArray[numpy.uint16]

_INTEGER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Shape:
    """A plane of a format: its sides are the frame's divided by these, rounded up."""

    across: int = 1
    down: int = 1
    channels: int = 1
    sample_bytes: int = 1

    @property
    def column_bytes(self) -> int:
        """Bytes of all samples of a column."""
        return self.channels * self.sample_bytes

    def sides(self, width: int, height: int) -> tuple[int, int]:
        """Columns and rows of the plane of a frame."""
        return -(-width // self.across), -(-height // self.down)


PLANES: dict[str, tuple[_Shape, ...]] = {
    "GRAY8": (_Shape(),),
    "RGB24": (_Shape(channels=3),),
    "BGR24": (_Shape(channels=3),),
    "BGRA": (_Shape(channels=4),),
    "RGBA": (_Shape(channels=4),),
    "I420": (_Shape(), _Shape(2, 2), _Shape(2, 2)),
    "I422": (_Shape(), _Shape(2), _Shape(2)),
    "I444": (_Shape(), _Shape(), _Shape()),
    "NV12": (_Shape(), _Shape(2, 2, 2)),
}



def _deep(shapes: tuple[_Shape, ...]) -> tuple[_Shape, ...]:
    return tuple(_Shape(s.across, s.down, s.channels, 2) for s in shapes)


_CHROMA = {
    "I420": _Shape(2, 2),
    "I422": _Shape(2),
    "I444": _Shape(),
    "I440": _Shape(1, 2),
    "I411": _Shape(4),
    "I410": _Shape(4, 4),
}
"""The formats of three planes, by the shape of the last two."""


def _rarer() -> dict[str, tuple[_Shape, ...]]:
    """The formats that a stage gets only if it names them."""
    luma, formats = _Shape(), {}
    depths = {"I420": (9, 10, 12, 14, 16), "I440": (10, 12)}
    for name, chroma in _CHROMA.items():
        planes = (luma, chroma, chroma)
        formats[name] = planes
        for bits in depths.get(name, depths["I420"] if name in ("I422", "I444") else ()):
            formats[f"{name}P{bits}"] = _deep(planes)
    for name in ("I420", "I422", "I444"):
        planes = (*formats[name], luma)
        formats[f"{name}A"] = planes
        for bits in (9, 10, 16) if name == "I420" else (9, 10, 12, 16):
            formats[f"{name}AP{bits}"] = _deep(planes)
    for bits in (9, 10, 12, 14, 16):
        formats[f"GRAY{bits}"] = _deep((luma,))
        formats[f"GBRP{bits}"] = _deep((luma,) * 3)
    for bits in (10, 12, 16):
        formats[f"GBRAP{bits}"] = _deep((luma,) * 4)
    return formats


PLANES |= {name: planes for name, planes in _rarer().items() if name not in PLANES}

FORMATS = tuple(PLANES)
"""The pixel formats of the protocol."""


@dataclass(frozen=True, slots=True)
class Plane:
    """The samples of one plane, in shared memory. They cannot be written to."""

    data: memoryview
    """From the first byte of the first row to the last visible byte of the last row."""
    stride: int
    """Bytes from one row to the next."""
    width: int
    height: int
    channels: int
    """Samples of one column: 3 in RGB24, 2 in the second plane of NV12."""
    sample_bytes: int = 1
    """2 in formats of more than 8 bits, such as I420P10: words, the lower byte first."""
    _views: list[weakref.ref[memoryview]] = field(default_factory=list, repr=False, compare=False)
    """What the arrays of this plane read; gone when no array is in use."""

    def row(self, index: int) -> memoryview:
        """The visible bytes of a row, counted from the top."""
        if not 0 <= index < self.height:
            raise IndexError(f"the plane has {self.height} rows; there is no row {index}")
        start = index * self.stride
        return self.data[start : start + self.width * self.channels * self.sample_bytes]

    def rows(self) -> Iterator[memoryview]:
        """The visible bytes of each row, from the top."""
        for index in range(self.height):
            yield self.row(index)

    def tobytes(self) -> bytes:
        """A copy of the visible bytes, without gaps."""
        return b"".join(self.rows())

    def _array(self) -> Array:
        import numpy

        size = self.sample_bytes
        shape: tuple[int, ...] = (self.height, self.width)
        strides: tuple[int, ...] = (self.stride, self.channels * size)
        if self.channels > 1:
            shape, strides = (*shape, self.channels), (*strides, size)
        # The base of all arrays that are made from this one.
        samples = numpy.frombuffer(self.data, numpy.uint8)
        if isinstance(samples.base, memoryview):
            self._views.append(weakref.ref(samples.base))
        return numpy.ndarray(shape, "<u2" if size == 2 else numpy.uint8, samples, 0, strides)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One image. Its pixels are valid until the stage returns; copy those that are kept."""

    track: int
    sequence: int
    """Counts the frames of a track from 0, those included that never come here."""
    item: int | None
    """In the body of a forEach, the index of the detection that this crop belongs to."""
    pts_ns: int
    """Presentation time in nanoseconds from the replay's origin. Use this and no clock."""
    width: int
    height: int
    format: str
    """`GRAY8`, `RGB24`, `BGRA`, `RGBA`, `I420`, `I422`, `I444` or `NV12`, or one of the others that
    the stage names, such as `BGR24` or `I420P10`."""
    range: str
    """`limited` or `full`."""
    matrix: str
    """`bt601`, `bt709`, `bt2020`, or `identity` for grey and for RGB."""
    planes: tuple[Plane, ...]
    sensors: Mapping[str, Sensor] = field(default_factory=dict)
    """What was read of the sensors that the node names in `sensors`, by their names."""

    @staticmethod
    def of(
        pixels: bytes | bytearray | memoryview,
        format: str,
        width: int,
        height: int,
        *,
        sequence: int = 0,
        pts_ns: int = 0,
        sensors: Sequence[Sensor] = (),
    ) -> Frame:
        """A frame for tests of a stage.

        Args:
            pixels: The visible bytes, plane by plane, row by row, without gaps.

        Raises:
            ValueError: There are more or fewer pixels.
        """
        view = memoryview(pixels).cast("B")
        places, end = [], 0
        for shape in PLANES[format]:
            columns, rows = shape.sides(width, height)
            places.append([end, columns * shape.column_bytes])
            end += columns * shape.column_bytes * rows
        if end != len(view):
            raise ValueError(
                f"{width} x {height} pixels in {format} have {end} bytes, not {len(view)}"
            )
        message = {
            "track": 0, "sequence": sequence, "item": None, "ptsNs": pts_ns, "slot": 0,
            "format": format, "width": width, "height": height, "range": "full",
            "matrix": "identity", "planes": places,
        }  # fmt: skip
        frame = Slots(view.toreadonly(), 1, end).frame(message)
        return replace(frame, sensors={sensor.name: sensor for sensor in sensors})

    @property
    def pts(self) -> float:
        """Presentation time in seconds from the replay's origin."""
        return self.pts_ns / 1e9

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The planes as read-only arrays of numpy, without a copy.

        A plane is height x width, or height x width x channels.
        """
        return tuple(plane._array() for plane in self.planes)

    @property
    def array(self) -> Array:
        """The image as a read-only array of numpy, without a copy.

        Height x width for GRAY8, height x width x 3 for RGB24 and BGR24, x 4 for RGBA and BGRA.

        Raises:
            TypeError: The format has several planes.
        """
        if len(self.planes) != 1:
            raise TypeError(
                f"{self.format} has {len(self.planes)} planes; use frame.arrays, or declare "
                'formats=["RGB24"]'
            )
        return self.planes[0]._array()

    def _release(self) -> bool:
        """The slot is about to be written again: its bytes can no longer be read from here.

        Returns:
            Whether no one else can read them, as far as that is known: slices of memory views
            cannot be found.
        """
        is_free = True
        for plane in self.planes:
            try:
                plane.data.release()
            except BufferError:
                is_free = False
            is_free = is_free and all(view() is None for view in plane._views)
        return is_free


def released(frame: Frame) -> bool:
    """Ends the access to the pixels of a frame; whether no one else can read them."""
    if frame._release():
        return True
    # An array in a cycle of objects, such as an exception and its traceback, is not kept.
    gc.collect()
    if frame._release():
        return True
    # A thread that was given an array lets go of it a moment after its result is there. Bounded.
    for _ in range(_RELEASE_LOOKS_MAX):
        if threading.active_count() == 1:
            return False
        select.select([], [], [], _RELEASE_LOOK_SECONDS)
        if frame._release():
            return True
    return False


_RELEASE_LOOKS_MAX = 100
_RELEASE_LOOK_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Slots:
    """The memory that the host shares."""

    memory: memoryview
    count: int
    byte_count: int

    @staticmethod
    def of(memory: memoryview, hello: dict[str, Any]) -> Slots:
        count = integer(hello, "slots", 1)
        byte_count = integer(hello, "slotBytes", 1)
        if count * byte_count > len(memory):
            raise ProtocolError(
                f"the shared memory has {len(memory)} bytes; {count} slots of {byte_count} bytes "
                "do not fit"
            )
        return Slots(memory.toreadonly().cast("B"), count, byte_count)

    def frame(self, message: dict[str, Any]) -> Frame:
        """The frame of a message.

        Raises:
            ProtocolError: The message does not describe one that is in its slot.
        """
        slot = integer(message, "slot", 0, self.count - 1)
        width, height = integer(message, "width", 1), integer(message, "height", 1)
        name = string(message, "format")
        shapes = PLANES.get(name)
        if shapes is None:
            raise ProtocolError(f"there is no format {name!r}")
        places = message.get("planes")
        if not isinstance(places, list) or len(places) != len(shapes):
            raise ProtocolError(f"a frame in {name} has {len(shapes)} planes")
        return Frame(
            track=integer(message, "track", 0),
            sequence=integer(message, "sequence", 0),
            item=None if message.get("item") is None else integer(message, "item", 0),
            pts_ns=integer(message, "ptsNs", -_INTEGER_MAX - 1),
            width=width,
            height=height,
            format=name,
            range=string(message, "range"),
            matrix=string(message, "matrix"),
            planes=tuple(
                self._plane(slot, place, shape, width, height)
                for place, shape in zip(places, shapes)
            ),
            sensors=_sensors(message),
        )

    def _plane(self, slot: int, place: object, shape: _Shape, width: int, height: int) -> Plane:
        if not isinstance(place, list) or len(place) != 2 or any(type(n) is not int for n in place):
            raise ProtocolError("a plane is [offset, stride]")
        offset, stride = place
        columns, rows = shape.sides(width, height)
        visible = columns * shape.column_bytes
        end = offset + stride * (rows - 1) + visible
        if offset < 0 or stride < visible or end > self.byte_count:
            raise ProtocolError(
                f"the plane [{offset}, {stride}] of {rows} rows with {visible} bytes is not inside "
                f"of a slot with {self.byte_count} bytes"
            )
        start = slot * self.byte_count
        return Plane(
            data=self.memory[start + offset : start + end],
            stride=stride,
            width=columns,
            height=rows,
            channels=shape.channels,
            sample_bytes=shape.sample_bytes,
        )


def _sensors(message: dict[str, Any]) -> dict[str, Sensor]:
    if "sensors" not in message:
        return {}
    from ._sensor import read_sensors

    return read_sensors(message)


def integer(message: dict[str, Any], key: str, least: int, most: int = _INTEGER_MAX) -> int:
    value = message.get(key)
    # A whole number may be written with a fraction: 2.0.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise ProtocolError(f"'{key}' must be an integer from {least} to {most}, is {value!r}")
    return value


def string(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ProtocolError(f"'{key}' must be a string, is {value!r}")
    return value

"""Masks, points, lines, images, embeddings and JSON: what a stage may return besides boxes."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._values import OBSERVED, ValueProblem, integer, number, text

if TYPE_CHECKING:
    import numpy
    import numpy.typing

_SIDE_MAX = 65_536
_IMAGE_BYTES_MAX = 24 << 20
# NumPy's names of types: the type in the message, and the form of its numbers.
_TYPES = {
    "bool": ("u8", "|u1"),
    "uint8": ("u8", "|u1"),
    "uint16": ("u16", "<u2"),
    "int8": ("f32", "<f4"),
    "int16": ("f32", "<f4"),
    "float16": ("f32", "<f4"),
    "float32": ("f32", "<f4"),
}


@dataclass(frozen=True, slots=True)
class Mask:
    """The pixels of an object, in COCO's form of run lengths down the columns.

    ::

        retake.Mask.of(probability > 0.5, "person", score=0.9)
        retake.Mask(**pycocotools.mask.encode(array), label="person")  # counts may be bytes
    """

    size: tuple[int, int]
    """Height and width, in pixels of the frame, as COCO has them."""
    counts: str | bytes
    """COCO's compressed runs."""
    label: str
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of this object."""

    @classmethod
    def of(
        cls, pixels: Any, label: str, score: float = 1.0, identity: int | None = None
    ) -> Mask:
        """A mask of the pixels that are not 0.

        Args:
            pixels: A two-dimensional array of numpy, or a list of rows of the same length.

        Raises:
            ValueError: The pixels are not two-dimensional, or there are none.
        """
        size, runs = _array_runs(pixels) if hasattr(pixels, "__array__") else _row_runs(pixels)
        return cls(size, _counts(runs), label, score, identity)

    @property
    def runs(self) -> list[int]:
        """Lengths of runs outside and inside in turns, column by column; the first is outside.

        Raises:
            ValueError: `counts` is not COCO's form, or does not fit `size`.
        """
        counts = self.counts.encode() if isinstance(self.counts, str) else self.counts
        runs: list[int] = []
        value = shift = 0
        for byte in counts:
            bits = byte - 48
            if not 0 <= bits < 64:
                raise ValueError(f"COCO's runs have no byte {byte}")
            value |= (bits & 0x1F) << shift
            shift += 5
            if bits & 0x20:
                continue
            if bits & 0x10:
                value |= -1 << shift
            runs.append(value + runs[-2] if len(runs) > 2 else value)
            value = shift = 0
        height, width = self.size
        if min(height, width) < 1:
            raise ValueError(f"a mask has at least one pixel, and its size is {height} x {width}")
        if shift or min(runs, default=0) < 0 or sum(runs) != height * width:
            raise ValueError(f"the runs do not cover a mask of {height} x {width}")
        return runs

    def array(self) -> numpy.typing.NDArray[numpy.bool_]:
        """The mask as an array of rows.

        Raises:
            ImportError: numpy is not installed.
        """
        import numpy

        runs = self.runs
        flat = numpy.repeat(numpy.arange(len(runs)) % 2 == 1, runs)
        return flat.reshape(self.size, order="F")


@dataclass(frozen=True, slots=True)
class KeyPoint:
    """A named point, in pixels of the frame; y down."""

    name: str
    x: float
    y: float
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class KeyPoints:
    """Named points of an object, such as the joints of a body."""

    points: Sequence[KeyPoint]
    """In the same order for each frame."""
    label: str
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of this object."""
    bones: Sequence[tuple[int, int]] = ()
    """The skeleton: pairs of indices of points. It is drawn and not compared."""


@dataclass(frozen=True, slots=True)
class Polyline:
    """A chain of straight lines, such as a lane. The number of points may differ in each frame.

    Raises:
        ValueError: There is no point, or one is not two finite numbers.
    """

    points: Any
    """x and y of each point, in pixels of the frame: an array of numpy, n x 2 or n x 1 x 2 as
    OpenCV's contours, or a list of pairs. Results have a tuple of pairs."""
    label: str
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of this object."""

    def __post_init__(self) -> None:
        _check_points(self)


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed chain of straight lines, such as a contour or an oriented box.

    ::

        retake.Polygon(cv2.boxPoints(rectangle), "car")

    Raises:
        ValueError: As of a `Polyline`.
    """

    points: Any
    """As those of a `Polyline`. A line connects the last point with the first."""
    label: str
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of this object."""

    def __post_init__(self) -> None:
        _check_points(self)


@dataclass(frozen=True, slots=True)
class Image:
    """An image, or a map of numbers such as depth or optical flow.

    ::

        retake.Image(depth.astype(numpy.float32), "depth")
        retake.Image(cv2.undistort(image, *camera), "straight", order="bgr")

    Raises:
        ValueError: The array has another type or shape, or is too large for a message.
    """

    array: Any
    """An array of numpy: height x width, or height x width x 1 to 4 channels.

    Its numbers are of uint8, uint16 or float32. Those of bool become uint8; int8, int16 and float16
    become float32, without loss. `None` in results, which have the digest alone.
    """
    label: str
    """The name of the image."""
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of the object."""
    order: Literal["rgb", "bgr"] = "rgb"
    """The order of three or four channels: images of OpenCV are "bgr"."""
    _: KW_ONLY
    digest: str | None = None
    """Of size, type and numbers; results alone have it."""
    size: tuple[int, int, int] | None = None
    """Height, width and channels; results alone have it."""
    type: str | None = None
    """`u8`, `u16` or `f32`; results alone have it."""

    def __post_init__(self) -> None:
        if self.digest is None:
            _array(self)


@dataclass(frozen=True, slots=True)
class Embedding:
    """A vector of 32-bit floats that represents an object or the frame."""

    vector: Iterable[float]
    label: str
    """The name of the vector."""
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of the object."""


@dataclass(frozen=True, slots=True)
class JSON:
    """Anything else that JSON can say. Numbers are not rounded; NaN is not allowed."""

    value: Any
    label: str
    """The name of the value."""
    score: float = 1.0
    identity: int | None = None
    """A tracker's number of the object."""


Observation = Mask | KeyPoints | Polyline | Polygon | Image | Embedding | JSON


def observation(element: object) -> dict[str, Any]:
    """The form in the messages of a program.

    Raises:
        ValueProblem: The element is not an observation.
    """
    match element:
        case Mask():
            form = {"mask": _mask(element)}
        case KeyPoints():
            form = _points(element)
        case Polyline():
            form = {"polyline": _vertices(element.points)}
        case Polygon():
            form = {"polygon": _vertices(element.points)}
        case Image():
            form = {"image": _image(element)}
        case Embedding():
            form = {"embedding": _vector(element.vector)}
        case JSON():
            try:
                # A copy, because the value may change before it is sent.
                form = {"json": _json(element.value)}
            except ValueProblem:
                raise
            except (AttributeError, TypeError, ValueError, RecursionError) as error:
                raise ValueProblem(f"the value {element.label!r} is not JSON: {error}") from None
        case _:
            raise ValueProblem(
                f"the list has a value of the type {type(element).__name__}, "
                f"not a retake.{OBSERVED}"
            )
    form["label"] = text(element.label, "a label")
    form["score"] = number(element.score, "a score")
    if element.identity is not None:
        form["identity"] = integer(element.identity, "an identity", -(2**63))
    return form


def _json(value: Any) -> Any:
    # An array of numpy has no `item` for more than one element, and is an error here.
    copy = json.dumps(value, allow_nan=False, ensure_ascii=False, default=lambda part: part.item())
    copy.encode()
    return json.loads(copy, parse_int=_exact)


def _exact(digits: str) -> int:
    # Results have integers of 64 bits; a larger one would lose its last digits.
    return integer(int(digits), "an integer in JSON", -(2**63))


def observed(form: dict[str, Any]) -> Observation:
    """The inverse of `observation`, for result lines."""
    rest = (form["label"], _float(form["score"]), form.get("identity"))
    if "mask" in form:
        height, width = form["mask"]["size"]
        return Mask((height, width), form["mask"]["counts"], *rest)
    if "points" in form:
        points = tuple(
            KeyPoint(p["name"], _float(p["x"]), _float(p["y"]), _float(p["score"]))
            for p in form["points"]
        )
        return KeyPoints(points, *rest, tuple((a, b) for a, b in form.get("bones", ())))
    if "polyline" in form or "polygon" in form:
        kind, key = (Polyline, "polyline") if "polyline" in form else (Polygon, "polygon")
        return line_of_results(kind, ((_float(x), _float(y)) for x, y in form[key]), *rest)
    if "image" in form:
        image = form["image"]
        height, width, channels = image["size"]
        size = (height, width, channels)
        return Image(None, *rest, digest=image["digest"], size=size, type=image["type"])
    if "embedding" in form:
        return Embedding(tuple(map(_float, form["embedding"])), *rest)
    return JSON(form["json"], *rest)


def line_of_results(
    kind: type[Polyline | Polygon], points: Iterable[tuple[float, float]], *rest: Any
) -> Polyline | Polygon:
    """A line as a run has it, which may have no points, and NaN."""
    line = object.__new__(kind)
    for name, value in zip(kind.__slots__, (tuple(points), *rest)):
        object.__setattr__(line, name, value)
    return line


def _float(value: float | None) -> float:
    # JSON has neither NaN nor infinities.
    return math.nan if value is None else float(value)


def _mask(mask: Mask) -> dict[str, Any]:
    try:
        height, width = mask.size
    except (TypeError, ValueError):
        raise ValueProblem(f"the size of a mask is (height, width), not {mask.size!r}") from None
    height, width = (integer(side, "a side of a mask", -(2**63)) for side in (height, width))
    for side in (height, width):
        if not 1 <= side <= _SIDE_MAX:
            raise ValueProblem(f"a side of a mask is 1 to {_SIDE_MAX} pixels, not {side}")
    counts = mask.counts.decode("ascii") if isinstance(mask.counts, bytes) else mask.counts
    # Whether the runs fit is checked by the host, which is faster.
    return {"size": [height, width], "counts": text(counts, "the counts of a mask")}


def _points(given: KeyPoints) -> dict[str, Any]:
    points = []
    for point in given.points:
        if not isinstance(point, KeyPoint):
            raise ValueProblem(f"the points have {point!r}, not a retake.KeyPoint")
        name = text(point.name, "the name of a point")
        points.append(
            {
                "name": name,
                "x": number(point.x, f"x of the point {name!r}"),
                "y": number(point.y, f"y of the point {name!r}"),
                "score": number(point.score, f"the score of the point {name!r}"),
            }
        )
    bones = []
    for bone in given.bones:
        ends = [integer(end, "an end of a bone", 0) for end in bone]
        if len(ends) != 2 or max(ends) >= len(points):
            raise ValueProblem(f"a bone is a pair of indices of points, not {bone!r}")
        bones.append(ends)
    return {"points": points, "bones": bones} if bones else {"points": points}


def _check_points(line: Polyline | Polygon) -> None:
    """Where the line is made. An array or a list may change until it is sent."""
    if isinstance(line.points, Iterator):
        # It has its points once.
        object.__setattr__(line, "points", tuple(line.points))
    _vertices(line.points)


def _vertices(points: Any) -> list[list[float]]:
    if hasattr(points, "tolist"):
        points = points.tolist()
    no_order = (str, bytes, Mapping, AbstractSet)
    if isinstance(points, no_order) or not isinstance(points, Iterable):
        raise ValueProblem(f"points are an array or a list of pairs, not {points!r}")
    vertices = []
    for entry in points:
        point = entry.tolist() if hasattr(entry, "tolist") else entry
        # A contour of OpenCV has lists of one point.
        if isinstance(point, list) and len(point) == 1:
            point = point[0]
        if not isinstance(point, (list, tuple)) or len(point) != 2:
            raise ValueProblem(f"a point of a line is (x, y), not {entry!r}")
        vertices.append([number(side, "x or y of a point") for side in point])
    if not vertices:
        raise ValueProblem("a line has at least one point: leave a line without points out")
    return vertices


def _array(image: Image) -> tuple[Any, tuple[int, ...], str, str]:
    """The array with its size, its type in a message, and NumPy's name of that."""
    if image.order not in ("rgb", "bgr"):
        raise ValueProblem(f"the order of an image is 'rgb' or 'bgr', not {image.order!r}")
    if not hasattr(image.array, "__array__"):
        raise ValueProblem(
            f"the image {image.label!r} is an array of numpy, not a {type(image.array).__name__}"
        )
    import numpy

    if isinstance(image.array, numpy.ma.MaskedArray):
        raise ValueProblem(
            f"the image {image.label!r} is a masked array, and its mask would be lost: fill it, "
            "for example with array.filled(numpy.nan)"
        )
    array = numpy.asarray(image.array)
    if array.dtype.name not in _TYPES:
        raise ValueProblem(
            f"an image has numbers of uint8, uint16 or float32, and {image.label!r} has "
            f"{array.dtype}: convert them, for example with array.astype(numpy.float32)"
        )
    size = (*array.shape, 1) if array.ndim == 2 else array.shape
    if len(size) != 3 or not 1 <= size[2] <= 4 or not all(1 <= s <= _SIDE_MAX for s in size[:2]):
        raise ValueProblem(
            f"an image is height x width, or height x width x channels: sides of 1 to {_SIDE_MAX} "
            f"and 1 to 4 channels; {image.label!r} has the shape {array.shape}"
        )
    name, form = _TYPES[array.dtype.name]
    count = array.size * numpy.dtype(form).itemsize
    if count > _IMAGE_BYTES_MAX:
        raise ValueProblem(
            f"an image has at most {_IMAGE_BYTES_MAX} bytes (24 MiB), and {image.label!r} of "
            f"{size[0]} x {size[1]} x {size[2]} {name} has {count}: return a smaller one, or "
            "another type"
        )
    return array, size, name, form


def _image(image: Image) -> dict[str, Any]:
    # The shape and type of an array may change, too.
    array, size, name, form = _array(image)
    if image.order == "bgr" and size[2] > 2:
        array = array[..., [2, 1, 0, 3][: size[2]]]
    # A copy, because the array may change before it is sent.
    data = array.astype(form).tobytes()
    return {"size": list(size), "type": name, "data": base64.b64encode(data).decode("ascii")}


def _vector(vector: Any) -> list[float]:
    if hasattr(vector, "tolist"):
        vector = vector.tolist()
    if isinstance(vector, (str, bytes)) or not isinstance(vector, Iterable):
        raise ValueProblem(f"a vector is a list of numbers, not {vector!r}")
    return [number(element, "an element of a vector") for element in vector]


def floats(data: bytes) -> tuple[float, ...]:
    """32-bit floats of little endian."""
    return struct.unpack(f"<{len(data) // 4}f", data)


# MARK: Runs


def _array_runs(pixels: Any) -> tuple[tuple[int, int], list[int]]:
    import numpy

    given = numpy.asarray(pixels)
    # Probabilities would all be inside.
    if given.dtype.kind == "f" and not ((given <= 0) | (given >= 1)).all():
        raise ValueError("a mask has no fractions and no NaN: compare them first, as pixels > 0.5")
    array = given != 0
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"a mask is an array of rows and columns, not of the shape {array.shape}")
    flat = array.ravel(order="F")
    ends = numpy.append(numpy.flatnonzero(flat[1:] != flat[:-1]) + 1, flat.size)
    runs = numpy.diff(ends, prepend=0).tolist()
    return (array.shape[0], array.shape[1]), [0, *runs] if flat[0] else runs


def _row_runs(pixels: Any) -> tuple[tuple[int, int], list[int]]:
    rows = [list(row) for row in pixels]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("a mask is a list of rows of the same length, at least one pixel")
    runs, inside = [0], False
    for x in range(len(rows[0])):
        for row in rows:
            if bool(row[x]) != inside:
                inside = not inside
                runs.append(0)
            runs[-1] += 1
    return (len(rows), len(rows[0])), runs


def _counts(runs: list[int]) -> str:
    """COCO's `rleToString`."""
    characters = []
    for index, run in enumerate(runs):
        rest = run - runs[index - 2] if index > 2 else run
        is_last = False
        while not is_last:
            bits = rest & 0x1F
            rest >>= 5
            is_last = rest == (-1 if bits & 0x10 else 0)
            characters.append(chr(48 + (bits if is_last else bits | 0x20)))
    return "".join(characters)

"""A reader of results: docs/formats/goldens.md and docs/result-lines.md."""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ._observations import (
    JSON,
    Embedding,
    Image,
    KeyPoint,
    KeyPoints,
    Mask,
    Observation,
    Polygon,
    Polyline,
    floats,
    line_of_results,
    observed,
)
from ._values import Detection, Label, Scalar

_LINE_BYTES_MAX = 64 << 20
_BLOCK_FRAMES = 64
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?|nan|-?inf")


class ResultsError(Exception):
    """Results that cannot be read, with the file and the line."""


@dataclass(frozen=True, slots=True)
class Text:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Waveform:
    name: str
    rate: float
    """Samples a second."""
    samples: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image: results have its digest alone."""

    width: int
    height: int
    format: str
    range: str
    matrix: str
    digest: str


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: results have its digest alone."""

    type: str
    shape: tuple[int, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a stage's own kind: results have its digest alone."""

    kind: str
    digest: str


@dataclass(slots=True)
class SinkResult:
    """What a sink received of one frame, or where the frame ended before."""

    fate: str = "deliver"
    """`deliver`, `drop`, `thin`, `supersede`, `fail` or `inFlight`."""
    node: str | None = None
    """Where the frame ended."""
    reason: str | None = None
    """Why it ended there; of a failure its code."""
    message: str | None = None
    """A failure's message; result lines alone have it."""
    age_milliseconds: float | None = None
    """Virtual time from arrival to delivery; result lines alone have it."""
    detections: list[Detection] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    """Of the whole frame."""
    scalars: list[Scalar] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    waveforms: list[Waveform] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    values: list[Opaque] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    """Masks, points, lines, images, embeddings and JSON, in the order of the stage."""

    @property
    def is_delivered(self) -> bool:
        return self.fate == "deliver"


@dataclass(slots=True)
class FrameResult:
    """The results of one captured frame."""

    track: int
    sequence: int
    pts: int | None
    """Presentation time in the track's time base; `None` if the frame has none."""
    time_base: Fraction | None
    """Seconds; golden results alone have it."""
    time_ns: int | None
    """Virtual time of the arrival in nanoseconds; result lines alone have it."""
    sinks: dict[str, SinkResult]
    """By the sink's id, in the order of the file."""


def read_results(path: str | os.PathLike[str]) -> Iterator[FrameResult]:
    """The results of each captured frame, dropped ones included, in the order of the files.

    ::

        for frame in retake.read_results("Goldens/yard/motion"):
            for box in frame.sinks["boxes"].detections:
                print(frame.sequence, box.label, box.box)

    Digests are not checked: `retake test` does that.

    Args:
        path: The folder of a golden or of a run, a file `results-NNNNN.gold`, or a file of result
            lines, as `--follow` and `--metadata` write them.

    Raises:
        ResultsError: Results are missing, cut off, of a later version, or not results.
    """
    place = Path(path)
    if place.is_dir():
        return _folder(place)
    if place.suffix == ".gold":
        return _golden_file(place)
    return _lines(place)


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)


# MARK: Golden results


def _folder(folder: Path) -> Iterator[FrameResult]:
    accepted = folder / ".accepting.new"
    if (accepted / "COMMIT").is_file():
        folder = accepted
    if not (folder / "golden.yml").is_file():
        raise ResultsError(f"{folder}: there is no golden.yml, so this is no golden and no run")
    files = sorted(folder.glob("results-*.gold"))
    for index, file in enumerate(files or [folder / "results-00000.gold"]):
        if file.name != f"results-{index:05}.gold":
            raise ResultsError(f"{folder}: results-{index:05}.gold is missing")
        yield from _golden_file(file)


def _golden_file(file: Path) -> Iterator[FrameResult]:
    reader = _GoldenReader(file)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from None
    if not data.isascii() or b"\r" in data or (data and not data.endswith(b"\n")):
        raise ResultsError(f"{file}: this is not a file of lines in ASCII that end with LF")
    for number, line in enumerate(data.decode("ascii").split("\n")[:-1], 1):
        try:
            frame = reader.take(line, is_first=number == 1)
        except (ValueError, LookupError) as error:
            raise ResultsError(f"{file}:{number}: {_reason(error)}") from None
        if frame:
            yield frame
    try:
        last = reader.end()
    except ValueError as error:
        raise ResultsError(f"{file}: {error}") from None
    if last:
        yield last


class _GoldenReader:
    """Reads a file line by line."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._time_bases: dict[int, Fraction] = {}
        self._classes: dict[str, list[str]] = {}
        self._frame: FrameResult | None = None
        self._sink: str | None = None
        self._has_header = False
        # Frames since the last B line.
        self._open_frames = 0

    def take(self, line: str, is_first: bool) -> FrameResult | None:
        """Reads a line; returns the frame that it ends."""
        if is_first:
            self._header(line)
            return None
        letter, _, rest = line.partition(" ")
        if letter == "F":
            ended, self._frame = self._frame, self._begun(rest)
            self._open_frames += 1
            return ended
        if letter == "B":
            self._end_block(rest)
            ended, self._frame = self._frame, None
            return ended
        if letter == "O":
            self._begin_sink(_word(rest))
        elif letter in _GOLDEN_LINES:
            _GOLDEN_LINES[letter](self, rest)
        # Other letters are those of later versions.
        return None

    def end(self) -> FrameResult | None:
        if not self._has_header:
            raise ValueError("the file is empty")
        if self._open_frames:
            raise ValueError("the file is cut off: it does not end with a B line")
        return self._frame

    def _header(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        version, _, rest = rest.partition(" ")
        if mark != "#retake":
            raise ValueError("the file does not begin with '#retake 1'")
        if version != "1":
            raise ValueError(f"these are results of version {version}; this reader knows 1")
        fields = dict(field.split("=", 1) for field in rest.split(" "))
        for entry in _list(fields["tb"]):
            track, _, base = entry.partition(":")
            self._time_bases[int(track)] = Fraction(base)
        sinks = [_word(sink) for sink in _list(fields["sinks"])]
        self._classes = {sink: [] for sink in sinks}
        for name in _list(fields["classes"]):
            sink, name = (sinks[0], name) if len(sinks) == 1 else name.split(":", 1)
            self._classes[sink].append(_word(name))
        self._has_header = True

    def _begun(self, rest: str) -> FrameResult:
        name, pts = rest.split(" ")
        track, _, sequence = name.rpartition(":")
        number = _integer(track) if track else next(iter(self._time_bases))
        if number not in self._time_bases:
            raise ValueError(f"the header has no track {number}")
        frame = FrameResult(
            track=number,
            sequence=_integer(sequence),
            pts=None if pts == "-" else _integer(pts),
            time_base=self._time_bases[number],
            time_ns=None,
            sinks={},
        )
        self._sink = None
        if len(self._classes) == 1:
            self._sink = next(iter(self._classes))
            frame.sinks[self._sink] = SinkResult()
        return frame

    def _begin_sink(self, sink: str) -> None:
        if self._frame is None or sink not in self._classes:
            raise ValueError(f"there is no sink {sink!r}, or no frame")
        self._sink = sink
        self._frame.sinks[sink] = SinkResult()

    def _end_block(self, rest: str) -> None:
        count = _integer(rest.split(" ")[0])
        if count != self._open_frames or not 0 < count <= _BLOCK_FRAMES:
            raise ValueError(f"a block of {count} frames has {self._open_frames}")
        self._open_frames = 0

    @property
    def _result(self) -> SinkResult:
        if self._frame is None or self._sink is None:
            raise ValueError("this line belongs to no frame and sink")
        return self._frame.sinks[self._sink]

    # Each reads one kind of line, without its letter.

    def _detection(self, rest: str) -> None:
        result = self._result
        name, *numbers = rest.split(" ")
        identity, _, index = name.partition(":")
        x, y, width, height, score = map(_decimal, numbers)
        number = _integer(index)
        names = self._classes[self._sink or ""]
        result.detections.append(
            Detection(
                box=(x, y, width, height),
                score=score,
                label=names[number] if 0 <= number < len(names) else None,
                class_index=number,
                identity=None if identity == "-" else _integer(identity),
            )
        )

    def _label(self, rest: str) -> None:
        number, text = rest.split(" ")
        name, score = text.split("=")
        label = Label(_word(name), _decimal(score))
        result = self._result
        if number == "-":
            result.labels.append(label)
            return
        index = _integer(number)
        old = result.detections[index]
        result.detections[index] = Detection(
            old.box, old.score, old.label, old.class_index, old.identity, (*old.labels, label)
        )

    def _scalar(self, rest: str) -> None:
        name, value = rest.split("=")
        self._result.scalars.append(Scalar(_word(name), _decimal(value)))

    def _picture(self, rest: str) -> None:
        size, *words = rest.split(" ")
        width, height = size.split("x")
        format, range, matrix, digest = words
        self._result.pictures.append(
            Picture(_integer(width), _integer(height), format, range, matrix, digest)
        )

    def _tensor(self, rest: str) -> None:
        type, shape, digest = rest.split(" ")
        sides = () if shape == "-" else tuple(map(_integer, shape.split("x")))
        self._result.tensors.append(Tensor(type, sides, digest))

    def _waveform(self, rest: str) -> None:
        name, rate, count, *samples = rest.split(" ")
        if _integer(count) != len(samples):
            raise ValueError(f"a waveform of {count} samples has {len(samples)}")
        self._result.waveforms.append(
            Waveform(_word(name), _decimal(rate), tuple(map(_decimal, samples)))
        )

    def _text(self, rest: str) -> None:
        name, _, text = rest.partition(" ")
        self._result.texts.append(Text(_word(name), json.loads(text)))

    def _value(self, rest: str) -> None:
        kind, digest = rest.split(" ")
        self._result.values.append(Opaque(kind, digest))

    def _observed(self, rest: str) -> tuple[tuple[str, float, int | None], str]:
        """Label, score and identity, and the rest of the line."""
        identity, label, score, content = rest.split(" ", 3)
        number = None if identity == "-" else _integer(identity)
        return (_word(label), _decimal(score), number), content

    def _mask(self, rest: str) -> None:
        head, content = self._observed(rest)
        size, counts = content.split(" ")
        width, height = map(_integer, size.split("x"))
        self._result.observations.append(Mask((height, width), counts, *head))

    def _points(self, rest: str) -> None:
        head, content = self._observed(rest)
        pairs, *entries = content.split(" ")
        bones = [] if pairs == "-" else [pair.split("-") for pair in pairs.split(",")]
        points = []
        for entry in entries:
            name, numbers = entry.split("=")
            points.append(KeyPoint(_word(name), *map(_decimal, numbers.split(","))))
        self._result.observations.append(
            KeyPoints(tuple(points), *head, tuple((_integer(a), _integer(b)) for a, b in bones))
        )

    def _polyline(self, rest: str) -> None:
        head, content = self._observed(rest)
        word, *entries = content.split(" ")
        kind = {"open": Polyline, "closed": Polygon}[word]
        points = []
        for entry in entries:
            x, y = map(_decimal, entry.split(","))
            points.append((x, y))
        self._result.observations.append(line_of_results(kind, points, *head))

    def _image(self, rest: str) -> None:
        head, content = self._observed(rest)
        sides, type, digest = content.split(" ")
        width, height, channels = map(_integer, sides.split("x"))
        size = (height, width, channels)
        self._result.observations.append(Image(None, *head, digest=digest, size=size, type=type))

    def _embedding(self, rest: str) -> None:
        head, content = self._observed(rest)
        data = b"" if content == "-" else base64.b64decode(content, validate=True)
        self._result.observations.append(Embedding(floats(data), *head))

    def _json(self, rest: str) -> None:
        head, content = self._observed(rest)
        self._result.observations.append(JSON(json.loads(content), *head))

    def _end_of_frame(self, rest: str) -> None:
        fate, reason, node = rest.split(" ")
        result = self._result
        result.fate, result.node = fate, node
        result.reason = None if reason == "-" else reason


_GOLDEN_LINES = {
    "D": _GoldenReader._detection,
    "C": _GoldenReader._label,
    "V": _GoldenReader._scalar,
    "P": _GoldenReader._picture,
    "N": _GoldenReader._tensor,
    "W": _GoldenReader._waveform,
    "T": _GoldenReader._text,
    "U": _GoldenReader._value,
    "M": _GoldenReader._mask,
    "K": _GoldenReader._points,
    "L": _GoldenReader._polyline,
    "I": _GoldenReader._image,
    "E": _GoldenReader._embedding,
    "J": _GoldenReader._json,
    "X": _GoldenReader._end_of_frame,
}


def _list(field: str) -> list[str]:
    return [entry for entry in field.split(",") if entry]


def _word(text: str) -> str:
    return "" if text == "%" else unquote(text, errors="strict")


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def _decimal(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


# MARK: Result lines


def _lines(file: Path) -> Iterator[FrameResult]:
    try:
        with file.open("rb") as lines:
            number = 0
            while line := lines.readline(_LINE_BYTES_MAX):
                number += 1
                try:
                    frame = _line(line)
                except (ValueError, LookupError, TypeError, AttributeError) as error:
                    raise ResultsError(
                        f"{file}:{number}: this is not a result line: {_reason(error)}"
                    ) from None
                if frame:
                    yield frame
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from None


def _line(line: bytes) -> FrameResult | None:
    if not line.endswith(b"\n"):
        raise ValueError("the line is cut off")
    fields = json.loads(line)
    # The summary of `--follow`, or the last commit of a recording.
    if "sinks" not in fields and ("summary" in fields or "closed" in fields):
        return None
    return FrameResult(
        track=int(fields["track"]),
        sequence=int(fields["sequence"]),
        pts=fields["pts"],
        time_base=None,
        time_ns=fields["timeNanoseconds"],
        sinks={name: _sink(fields) for name, fields in fields["sinks"].items()},
    )


def _sink(fields: dict[str, Any]) -> SinkResult:
    return SinkResult(
        fate=fields["fate"],
        node=fields.get("node"),
        reason=fields.get("reason"),
        message=fields.get("message"),
        age_milliseconds=fields.get("ageMilliseconds"),
        detections=[_json_detection(e) for e in fields.get("detections", [])],
        labels=[_json_label(e) for e in fields.get("labels", [])],
        scalars=[Scalar(e["name"], _json_number(e["value"])) for e in fields.get("scalars", [])],
        texts=[Text(e["name"], e["text"]) for e in fields.get("texts", [])],
        waveforms=[
            Waveform(e["name"], _json_number(e["rate"]), tuple(map(_json_number, e["samples"])))
            for e in fields.get("waveforms", [])
        ],
        pictures=[
            Picture(e["width"], e["height"], e["format"], e["range"], e["matrix"], e["digest"])
            for e in fields.get("pictures", [])
        ],
        tensors=[
            Tensor(e["type"], tuple(e["shape"]), e["digest"]) for e in fields.get("tensors", [])
        ],
        values=[Opaque(e["kind"], e["digest"]) for e in fields.get("values", [])],
        observations=[observed(e) for e in fields.get("observations", [])],
    )


def _json_detection(fields: dict[str, Any]) -> Detection:
    x, y, width, height = map(_json_number, fields["box"])
    return Detection(
        box=(x, y, width, height),
        score=_json_number(fields["score"]),
        label=fields.get("class"),
        class_index=fields["classIndex"],
        identity=fields.get("identity"),
        labels=tuple(_json_label(e) for e in fields.get("labels", [])),
    )


def _json_label(fields: dict[str, Any]) -> Label:
    return Label(fields["label"], _json_number(fields["score"]))


def _json_number(value: float | None) -> float:
    # JSON has neither NaN nor infinities.
    return math.nan if value is None else float(value)

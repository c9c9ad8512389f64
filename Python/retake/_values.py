"""What stages return, and its form in the stage protocol."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

Output = Literal["detections", "classes", "scalars", "observations"]
OUTPUTS: tuple[Output, ...] = ("detections", "classes", "scalars", "observations")

_INTEGER_MAX = 2**63 - 1
_CODE_CHARACTERS_MAX = 64
OBSERVED = "Mask, KeyPoints, Polyline, Polygon, Image, Embedding or JSON"


@dataclass(frozen=True, slots=True)
class Label:
    """What a classifier says about a frame or a detection."""

    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Scalar:
    """A named number."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Detection:
    """Something that was found in a frame.

    Give `label`, one of the stage's `class_names`, or `class_index`; without both the class is 0.
    Results that are read have both, if the class has a name.
    """

    box: tuple[float, float, float, float]
    """x and y of the upper left corner, width, height, in pixels of the frame; y down.

    Width and height are 0 or more.
    """
    score: float
    label: str | None = None
    class_index: int | None = None
    identity: int | None = None
    """A tracker's number of this object."""
    labels: tuple[Label, ...] = ()
    """What a classifier says about the detection."""


class StageError(Exception):
    """Raised by a stage that has no value for a frame.

    The frame fails with the code. The run continues if the error is recoverable, and halts if not.

    Args:
        code: 1 to 64 printable ASCII characters without spaces, such as `model.shape`. It is part
            of goldens, so it must be the same in each run.
        message: For people.
        recoverable: Whether the run continues.
    """

    def __init__(self, code: str, message: str = "", recoverable: bool = True) -> None:
        if not (0 < len(code) <= _CODE_CHARACTERS_MAX) or any(not "!" <= c <= "~" for c in code):
            raise ValueError(
                f"a code has 1 to {_CODE_CHARACTERS_MAX} printable ASCII characters and no spaces, "
                f"such as 'model.shape', not {code!r}"
            )
        super().__init__(code, message, recoverable)
        self.code = code
        self.message = message
        self.recoverable = recoverable

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class ValueProblem(ValueError):
    """A stage made or returned something that is not its output: a mistake of its author."""


def encoded(value: object, output: Output, class_names: tuple[str, ...]) -> dict[str, Any]:
    """The value as JSON of the protocol.

    Raises:
        ValueProblem: The value is not one of the output's.
    """
    if output == "detections":
        return {"detections": [_detection(e, class_names) for e in _elements(value, "Detection")]}
    if output == "classes":
        return {"classes": [_label(e) for e in _elements(value, "Label")]}
    if output == "observations":
        # Here, because that module imports this one.
        from ._observations import observation

        return {"observations": [observation(e) for e in _elements(value, OBSERVED)]}
    if isinstance(value, Mapping):
        value = [Scalar(name, entry) for name, entry in value.items()]
    scalars = [_scalar(e) for e in _elements(value, "Scalar")]
    names: set[str] = set()
    for scalar in scalars:
        if scalar["name"] in names:
            raise ValueProblem(f"the scalar {scalar['name']!r} is there twice")
        names.add(scalar["name"])
    return {"scalars": scalars}


def _elements(value: object, kind: str) -> list[object]:
    if value is None:
        raise ValueProblem("the stage returned None; return [] if nothing was found")
    if isinstance(value, AbstractSet):
        raise ValueProblem("a set has no order; return a list, sorted by something")
    # A mapping is iterable, by its keys.
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValueProblem(f"the stage returned {_kind(value)}; return a list of retake.{kind}")
    return list(value)


def _detection(element: object, class_names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(element, Detection):
        raise ValueProblem(f"the list has {_kind(element)}, not a retake.Detection")
    try:
        box = [number(side, "a side of a box") for side in element.box]
    except TypeError:
        box = []
    if len(box) != 4:
        raise ValueProblem(f"a box is (x, y, width, height), not {element.box!r}")
    if box[2] < 0 or box[3] < 0:
        raise ValueProblem(f"the width and height of a box are 0 or more, not {element.box!r}")
    result: dict[str, Any] = {
        "box": box,
        "score": number(element.score, "a score"),
        "class": _class_index(element, class_names),
    }
    if element.identity is not None:
        result["identity"] = integer(element.identity, "an identity", -_INTEGER_MAX - 1)
    if element.labels:
        result["classes"] = [_label(label) for label in element.labels]
    return result


def _class_index(element: Detection, class_names: tuple[str, ...]) -> int:
    index = None
    if element.class_index is not None:
        index = integer(element.class_index, "a class_index", 0)
        if class_names and index >= len(class_names):
            raise ValueProblem(f"class_index {index}: the stage has {len(class_names)} class_names")
    if element.label is None:
        return index or 0
    if element.label not in class_names:
        names = ", ".join(class_names) or "none"
        raise ValueProblem(
            f"the label {element.label!r} is not one of the stage's class_names ({names})"
        )
    named = class_names.index(element.label)
    if index is not None and index != named:
        raise ValueProblem(f"class_index {index} is not that of the label {element.label!r}")
    return named


def _label(element: object) -> dict[str, Any]:
    if not isinstance(element, Label):
        raise ValueProblem(f"the list has {_kind(element)}, not a retake.Label")
    return {"label": text(element.label, "a label"), "score": number(element.score, "a score")}


def _scalar(element: object) -> dict[str, Any]:
    if not isinstance(element, Scalar):
        raise ValueProblem(f"the list has {_kind(element)}, not a retake.Scalar")
    name = text(element.name, "the name of a scalar")
    return {"name": name, "value": number(element.value, f"the scalar {name!r}")}


def number(value: Any, what: str) -> float:
    """Also of numpy's scalars and of arrays with one element."""
    # The usual case, at a fraction of the time.
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, (str, bytes, bool)):
        raise ValueProblem(f"{what} must be a number, is {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueProblem(f"{what} must be a number: {error}") from None
    if not math.isfinite(result):
        raise ValueProblem(f"{what} must be finite, is {result}")
    return result


def integer(value: Any, what: str, least: int) -> int:
    try:
        result = operator.index(value)
    except TypeError:
        raise ValueProblem(f"{what} must be an integer, is {value!r}") from None
    if not least <= result <= _INTEGER_MAX:
        raise ValueProblem(f"{what} must be from {least} to {_INTEGER_MAX}, is {result}")
    return result


def text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueProblem(f"{what} must be a string, is {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueProblem(f"{what} has half of a character: {value!r}") from None
    return value


def _kind(value: object) -> str:
    return f"a value of the type {type(value).__name__}"

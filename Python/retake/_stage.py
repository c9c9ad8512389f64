"""How a function or a class becomes a stage."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ._channel import ProtocolError
from ._frame import FORMATS, Frame
from ._values import OUTPUTS, Output

State = Literal["pure", "stateful"]
Stage = TypeVar("Stage", bound=Callable[..., Any])

_ATTRIBUTE = "__retake_stage__"
VERSION = 1
"""The version of the stage protocol."""


def stage(
    *,
    output: Output,
    formats: Sequence[str] = (),
    version: int = 1,
    state: State = "pure",
    class_names: Sequence[str] = (),
    name: str | None = None,
    fingerprint: str = "",
) -> Callable[[Stage], Stage]:
    """Makes a stage of a function, or of a class with a method `process`.

    The function, or `process`, is given a `Frame`. It returns a list of `Detection` or of `Label`,
    a list of `Scalar` or a dict of numbers, or a list of `Mask`, `KeyPoints`, `Embedding` and
    `JSON`, as `output` says. It raises `StageError` if there is
    no value for the frame. A decorated function or class can still be called as before.

    A class is made once, before the first frame: load models in `__init__`. If `__init__`, or a
    function behind the frame, has one more parameter, it is given the options of the node, a dict.

    A class with a method `batch(self, frames)` computes the frames of a batch in one call, if its
    node has a `batch`: it returns a list with the value that `process` would return for each frame.

    A class may set the attributes `class_names` and `fingerprint` in `__init__`, if they depend on
    the options.

    Args:
        output: `detections`, `classes`, `scalars` or `observations`.
        formats: The pixel formats that the stage accepts, best first; empty means those of 8 bits
            that cameras give.
        version: Count it up when the same frame gives another value: then kept values are not used.
        state: `pure` if the value depends on the frame alone. `stateful` if the stage remembers
            earlier frames: then it is a class with a method `reset` that forgets them.
        class_names: The names of the classes of detections, by their index.
        name: For errors; by default the name of the function or class.
        fingerprint: Anything else on which values depend, such as the digest of a model file.

    Raises:
        TypeError: What is decorated, or an argument, is of a wrong type.
        ValueError: An argument is not one of the possible ones.
    """
    if output not in OUTPUTS:
        raise ValueError(f"an output is one of {', '.join(OUTPUTS)}, not {output!r}")
    if state not in ("pure", "stateful"):
        raise ValueError(f"a state is 'pure' or 'stateful', not {state!r}")
    if type(version) is not int or version < 0:
        raise ValueError(f"a version is an integer of 0 or more, not {version!r}")
    formats = strings(formats, "formats")
    for given in formats:
        if given not in FORMATS:
            raise ValueError(f"there is no format {given!r}; the formats are {', '.join(FORMATS)}")
    if class_names and output != "detections":
        raise ValueError("class_names are for the output 'detections'")
    names = strings(class_names, "class_names")

    def declare(body: Stage) -> Stage:
        _check(body, state)
        declaration = Declaration(
            body=body,
            output=output,
            formats=formats,
            version=version,
            state=state,
            class_names=names,
            name=name or body.__name__,
            fingerprint=fingerprint,
        )
        setattr(body, _ATTRIBUTE, declaration)
        return body

    return declare


@dataclass(frozen=True, slots=True)
class Declaration:
    """A stage, and what its decorator says."""

    body: Callable[..., Any]
    output: Output
    formats: tuple[str, ...]
    version: int
    state: State
    class_names: tuple[str, ...]
    name: str
    fingerprint: str

    @staticmethod
    def of(stage: object) -> Declaration:
        declaration = getattr(stage, _ATTRIBUTE, None)
        if not isinstance(declaration, Declaration):
            raise TypeError(f"{stage!r} is not a stage: write @retake.stage(output=…) above it")
        return declaration


class RunningStage:
    """A stage with its options."""

    def __init__(self, declaration: Declaration, options: dict[str, Any]) -> None:
        self.declaration = declaration
        self.class_names = declaration.class_names
        self.fingerprint = declaration.fingerprint
        self.process: Callable[[Frame], object]
        self.reset: Callable[[], object] = lambda: None
        self.batch: Callable[[list[Frame]], Sequence[object]] | None = None
        body = declaration.body
        is_class = inspect.isclass(body)
        takes_options = _positional(body) > (0 if is_class else 1)
        if options and not takes_options:
            raise ProtocolError(
                f"the stage '{declaration.name}' takes no options, and the node has some: "
                + ", ".join(sorted(options))
                + ": leave them out, or take them with "
                + ("__init__(self, options)" if is_class else "a second parameter")
            )
        if is_class:
            instance = body(options) if takes_options else body()
            self.process = instance.process
            self.reset = getattr(instance, "reset", self.reset)
            batch = getattr(instance, "batch", None)
            if declaration.state == "pure" and inspect.ismethod(batch):
                self.batch = batch
            self.class_names = strings(
                getattr(instance, "class_names", self.class_names), "class_names"
            )
            self.fingerprint = str(getattr(instance, "fingerprint", self.fingerprint))
        else:
            self.process = (lambda frame: body(frame, options)) if takes_options else body

    @property
    def ready(self) -> dict[str, Any]:
        """What the program says about itself."""
        ready = {
            "v": VERSION,
            "name": self.declaration.name,
            "version": self.declaration.version,
            "output": self.declaration.output,
            "state": self.declaration.state,
            "formats": list(self.declaration.formats),
            "classNames": list(self.class_names),
            "fingerprint": self.fingerprint,
        }
        return ready | {"batch": True} if self.batch else ready


def _check(body: object, state: State) -> None:
    if inspect.isclass(body):
        if not callable(getattr(body, "process", None)):
            raise TypeError(f"the class {body.__name__} needs a method process(self, frame)")
        if state == "stateful" and not callable(getattr(body, "reset", None)):
            raise TypeError(
                f"the class {body.__name__} needs a method reset(self) that forgets all frames"
            )
    elif not inspect.isfunction(body):
        raise TypeError(f"a stage is a function or a class, not {body!r}")
    elif state == "stateful":
        raise TypeError(
            f"{body.__name__} is a function; a stateful stage is a class with process(self, frame) "
            "and reset(self)"
        )
    elif inspect.iscoroutinefunction(body):
        raise TypeError(f"{body.__name__} is asynchronous; a stage returns its value")


def _positional(body: Callable[..., Any]) -> int:
    """How many arguments the body may be given by position."""
    if inspect.isclass(body) and body.__init__ is object.__init__:
        return 0
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds for p in inspect.signature(body).parameters.values())


def strings(values: object, what: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise TypeError(f"{what} is a list of strings, not {values!r}")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{what} is a list of strings, and has {value!r}")
    return tuple(values)

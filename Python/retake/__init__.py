"""Stages of Retake pipelines in Python, and readers of Retake's sessions and results.

A stage is a function, or a class with a method `process`::

    import retake

    @retake.stage(output="detections", formats=["RGB24"], class_names=["face"], version=1)
    def faces(frame):
        return [retake.Detection((x, y, w, h), score, label="face")
                for x, y, w, h, score in model(frame.array)]

    if __name__ == "__main__":
        retake.main(faces)

A `Program` is a whole pipeline, with timers of its own, under Retake's virtual clock.

`python3 -m retake.loop script.py` runs a script with a camera loop that was not written for Retake.

`source` starts a pipeline in the words that Swift has, which libretake runs: live, or in a replay.

`read_results` reads the results of a golden or a run, and `Session` the frames of a session.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._channel import ProtocolError
    from ._frame import Frame, Plane
    from ._library import LibraryError
    from ._live import Live, LiveCounts, LiveTrack, ReplaySummary
    from ._observations import JSON, Embedding, Image, KeyPoint, KeyPoints, Mask, Polygon, Polyline
    from ._pipeline import Pipeline, source
    from ._program import log, main, serve
    from ._results import (
        FrameResult,
        Opaque,
        Picture,
        ResultsError,
        SinkResult,
        Tensor,
        Text,
        Waveform,
        read_results,
    )
    from ._sensor import Sample, Sensor
    from ._session import Event, Session, SessionError, SessionFrame, Track
    from ._stage import stage
    from ._values import Detection, Label, Scalar, StageError
    from ._whole import Program, Timer
    from .loop._current import out

__all__ = [
    "JSON",
    "Detection",
    "Embedding",
    "Event",
    "Frame",
    "FrameResult",
    "Image",
    "KeyPoint",
    "KeyPoints",
    "Label",
    "LibraryError",
    "Live",
    "LiveCounts",
    "LiveTrack",
    "Mask",
    "Opaque",
    "Picture",
    "Pipeline",
    "Plane",
    "Polygon",
    "Polyline",
    "Program",
    "ProtocolError",
    "ReplaySummary",
    "ResultsError",
    "Sample",
    "Scalar",
    "Sensor",
    "Session",
    "SessionError",
    "SessionFrame",
    "SinkResult",
    "StageError",
    "Tensor",
    "Text",
    "Timer",
    "Track",
    "Waveform",
    "log",
    "main",
    "out",
    "read_results",
    "serve",
    "source",
    "stage",
]

_MODULES = {
    "_channel": ["ProtocolError"],
    "_frame": ["Frame", "Plane"],
    "_library": ["LibraryError"],
    "_live": ["Live", "LiveCounts", "LiveTrack", "ReplaySummary"],
    "_observations": [
        "JSON", "Embedding", "Image", "KeyPoint", "KeyPoints", "Mask", "Polygon", "Polyline",
    ],
    "_pipeline": ["Pipeline", "source"],
    "_program": ["log", "main", "serve"],
    "_results": [
        "FrameResult", "Opaque", "Picture", "ResultsError", "SinkResult", "Tensor", "Text",
        "Waveform", "read_results",
    ],
    "_sensor": ["Sample", "Sensor"],
    "_session": ["Event", "Session", "SessionError", "SessionFrame", "Track"],
    "_stage": ["stage"],
    "_values": ["Detection", "Label", "Scalar", "StageError"],
    "_whole": ["Program", "Timer"],
    "loop._current": ["out"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Loaded when they are used: programs, which start often, need few of them.
    if name in _MODULE_OF:
        import importlib

        value = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

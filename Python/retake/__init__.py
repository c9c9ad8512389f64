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

from ._channel import ProtocolError
from ._frame import Frame, Plane
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

if TYPE_CHECKING:
    from ._library import LibraryError
    from ._live import Live, LiveCounts, LiveTrack, ReplaySummary
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

_LOADED_LATER = {
    "LibraryError": "_library",
    "Live": "_live",
    "LiveCounts": "_live",
    "LiveTrack": "_live",
    "ReplaySummary": "_live",
    "out": "loop._current",
}


def __getattr__(name: str) -> Any:
    # Loaded when they are used: programs of stages, which start often, do without them.
    if name in _LOADED_LATER:
        import importlib

        return getattr(importlib.import_module(f".{_LOADED_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

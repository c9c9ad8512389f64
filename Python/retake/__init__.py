"""Stages of Retake pipelines in Python, and readers of Retake's sessions and results.

A stage is a function, or a class with a method `process`::

    import retake

    @retake.stage(output="detections", formats=["RGB24"], class_names=["face"], version=1)
    def faces(frame):
        return [retake.Detection((x, y, w, h), score, label="face")
                for x, y, w, h, score in model(frame.array)]

    if __name__ == "__main__":
        retake.main(faces)

`read_results` reads the results of a golden or a run, and `Session` the frames of a session.
"""

from ._channel import ProtocolError
from ._frame import Frame, Plane
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
from ._session import Event, Session, SessionError, SessionFrame, Track
from ._stage import stage
from ._values import Detection, Label, Scalar, StageError

__all__ = [
    "Detection",
    "Event",
    "Frame",
    "FrameResult",
    "Label",
    "Opaque",
    "Picture",
    "Plane",
    "ProtocolError",
    "ResultsError",
    "Scalar",
    "Session",
    "SessionError",
    "SessionFrame",
    "SinkResult",
    "StageError",
    "Tensor",
    "Text",
    "Track",
    "Waveform",
    "log",
    "main",
    "read_results",
    "serve",
    "stage",
]

"""Pipelines in Python's words: they make the JSON document that Swift's words make."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._live import Live, LiveTrack, ReplaySummary
    from ._results import FrameResult

# Kinds whose output is a list of detections, so that `classify` names each of them.
_DETECTORS = frozenset({"detect", "motion", "merge-detections", "forEach"})
_SOURCES = frozenset({"session", "images", "synthetic"})
_SINKS = frozenset({"results", "metadata", "discard", "screen"})


class Pipeline:
    """A pipeline: a chain of stages, as a document of Retake.

    Each word returns a new pipeline and leaves this one as it is::

        import retake

        with (
            retake.source()
            .detect("models/faces.onnx")
            .classify("models/emotions.onnx")
            .listen(show, format="NV12", width=1280, height=720)
        ) as live:
            for pixels, pts_ns in camera:
                live.push(pixels, pts_ns=pts_ns)

    The words are those of Swift, and give the same document. `stage` adds any kind that
    `retake pipeline stages` lists. Documents with several branches are written as JSON, and read
    with `Pipeline.from_json`.

    Nothing is checked until the pipeline runs, or `digest` is called: these need libretake.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document: dict[str, Any] = copy.deepcopy(dict(document))

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any]) -> Pipeline:
        """A pipeline of a document: its text, or what `json.loads` makes of it."""
        if isinstance(document, (str, bytes)):
            document = json.loads(document)
        if not isinstance(document, Mapping):
            raise ValueError("a pipeline's document is a JSON object")
        return cls(document)

    @property
    def document(self) -> dict[str, Any]:
        """The document; a copy."""
        return copy.deepcopy(self._document)

    def json(self) -> str:
        """The document as JSON."""
        return json.dumps(self._document, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        kinds = " → ".join(str(node.get("kind")) for node in self._nodes)
        return f"<retake.Pipeline {self._document.get('name', '')!r}: {kinds}>"

    @property
    def _nodes(self) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = self._document["nodes"]
        return nodes

    # MARK: Stages

    def stage(self, kind: str, *, id: str | None = None, **options: Any) -> Pipeline:
        """Adds a stage of any kind, with its options."""
        grown = self._copy()
        name = id or grown._free_id(kind)
        node: dict[str, Any] = {"id": name, "kind": kind}
        if options:
            node["options"] = options
        grown._append(node)
        return grown

    def detect(
        self, model: str | os.PathLike[str], *, classes: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Pipeline:
        """Finds objects in each frame, with a model in an .onnx file.

        Args:
            model: The path of the file; docs/models.md says what may be next to it.
            classes: The labels that are kept; by default all.
            id: The node's id.
        """
        options: dict[str, Any] = {"model": os.fspath(model)}
        if classes is not None:
            options["output"] = {"classes": list(classes)}
        return self.stage("detect", id=id, **options)

    def classify(self, model: str | os.PathLike[str], *, id: str | None = None) -> Pipeline:
        """Names what each frame shows; behind a detector, what each detection shows.

        A detection's region has a fifth of its width and height more on each side.
        """
        options = {"model": os.fspath(model)}
        if self._nodes[-1]["kind"] not in _DETECTORS:
            return self.stage("classify", id=id, **options)
        grown = self._copy()
        name = id or grown._free_id("forEach")
        join = f"{name}-input"
        found = grown._nodes[-1]["id"]
        frames = grown._frames_of(found)
        grown._nodes.append(
            {"id": join, "kind": "join", "options": {"ports": ["frame", "detections"]}}
        )
        grown._edge(frames, f"{join}.frame")
        grown._edge(found, f"{join}.detections")
        grown._append(
            {
                "id": name,
                "kind": "forEach",
                "body": {
                    "nodes": [
                        {"id": "region-crop", "kind": "region-crop"},
                        {"id": "classify", "kind": "classify", "options": options},
                    ],
                    "edges": [{"from": "region-crop", "to": "classify"}],
                    "output": "classify",
                },
            }
        )
        return grown

    def gray(self, *, id: str | None = None) -> Pipeline:
        """Keeps the luma of each frame."""
        return self.stage("grey", id=id)

    def motion(self, *, threshold: int = 24, id: str | None = None, **options: Any) -> Pipeline:
        """Finds moving regions by the difference from the previous frame."""
        return self.stage("motion", id=id, threshold=threshold, **options)

    def downsample(self, width: int, height: int, *, id: str | None = None) -> Pipeline:
        """Scales each frame down to a size in pixels."""
        return self.stage("downsample", id=id, width=width, height=height)

    def resize(self, width: int = 224, height: int = 224, *, id: str | None = None) -> Pipeline:
        """Scales each frame, up or down, to a size in pixels."""
        return self.stage("resize", id=id, width=width, height=height)

    def crop(
        self, x: int, y: int, width: int, height: int, *, id: str | None = None
    ) -> Pipeline:
        """Cuts a rectangle out of each frame."""
        return self.stage("crop", id=id, x=x, y=y, width=width, height=height)

    def convert(self, format: str, *, id: str | None = None) -> Pipeline:
        """Converts each frame to a pixel format, such as `RGB24`."""
        return self.stage("convert", id=id, format=format)

    def luminance(self, *, id: str | None = None) -> Pipeline:
        """Measures the luma of each frame."""
        return self.stage("luminance", id=id)

    # MARK: What holds for the last stage

    def queue(self, capacity: int, policy: str = "block") -> Pipeline:
        """The queue in front of the last stage: `block`, `dropOldest`, `dropNewest` or `replace`."""
        grown = self._copy()
        last = grown._nodes[-1]["id"]
        for edge in grown._document["edges"]:
            if edge["to"].split(".")[0] == last:
                edge["capacity"] = capacity
                edge["policy"] = policy
        return grown

    def cost(self, **cost: Any) -> Pipeline:
        """The virtual cost of the last stage: `fixed="45ms"`, or `p50="31ms", p99="58ms"`."""
        return self.setting(cost=cost)

    def setting(self, **keys: Any) -> Pipeline:
        """Sets keys of the last node, such as `concurrency=2` or `timeout="50ms"`: docs/pipelines.md."""
        grown = self._copy()
        grown._nodes[-1].update(keys)
        return grown

    # MARK: The end

    def results(self, id: str = "results", *, precision: Mapping[str, float] | None = None) -> Pipeline:
        """Ends the pipeline with a sink for results."""
        return self._sink("results", id, precision)

    def metadata(
        self, id: str = "metadata", *, precision: Mapping[str, float] | None = None
    ) -> Pipeline:
        """Ends the pipeline with a sink for analytics."""
        return self._sink("metadata", id, precision)

    def _sink(self, kind: str, id: str, precision: Mapping[str, float] | None) -> Pipeline:
        grown = self._copy()
        node: dict[str, Any] = {"id": id, "kind": kind, "primary": True}
        if precision:
            node["precision"] = dict(precision)
        grown._append(node)
        return grown

    def _complete(self) -> Pipeline:
        """With a sink for results, if there is none."""
        return self if any(n.get("kind") in _SINKS for n in self._nodes) else self.results()

    # MARK: What libretake does

    def digest(self, *, allow_processes: bool = False) -> str:
        """The digest of what the pipeline computes and decides: the same for all its forms.

        Raises:
            LibraryError: The document cannot be used, or libretake was not found.
        """
        from ._library import library

        return library().digest(self._complete().json(), allow_processes)

    def listen(
        self,
        on_result: Callable[[FrameResult], object],
        *,
        format: str = "I420",
        width: int = 640,
        height: int = 480,
        tracks: Iterable[LiveTrack] | None = None,
        workers: int = 0,
        waiting_frames: int = 0,
        drain_seconds: float = 1,
        allow_processes: bool = False,
    ) -> Live:
        """Starts the pipeline, for frames that are pushed: see `Live`.

        Args:
            on_result: Called for each captured frame, one call at a time, on a thread of libretake.
                If it raises, the next call of `Live` raises that.
            format: The pixel format of the frames.
            width: Of the first frames, in pixels.
            height: Of the first frames, in pixels.
            tracks: Several tracks, in place of the three arguments before.
            workers: Threads that compute; 0 is a number for this machine.
            waiting_frames: Frames that may wait for a decision; 0 is 64.
            drain_seconds: How long `Live.stop` waits for frames in flight.
            allow_processes: Whether stages of the kind `process` may start programs.

        Raises:
            LibraryError: The document cannot be used, or libretake was not found.
        """
        from ._live import Live, LiveTrack

        given = list(tracks) if tracks is not None else [LiveTrack(0, format, width, height)]
        return Live(
            self._complete().json(),
            on_result,
            given,
            workers=workers,
            waiting_frames=waiting_frames,
            drain_seconds=drain_seconds,
            allow_processes=allow_processes,
        )

    def replay(
        self,
        session: str | os.PathLike[str] | None,
        on_result: Callable[[FrameResult], object] | None = None,
        *,
        mode: str = "every-frame",
        workers: int = 0,
        seed: int = 0,
        allow_processes: bool = False,
    ) -> ReplaySummary:
        """Replays the frames of a session in virtual time, and returns when it is over.

        Args:
            session: The session's folder; `None` if the pipeline's source brings its own frames.
            on_result: Called for each captured frame, in the order of capture. If it raises, the
                replay ends, and raises that.
            mode: `every-frame` for values alone, `simulate` for the decisions of the device.
            workers: Threads that compute; they change the speed and nothing else.
            seed: Of costs that are drawn.
            allow_processes: Whether stages of the kind `process` may start programs.

        Raises:
            LibraryError: The document or the session cannot be used, or a stage halted the run.
        """
        from ._live import replay

        return replay(
            self._complete().json(),
            session,
            on_result,
            mode=mode,
            workers=workers,
            seed=seed,
            allow_processes=allow_processes,
        )

    # MARK: Nodes and edges

    def _copy(self) -> Pipeline:
        return Pipeline(self._document)

    def _edge(self, start: str, end: str) -> None:
        self._document["edges"].append({"from": start, "to": end})

    def _append(self, node: dict[str, Any]) -> None:
        """Adds a node behind the last one."""
        last = self._nodes[-1]["id"]
        self._nodes.append(node)
        self._edge(last, node["id"])

    def _free_id(self, kind: str) -> str:
        """The kind; from the second node of a kind on, the kind and a number."""
        taken = {node["id"] for node in self._nodes}
        name, number = kind, 2
        while name in taken:
            name, number = f"{kind}-{number}", number + 1
        return name

    def _frames_of(self, detections: str) -> str:
        """The node whose frames the detector was given."""
        node = detections
        while True:
            inputs = [e["from"] for e in self._document["edges"] if e["to"].split(".")[0] == node]
            frames = [e["from"] for e in self._document["edges"] if e["to"] == f"{node}.frame"]
            if frames:
                return str(frames[0])
            kind = next(n["kind"] for n in self._nodes if n["id"] == node)
            if len(inputs) != 1 or kind in _SOURCES:
                raise ValueError(f"no frames lead to {detections!r}")
            if kind in ("detect", "motion"):
                return str(inputs[0])
            node = inputs[0]


def source(track: int = 0, *, name: str = "pipeline", id: str = "camera") -> Pipeline:
    """Starts a pipeline: frames that are pushed, or those of a session.

    Args:
        track: The number of the track.
        name: The pipeline's name, which is not part of its digest.
        id: The node's id.
    """
    node: dict[str, Any] = {"id": id, "kind": "session"}
    if track:
        node["options"] = {"track": track}
    return Pipeline({"v": 1, "name": name, "nodes": [node], "edges": []})

"""Pipelines that run: live, on frames that are pushed, and replays."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _library as c
from ._frame import PLANES
from ._results import FrameResult, _line

# What `push` takes: an object with the bytes of a frame, or one for each plane.
Pixels = Any


@dataclass(frozen=True, slots=True)
class LiveTrack:
    """A track whose frames are pushed."""

    number: int
    format: str
    """Of all its frames, such as `NV12`."""
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """Counts of frames at the primary sink: `captured` is the sum of all but the last one."""

    captured: int
    delivered: int
    dropped_queue: int
    dropped_pool: int
    dropped_timeout: int
    dropped_partner_missing: int
    throttled: int
    replaced: int
    failed: int
    in_flight: int
    lost_before_capture: int
    """Frames for which the pipeline had no room."""


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """What a replay counted, and its digests: equal in each run."""

    counts: LiveCounts
    document_digest: str
    result_digest: str
    decision_digest: str


class Live:
    """A pipeline that runs on frames that are pushed; `Pipeline.listen` makes it.

    Any thread may call its methods. In `on_result` frames and events may be pushed, but `stop` may
    not be called. The end of a `with` block stops it.
    """

    def __init__(
        self,
        document: str,
        on_result: Callable[[FrameResult], object],
        tracks: Sequence[LiveTrack],
        *,
        workers: int,
        waiting_frames: int,
        drain_seconds: float,
        allow_processes: bool,
    ) -> None:
        self._library = c.library()
        self._tracks = {track.number: track for track in tracks}
        listener = _Listener(on_result)
        self._listener = listener
        given = (c.TrackStruct * max(1, len(tracks)))(
            *(
                c.TrackStruct(t.number, _number(c.FORMATS, t.format, "format"), t.width, t.height)
                for t in tracks
            )
        )
        options = c.Options(
            size=ctypes.sizeof(c.Options),
            tracks=given,
            track_count=len(tracks),
            workers=workers,
            waiting_frames=waiting_frames,
            drain_ns=int(drain_seconds * 1_000_000_000),
            permissions=c.ALLOW_PROCESSES if allow_processes else 0,
            on_result=listener.function,
        )
        self._handle = ctypes.c_uint64()
        data = document.encode()
        self._library.call(
            "retake_pipeline_create", data, len(data), ctypes.byref(options),
            ctypes.byref(self._handle),
        )
        # Also at the interpreter's exit. The finalizer keeps the listener, which the library calls.
        self._finalizer = weakref.finalize(
            self, _destroy, self._library, self._handle.value, listener
        )

    def push(
        self,
        pixels: Pixels,
        *,
        pts_ns: int,
        track: int = 0,
        width: int | None = None,
        height: int | None = None,
        range: str | None = None,
        matrix: str | None = None,
        rotation: int = 0,
    ) -> int | None:
        """Hands a frame over, and never waits. The pixels are copied before it returns.

        Args:
            pixels: The rows of all planes without gaps, in the order of the format: `bytes`, a
                numpy array, or any object with a buffer; or a list with one of them for each plane.
            pts_ns: Presentation time in nanoseconds.
            track: The track's number.
            width: If it is not that of the track, in pixels.
            height: If it is not that of the track, in pixels.
            range: `limited` or `full`; by default limited for YUV, full for gray and RGB.
            matrix: `bt601`, `bt709` or `bt2020`; by default by the height.
            rotation: Degrees clockwise that a viewer applies.

        Returns:
            The frame's number in its track; `None` if there was no room for it.

        Raises:
            LibraryError: The frame cannot be used, or the pipeline was stopped or has halted.
        """
        self._listener.check()
        known = self._tracks.get(track)
        if known is None:
            raise ValueError(f"there is no track {track}")
        width, height = width or known.width, height or known.height
        planes, kept = _planes(pixels, known.format, width, height)
        frame = c.Frame(
            size=ctypes.sizeof(c.Frame),
            track=track,
            format=c.FORMATS[known.format],
            width=width,
            height=height,
            pts_ns=pts_ns,
            plane_count=len(planes),
            planes=(c.Plane * 3)(*planes),
            range=_number(c.RANGES, range, "range"),
            matrix=_number(c.MATRICES, matrix, "matrix"),
            rotation=rotation,
        )
        sequence = ctypes.c_int64()
        try:
            self._library.call(
                "retake_pipeline_push", self._handle, ctypes.byref(frame), ctypes.byref(sequence)
            )
        except c.LibraryError as error:
            if error.status == "RETAKE_ERROR_FULL":
                return None
            raise
        finally:
            # The buffers exist until the library has copied them.
            del kept
        return sequence.value

    def device(self, kind: str, **state: Any) -> None:
        """Reports what happened to the device: `device("thermal", state="serious")`."""
        data = json.dumps(state).encode()
        self._library.call("retake_pipeline_device", self._handle, kind.encode(), data, len(data))

    def source_lost(self, code: str = "unplugged", *, track: int = 0) -> None:
        """Reports that a track delivers no frames for now. `code` is one word."""
        self._library.call("retake_pipeline_source_lost", self._handle, track, code.encode())

    def swap(self, node: str, *, timeout_seconds: float = 30, **options: Any) -> None:
        """Changes options of a stage, for the frames that arrive from then on, and waits for that.

        Raises:
            LibraryError: The new stage is refused; the old one continues.
            TimeoutError: It is not in force yet: before the first frame it waits for that frame.
        """
        answer = _Answer(self._library)
        data = json.dumps(options).encode()
        self._library.call(
            "retake_pipeline_swap", self._handle, node.encode(), data, len(data), answer.function,
            None,
        )
        # The library calls the function once, also after a timeout.
        self._listener.keep(answer)
        answer.wait(timeout_seconds)

    @property
    def counts(self) -> LiveCounts:
        """The counts so far."""
        counts = c.CountsStruct(size=ctypes.sizeof(c.CountsStruct))
        self._library.call("retake_pipeline_counts", self._handle, ctypes.byref(counts))
        return _counts(counts)

    def stop(self) -> LiveCounts:
        """Waits for the frames in flight and for their results.

        Raises:
            LibraryError: A stage has halted the run, or it was stopped before.
        """
        counts = c.CountsStruct(size=ctypes.sizeof(c.CountsStruct))
        self._library.call("retake_pipeline_stop", self._handle, ctypes.byref(counts))
        self._listener.check()
        return _counts(counts)

    def close(self) -> None:
        """Stops it if it runs, and frees it. Later calls do nothing."""
        self._finalizer()
        self._listener.check()

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._finalizer()
            return
        self.close()


def replay(
    document: str,
    session: str | os.PathLike[str] | None,
    on_result: Callable[[FrameResult], object] | None,
    *,
    mode: str,
    workers: int,
    seed: int,
    allow_processes: bool,
) -> ReplaySummary:
    library = c.library()
    listener = _Listener(on_result)
    interrupted = c.Interrupted(lambda _: int(listener.has_failed))
    options = c.ReplayOptions(
        size=ctypes.sizeof(c.ReplayOptions),
        mode=_number(c.MODES, mode, "mode"),
        workers=workers,
        seed=seed,
        permissions=c.ALLOW_PROCESSES if allow_processes else 0,
        interrupted=interrupted,
    )
    if on_result is not None:
        options.on_result = listener.function
    summary = c.Summary(size=ctypes.sizeof(c.Summary))
    data = document.encode()
    path = None if session is None else os.fsencode(session)
    try:
        library.call(
            "retake_replay", path, data, len(data), ctypes.byref(options), ctypes.byref(summary)
        )
    finally:
        # What `on_result` raised is the cause of the interruption.
        listener.check()
    return ReplaySummary(
        _counts(summary.counts),
        summary.document_digest.decode(),
        summary.result_digest.decode(),
        summary.decision_digest.decode(),
    )


class _Listener:
    """Calls a Python function with results, and keeps what it raises."""

    def __init__(self, on_result: Callable[[FrameResult], object] | None) -> None:
        self._on_result = on_result
        self._failure: BaseException | None = None
        self._lock = threading.Lock()
        self._kept: list[object] = []
        self.function = c.OnResult(self._call)

    def _call(self, result: Any, _: Any) -> None:
        # ctypes prints exceptions of a callback and goes on, so none may leave it.
        try:
            if self._on_result is None or self.has_failed:
                return
            view = result.contents
            frame = _line(ctypes.string_at(view.json, view.json_length) + b"\n")
            if frame is not None:
                self._on_result(frame)
        except BaseException as error:
            with self._lock:
                self._failure = self._failure or error

    @property
    def has_failed(self) -> bool:
        return self._failure is not None

    def check(self) -> None:
        """Raises what the function has raised, once."""
        with self._lock:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def keep(self, thing: object) -> None:
        with self._lock:
            self._kept.append(thing)


class _Answer:
    """The outcome of a swap."""

    def __init__(self, library: c.Library) -> None:
        self._library = library
        self._given = threading.Event()
        self._refusal: c.LibraryError | None = None
        self.function = c.OnSwap(self._call)

    def _call(self, error: Any, _: Any) -> None:
        try:
            if error:
                self._refusal = self._library.error(error.contents)
        finally:
            self._given.set()

    def wait(self, seconds: float) -> None:
        if not self._given.wait(seconds):
            raise TimeoutError(f"the swap is not in force after {seconds} s")
        if self._refusal is not None:
            raise self._refusal


def _destroy(library: c.Library, handle: int, listener: _Listener) -> None:
    library.call("retake_pipeline_destroy", handle)
    del listener


def _counts(counts: c.CountsStruct) -> LiveCounts:
    return LiveCounts(*(getattr(counts, name) for name in c.COUNTS))


def _number(table: dict[Any, int], name: str | None, what: str) -> int:
    if name not in table:
        known = ", ".join(str(key) for key in table if key is not None)
        raise ValueError(f"{name!r} is not a {what}; use {known}")
    return table[name]


def _shapes(format: str, width: int, height: int) -> list[tuple[int, int]]:
    """Bytes of a row, and rows, of each plane."""
    planes = [(shape, shape.sides(width, height)) for shape in PLANES[format]]
    return [(columns * shape.column_bytes, rows) for shape, (columns, rows) in planes]


def _planes(
    pixels: Pixels, format: str, width: int, height: int
) -> tuple[list[c.Plane], list[object]]:
    """The planes, and what must exist as long as they are used."""
    shapes = _shapes(format, width, height)
    parts = list(pixels) if isinstance(pixels, (list, tuple)) else [pixels]
    views = [_flat(part) for part in parts]
    needed = [row * rows for row, rows in shapes]
    if len(views) == 1:
        sizes = [sum(needed)]
    elif len(views) == len(shapes):
        sizes = needed
    else:
        raise ValueError(f"{format} has {len(shapes)} planes, not {len(views)}")
    given = [len(view) for view in views]
    if given != sizes:
        planes_of = " in its planes" if len(sizes) > 1 else ""
        raise ValueError(
            f"{width}x{height} {format} has {_list(sizes)} bytes{planes_of}, not {_list(given)}; "
            f"a sample has {'two bytes' if PLANES[format][0].sample_bytes == 2 else 'one byte'}"
        )
    kept = [_Memory(view) for view in views]
    planes: list[c.Plane] = []
    address = kept[0].address
    for index, (row, rows) in enumerate(shapes):
        if len(kept) > 1:
            address = kept[index].address
        planes.append(c.Plane(address, row, row * rows))
        address += row * rows
    return planes, list[object](kept)


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _flat(part: Any) -> memoryview:
    view = memoryview(part)
    # A slice of an array has gaps between its rows.
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


class _Memory:
    """The address of a buffer, which exists as long as this object does."""

    def __init__(self, view: memoryview) -> None:
        if view.readonly:
            # ctypes has no address of a buffer that cannot be written to.
            data = view.obj if isinstance(view.obj, bytes) and len(view.obj) == len(view) else None
            self._owner: Any = data if data is not None else bytes(view)
            self.address = ctypes.cast(ctypes.c_char_p(self._owner), ctypes.c_void_p).value or 0
        else:
            self._owner = (ctypes.c_char * len(view)).from_buffer(view)
            self.address = ctypes.addressof(self._owner)


"""Stand-ins for what scripts read frames with: OpenCV, PyAV and imageio."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ._clock import Meter
from ._host import Host, copied
from ._written import Written

if TYPE_CHECKING:
    from fractions import Fraction

_MARK = "_retake_loop"
_ROUNDING_SECONDS = 0.001
"""By how much containers round times."""
_FORMAT, _CONVERT_RGB, _ORIENTATION_AUTO = 8, 16, 49
"""Properties of OpenCV that change pixels. Early versions do not have all of their names."""
_VARIABLE_RATE = 0x400
"""A flag of FFmpeg's formats."""

_PROCESSES = {
    "multiprocessing": "multiprocessing", "multiprocessing.pool": "pool",
    "multiprocessing.managers": "managers", "multiprocessing.util": "end_of_python",
    "subprocess": "subprocess", "asyncio": "asyncio",
    "concurrent.futures._base": "futures", "concurrent.futures.process": "executor",
    "joblib.parallel": "joblib", "joblib.externals.loky": "loky", "loky": "loky",
}  # fmt: skip
"""By the module, the method of `Processes` that replaces its parts."""


class Source:
    """The frames of the session, for one capture at a time."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._reader: Cursor | None = None
        self._first: Any = None
        """The pixels of the first frame, until another one is read."""

    @property
    def is_bgr(self) -> bool:
        """Whether frames have the order of OpenCV's samples, which no other library expects."""
        return (self.host.first or {}).get("format") == "BGR24"

    def read(self, cursor: Cursor, convert: Callable[[Any], Any]) -> Any:
        """The pixels of the next frame; `None` after the last one."""
        if self._reader is not cursor:
            self._change_to(cursor)
        if cursor.count == 0 and self._first is not None:
            return convert(self._first)
        frame = self.host.next()
        if frame is None:
            return None
        self._first = frame.array.copy() if self.host.read_count == 1 else None
        return copied(frame, convert)

    def rewind(self, cursor: Cursor) -> None:
        """The next frame is the first one again, if no other one was read."""
        if cursor is self._reader and cursor.count > 0 and self._first is None:
            self._end_or_fail("loop.seek", f"the script goes back from frame {cursor.count} to 0")
        cursor.count = 0

    def _change_to(self, cursor: Cursor) -> None:
        """Another capture reads than before."""
        reader, self._reader = self._reader, cursor
        if reader is None:
            return
        if reader.name != cursor.name:
            self.host.fail(
                "loop.secondCapture",
                f"the script reads {cursor.name} after {reader.name}, and a program gets the "
                "frames of one track: run the script for one source at a time (retake replay "
                f"--track N chooses the track){_way(reader, cursor)}",
            )
        if reader.is_live and not reader.is_open:
            # A camera continues with its next frame.
            self._first = None
            if self.host.is_over:
                self.host.stop()
        elif cursor.count > 0 or self._first is None:
            what = f"the script reads {cursor.name} again after {reader.count} frames"
            self._end_or_fail("loop.secondCapture", what)

    def _end_or_fail(self, code: str, what: str) -> None:
        way = ""
        if self.host.is_over:
            if self.host.may_end:
                self.host.stop()
            way = ", or end the run there: python3 -m retake.loop --may-end"
        self.host.fail(code, f"{what}, and Retake sends each frame once: let it read forwards{way}")

    def fact(self, name: str) -> float:
        """What the first frame says: `width`, `height`, `frameCount`, `frameRate`."""
        self.host.begin()
        first = self.host.first
        if first is None:
            return 0
        if name not in first:
            self.host.fail("loop.unknown", f"this Retake does not say the {name} of a track")
        value = float(first[name])
        return _nominal(value, first["frameCount"]) if name == "frameRate" else value


def _way(*cursors: Cursor) -> str:
    """The advice about a second file."""
    if all(each.is_live for each in cursors):
        return ""
    return (
        ". If one of them is a file that belongs to the script, such as a reference clip, let the "
        "script read it as without Retake: python3 -m retake.loop --real FILE"
    )


def _nominal(rate: float, count: int) -> float:
    """30, or 30000 / 1001, if the times of the frames are those of it within a millisecond."""
    if rate <= 0:
        return 0.0
    near = min(round(rate), round(rate * 1.001) * 1_000 / 1_001, key=lambda each: abs(each - rate))
    span = (count - 1) / rate
    return near if near > 0 and abs(span - (count - 1) / near) <= _ROUNDING_SECONDS else rate


class Cursor:
    """The place of a capture in its source."""

    def __init__(self, source: Source, opened: object) -> None:
        self._source = source
        path = os.fspath(opened) if isinstance(opened, (str, os.PathLike)) else None
        self.is_live = isinstance(opened, int) or _is_live(str(path))
        self.name = repr(opened if path is None or self.is_live else os.path.relpath(path))
        self.is_open = True
        self.count = 0

    def read(self, convert: Callable[[Any], Any]) -> Any:
        found = self._source.read(self, convert)
        self.count += found is not None
        return found

    def close(self) -> None:
        self.is_open = False


def _is_live(name: str) -> bool:
    return name.startswith(("/dev/", "<video")) or "://" in name or " ! " in name


class StandIns:
    """Replaces parts of a module as soon as the script has imported it."""

    def __init__(self, host: Host, written: Written, real: Sequence[str]) -> None:
        self._source = Source(host)
        self._written = written
        self._real = frozenset(os.path.realpath(each) for each in real)

    def _is_real(self, opened: object) -> bool:
        """Whether the script reads the file as without Retake."""
        if not (self._real and isinstance(opened, (str, os.PathLike))):
            return False
        return os.path.realpath(opened) in self._real

    def install(self) -> None:
        real_import = builtins.__import__
        stand_ins: dict[str, Callable[[Any], None]] = {
            "cv2": self._opencv, "av": self._av, "imageio": self._imageio,
            "imageio.v2": self._imageio, "imageio.v3": self._imageio_v3,
            "signal": self._signal,
        }  # fmt: skip
        for name, part in _PROCESSES.items():
            stand_ins[name] = self._process(part)

        def import_replaced(name: str, *args: Any, **keys: Any) -> ModuleType:
            module = real_import(name, *args, **keys)
            for known, replace in stand_ins.items():
                found = sys.modules.get(known)
                if found is None or hasattr(found, _MARK):
                    continue
                if not getattr(found.__spec__, "_initializing", False):
                    setattr(found, _MARK, True)
                    replace(found)
            return module

        builtins.__import__ = import_replaced

    def _process(self, part: str) -> Callable[[Any], None]:
        def replace(module: Any) -> None:
            from ._processes import Processes

            getattr(Processes(self._source.host, self._written), part)(module)

        return replace

    def _signal(self, signal: Any) -> None:
        from ._alarms import Alarms

        Alarms(self._source.host).install(signal)

    def _opencv(self, cv2: Any) -> None:
        if not hasattr(cv2, "VideoCapture"):
            # OpenCV imports itself twice.
            return delattr(cv2, _MARK)
        source, host, write = self._source, self._source.host, cv2.imwrite
        real, is_real = cv2.VideoCapture, self._is_real

        class VideoCapture(_Capture):
            def __new__(cls, *args: Any) -> Any:
                return real(*args) if args and is_real(args[0]) else super().__new__(cls)

            def __init__(self, *args: Any) -> None:
                super().__init__(cv2, source)
                if args:
                    self.open(*args)

        def imwrite(path: str, *args: Any, **keys: Any) -> bool:
            is_written: bool = write(path, *args, **keys)
            if is_written:
                self._written.picture(path)
            return is_written

        def wait_key(milliseconds: int = 0) -> int:
            if milliseconds > 0:
                host.turns.sleep(milliseconds / 1e3)
            return -1

        cv2.VideoCapture, cv2.imwrite = VideoCapture, imwrite
        cv2.waitKey = cv2.waitKeyEx = wait_key
        cv2.pollKey = lambda: -1
        cv2.getTickCount, cv2.getTickFrequency = host.clock.read, lambda: 1e9
        cv2.getCPUTickCount, cv2.TickMeter = host.clock.read, lambda: Meter(host.clock)
        bars: dict[tuple[str, str], int] = {}
        cv2.createTrackbar = lambda name, window, value, *_: bars.update({(window, name): value})
        cv2.setTrackbarPos = lambda name, window, value: bars.update({(window, name): value})
        cv2.getTrackbarPos = lambda name, window: bars.get((window, name), -1)
        # A script may end its loop when its window is closed.
        cv2.getWindowProperty = lambda *_: 1.0
        for name in (
            "imshow", "namedWindow", "destroyWindow", "destroyAllWindows", "moveWindow",
            "resizeWindow", "setWindowTitle", "setWindowProperty", "setMouseCallback",
            "startWindowThread",
        ):  # fmt: skip
            setattr(cv2, name, lambda *_, **__: None)
        for name in ("selectROI", "selectROIs"):
            setattr(cv2, name, lambda *_, **__: host.fail("loop.window", "a ROI needs a window"))

    # PyAV.

    def _av(self, av: Any) -> None:
        source, real_open = self._source, av.open

        def open_container(file: Any, mode: str | None = None, *args: Any, **keys: Any) -> Any:
            if mode not in (None, "r") or self._is_real(file):
                return real_open(file, mode, *args, **keys)
            return _Container(av, source, file)

        av.open = open_container
        if hasattr(av, "container"):
            av.container.open = open_container

    # imageio.

    def _imageio(self, imageio: Any) -> None:
        source, real = self._source, imageio.get_reader

        def get_reader(uri: Any, *args: Any, **keys: Any) -> Any:
            return real(uri, *args, **keys) if self._is_real(uri) else _Reader(source, uri)

        imageio.get_reader = get_reader
        if (v3 := sys.modules.get("imageio.v3")) and not hasattr(v3, _MARK):
            setattr(v3, _MARK, True)
            self._imageio_v3(v3)

    def _imageio_v3(self, v3: Any) -> None:
        source, real = self._source, v3.imiter

        def imiter(uri: Any, *args: Any, **keys: Any) -> Any:
            return real(uri, *args, **keys) if self._is_real(uri) else iter(_Reader(source, uri))

        v3.imiter = imiter


class _Capture:
    """`cv2.VideoCapture` on the frames of the session."""

    def __init__(self, cv2: Any, source: Source) -> None:
        self._cv2 = cv2
        self._source = source
        self._cursor: Cursor | None = None
        self._grabbed: Any = None
        self._is_upright = True

    def open(self, opened: object, _: int = 0, parameters: Sequence[int] = ()) -> bool:
        self.release()
        self._cursor = Cursor(self._source, opened)
        self._source.host.format = "BGR24"
        for property, value in zip(parameters[::2], parameters[1::2]):
            if property in (_CONVERT_RGB, _FORMAT, _ORIENTATION_AUTO):
                self.set(property, value)
        return True

    def isOpened(self) -> bool:  # noqa: N802
        return self._cursor is not None

    def release(self) -> None:
        self._grabbed = None
        if self._cursor is not None:
            self._cursor.close()
        self._cursor = None

    def __del__(self) -> None:
        if self._cursor is not None:
            self._cursor.close()

    @property
    def _count(self) -> int:
        return self._cursor.count if self._cursor else 0

    def grab(self) -> bool:
        self._grabbed = self._next(lambda array: array.copy())
        return self._grabbed is not None

    def retrieve(self, image: Any = None, flag: int = 0) -> tuple[bool, Any]:
        if self._grabbed is None:
            return False, None
        return True, self._into(image, self._bgr(self._grabbed))

    def read(self, image: Any = None) -> tuple[bool, Any]:
        self._grabbed = None
        found = self._next(self._bgr)
        return (False, None) if found is None else (True, self._into(image, found))

    def _next(self, convert: Callable[[Any], Any]) -> Any:
        return None if self._cursor is None else self._cursor.read(convert)

    def _bgr(self, array: Any) -> Any:
        if self._source.is_bgr:
            image = array.copy()
        else:
            image = self._cv2.cvtColor(array, self._cv2.COLOR_RGB2BGR)
        if (rotation := self._rotation) == 0:
            return image
        # As OpenCV does with files.
        name = {90: "90_CLOCKWISE", 180: "180", 270: "90_COUNTERCLOCKWISE"}[rotation]
        return self._cv2.rotate(image, getattr(self._cv2, f"ROTATE_{name}"))

    @property
    def _rotation(self) -> int:
        first = self._source.host.first if self._is_upright else None
        return int((first or {}).get("rotation", 0)) % 360

    @staticmethod
    def _into(image: Any, found: Any) -> Any:
        """As OpenCV: an array of another form is left alone, and a new one is returned."""
        form = (getattr(image, "shape", None), getattr(image, "dtype", None))
        if form != (found.shape, found.dtype):
            return found
        image[...] = found
        return image

    def get(self, property: int) -> float:
        cv2, source = self._cv2, self._source
        if self._cursor is None:
            return 0.0
        source.host.begin()
        sides = ("height", "width") if self._rotation in (90, 270) else ("width", "height")
        facts = {
            cv2.CAP_PROP_FRAME_WIDTH: sides[0], cv2.CAP_PROP_FRAME_HEIGHT: sides[1],
            cv2.CAP_PROP_FPS: "frameRate", cv2.CAP_PROP_FRAME_COUNT: "frameCount",
        }  # fmt: skip
        if property in facts:
            return source.fact(facts[property])
        if property == cv2.CAP_PROP_POS_FRAMES:
            return float(self._count)
        if property == cv2.CAP_PROP_POS_MSEC:
            return source.host.pts_ns / 1e6 if self._count else 0.0
        if property == cv2.CAP_PROP_POS_AVI_RATIO:
            return self._count / max(1, source.fact("frameCount"))
        return 0.0

    def set(self, property: int, value: float) -> bool:
        """Seeks forwards: the frames between are read and dropped. No other pictures than these."""
        if self._cursor is None:
            return False
        if property == _ORIENTATION_AUTO:
            self._is_upright = bool(value)
            return True
        if property == _CONVERT_RGB and value:
            return True
        if property == _CONVERT_RGB or (property == _FORMAT and value == -1):
            self._source.host.fail(
                "loop.property",
                f"the script sets {'CAP_PROP_CONVERT_RGB' if value == 0 else 'CAP_PROP_FORMAT'} to "
                f"{value:g}, and Retake's frames are always BGR: read them without it",
            )
        target = self._target(property, value)
        if target is None:
            return False
        if target == 0:
            self._source.rewind(self._cursor)
        if target < self._count:
            self._source.host.fail(
                "loop.seek",
                f"the script goes back from frame {self._count} to {target}, and Retake sends "
                "each frame once: let it read forwards",
            )
        while self._count < target and self.grab():
            pass
        self._grabbed = None
        return self._count == target

    def _target(self, property: int, value: float) -> int | None:
        """The frame to which OpenCV seeks in a file; `None` for other properties."""
        cv2, source = self._cv2, self._source
        if property not in (
            cv2.CAP_PROP_POS_FRAMES, cv2.CAP_PROP_POS_MSEC, cv2.CAP_PROP_POS_AVI_RATIO
        ):  # fmt: skip
            return None
        if value <= 0:
            return 0
        if property == cv2.CAP_PROP_POS_FRAMES:
            return int(value)
        rate, count = source.fact("frameRate"), source.fact("frameCount")
        if property == cv2.CAP_PROP_POS_MSEC:
            frame = value / 1e3 * rate + 0.5
        else:
            # OpenCV multiplies by the microseconds of the file, so it is at the end mostly.
            frame = value * count / (rate or 1) * 1e6
        return int(min(frame, count))

    def getBackendName(self) -> str:  # noqa: N802
        return "RETAKE"

    def setExceptionMode(self, enable: bool) -> None:  # noqa: N802
        pass

    def getExceptionMode(self) -> bool:  # noqa: N802
        return False


class _Known:
    """A part of PyAV that has only the attributes that a session has."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = type(self).__name__.strip("_").lower()
        raise AttributeError(
            f"Retake sends the frames of a session, so its {kind} of PyAV has no '{name}': write "
            f"the value into the script, or allow for its absence, getattr({kind}, '{name}', None)"
        )


class _Stream(_Known):
    """The video stream of a container of PyAV, and its codec: frames come decoded."""

    type = "video"
    index = 0
    thread_type = "AUTO"
    thread_count = 0
    name = "rawvideo"
    long_name = "raw video"
    profile = None

    def __init__(self, source: Source) -> None:
        from fractions import Fraction

        self._source = source
        self._skipped = "DEFAULT"
        self.codec_context = self.codec = self
        self.time_base = Fraction(1, 1_000_000_000)
        self.metadata: dict[str, str] = {}

    @property
    def width(self) -> int:
        return int(self._source.fact("width"))

    @property
    def height(self) -> int:
        return int(self._source.fact("height"))

    @property
    def frames(self) -> int:
        return int(self._source.fact("frameCount"))

    @property
    def average_rate(self) -> Fraction:
        from fractions import Fraction

        return Fraction(self._source.fact("frameRate")).limit_denominator(1_001)

    base_rate = guessed_rate = framerate = rate = average_rate

    @property
    def start_time(self) -> int:
        return int(self._source.fact("ptsNs"))

    @property
    def duration(self) -> int | None:
        rate = self._source.fact("frameRate")
        return round(self.frames / rate / self.time_base) if rate > 0 else None

    @property
    def pix_fmt(self) -> str:
        self._source.host.begin()
        return "bgr24" if self._source.is_bgr else "rgb24"

    @property
    def skip_frame(self) -> str:
        return self._skipped

    @skip_frame.setter
    def skip_frame(self, value: Any) -> None:
        self._skipped = str(getattr(value, "name", value))
        if self._skipped not in ("NONE", "DEFAULT", "NONKEY"):
            self._source.host.fail(
                "loop.property",
                f"the script sets skip_frame to {self._skipped}, and Retake knows only which "
                "frames are key frames: use 'NONKEY', or choose frames in the script",
            )

    def decode(self, packet: _Packet | None = None) -> list[Any]:
        return packet.decode() if packet is not None else []


class _Streams(list[_Stream]):
    @property
    def video(self) -> tuple[_Stream, ...]:
        return tuple(self)

    @property
    def audio(self) -> tuple[_Stream, ...]:
        return ()

    subtitles = data = attachments = audio

    def best(self, kind: str, /, related: object = None) -> _Stream | None:
        return self[0] if kind == "video" else None

    def get(self, *_: object, **kinds: object) -> list[_Stream]:
        if other := [kind for kind in kinds if kind not in ("streams", "video")]:
            raise IndexError(
                f"the script reads {other[0]}, and Retake sends the frames of one video track: "
                "read it without Retake, or leave it out"
            )
        return list(self)


class _Packet(_Known):
    """A packet of PyAV with its frame; the last one has none."""

    def __init__(self, stream: _Stream, frame: Any) -> None:
        self.stream, self.stream_index, self.time_base = stream, 0, stream.time_base
        self.pts = self.dts = None if frame is None else frame.pts
        self.is_keyframe = frame is not None and bool(stream._source.host.is_key)
        self._frames = [] if frame is None else [frame]

    def decode(self) -> list[Any]:
        frames, self._frames = self._frames, []
        return frames


class _Container(_Known):
    """What `av.open` returns."""

    def __init__(self, av: Any, source: Source, file: object) -> None:
        self._av = av
        self._source = source
        self._cursor = Cursor(source, file)
        self.name = str(file)
        self.streams = _Streams([_Stream(source)])
        # Frames have times, and no rate.
        self.format = SimpleNamespace(name="rawvideo", long_name="raw video", flags=_VARIABLE_RATE)
        self.metadata: dict[str, str] = {}

    @property
    def start_time(self) -> int:
        return self.streams[0].start_time // 1_000

    @property
    def duration(self) -> int | None:
        duration = self.streams[0].duration
        return None if duration is None else duration // 1_000

    def decode(self, *streams: Any, **kinds: Any) -> Iterator[Any]:
        """Frames in RGB, with the times of the session."""
        self.streams.get(*streams, **kinds)
        return self._frames()

    def demux(self, *streams: Any, **kinds: Any) -> Iterator[_Packet]:
        """Packets of one frame each."""
        (stream,) = self.streams.get(*streams, **kinds)
        return (_Packet(stream, each) for each in chain(self._frames(), [None]))

    def _frames(self) -> Iterator[Any]:
        def make(array: Any) -> Any:
            name = "bgr24" if self._source.is_bgr else "rgb24"
            return self._av.VideoFrame.from_ndarray(array, format=name)

        stream = self.streams[0]
        # Ends with the session.
        while (frame := self._cursor.read(make)) is not None:
            if stream.skip_frame == "NONKEY" and self._source.host.is_key is False:
                continue
            frame.pts, frame.time_base = self._source.host.pts_ns, stream.time_base
            self._mark_key(frame)
            yield frame

    def _mark_key(self, frame: Any) -> None:
        host = self._source.host
        if host.is_key is None:
            return host.note(
                "this Retake does not say which frames are key frames, so key_frame is False: "
                "install the package and the command of one version"
            )
        try:
            frame.key_frame = host.is_key
        except AttributeError:
            host.note("this PyAV does not let key_frame be set, so it is False: pip install -U av")

    def seek(self, offset: int, **_: Any) -> None:
        if offset != 0:
            self._source.host.fail("loop.seek", "Retake sends each frame once: do not seek")
        self._source.rewind(self._cursor)

    def close(self) -> None:
        self._cursor.close()

    def __enter__(self) -> _Container:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Reader:
    """What `imageio.get_reader` returns: frames in RGB."""

    def __init__(self, source: Source, uri: object) -> None:
        self._source = source
        self._cursor = Cursor(source, uri)

    def __iter__(self) -> Iterator[Any]:
        while (image := self._cursor.read(self._rgb)) is not None:
            yield image

    iter_data = __iter__

    def get_next_data(self) -> Any:
        image = self._cursor.read(self._rgb)
        if image is None:
            raise IndexError("there are no more frames")
        return image

    def _rgb(self, array: Any) -> Any:
        return (array[..., ::-1] if self._source.is_bgr else array).copy()

    def get_meta_data(self, *_: Any) -> dict[str, Any]:
        source = self._source
        rate, count = source.fact("frameRate"), source.fact("frameCount")
        size = (int(source.fact("width")), int(source.fact("height")))
        return {"fps": rate, "size": size, "source_size": size, "duration": count / (rate or 1)}

    def count_frames(self) -> int:
        return int(self._source.fact("frameCount"))

    def close(self) -> None:
        self._cursor.close()

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

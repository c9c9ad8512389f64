"""libretake, the C library, as ctypes sees it: the declarations of retake.h."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

ABI = 1
VARIABLE = "RETAKE_LIBRARY"
_NAMES = (f"libretake.so.{ABI}", "libretake.so", "libretake.dylib")
_DIGEST_SIZE = 33

FORMATS = {
    name: number
    for number, name in enumerate(
        (
            "I420", "I422", "I444", "NV12", "GRAY8", "RGB24", "BGRA", "RGBA", "I420P10", "I422P10",
            "I444P10", "I420P12", "GRAY10", "GRAY12", "GRAY16", "BGR24",
        ),
        start=1,
    )
}
RANGES = {None: 0, "limited": 1, "full": 2}
MATRICES = {None: 0, "bt601": 1, "bt709": 2, "bt2020": 3}
MODES = {"every-frame": 0, "simulate": 1}
ALLOW_PROCESSES = 1


class LibraryError(Exception):
    """An error of libretake, or that it was not found.

    `code` is stable, such as `graph.pipeline.unknownKind`; `pointer` is the place in the pipeline's
    document, such as `/nodes/2/kind`; `status` the name in retake.h.
    """

    def __init__(
        self,
        text: str,
        *,
        status: str = "",
        code: str = "",
        message: str = "",
        pointer: str = "",
        advice: str = "",
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.message = message or text
        self.pointer = pointer
        self.advice = advice


# MARK: The structs of retake.h


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int)] + [
        (name, ctypes.c_char_p)
        for name in ("code", "message", "cause", "pointer", "advice", "text")
    ]


class Plane(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("stride", ctypes.c_size_t),
        ("length", ctypes.c_size_t),
    ]


class Frame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("track", ctypes.c_int32),
        ("format", ctypes.c_int),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("pts_ns", ctypes.c_int64),
        ("plane_count", ctypes.c_int32),
        ("planes", Plane * 3),
        ("range", ctypes.c_int),
        ("matrix", ctypes.c_int),
        ("rotation", ctypes.c_int32),
        ("release", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


class Result(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("track", ctypes.c_int32),
        ("fate", ctypes.c_int),
        ("sequence", ctypes.c_int64),
        ("pts", ctypes.c_int64),
        ("detections", ctypes.c_void_p),
        ("detection_count", ctypes.c_size_t),
        ("json", ctypes.c_void_p),
        ("json_length", ctypes.c_size_t),
    ]


COUNTS = (
    "captured",
    "delivered",
    "dropped_queue",
    "dropped_pool",
    "dropped_timeout",
    "dropped_partner_missing",
    "throttled",
    "replaced",
    "failed",
    "in_flight",
    "lost_before_capture",
)


class CountsStruct(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_int64) for name in COUNTS]


class TrackStruct(ctypes.Structure):
    _fields_ = [
        ("track", ctypes.c_int32),
        ("format", ctypes.c_int),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
    ]


OnResult = ctypes.CFUNCTYPE(None, ctypes.POINTER(Result), ctypes.c_void_p)
OnSwap = ctypes.CFUNCTYPE(None, ctypes.POINTER(Error), ctypes.c_void_p)
Interrupted = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("tracks", ctypes.POINTER(TrackStruct)),
        ("track_count", ctypes.c_size_t),
        ("workers", ctypes.c_int32),
        ("waiting_frames", ctypes.c_int32),
        ("drain_ns", ctypes.c_int64),
        ("permissions", ctypes.c_uint32),
        ("on_result", OnResult),
        ("context", ctypes.c_void_p),
    ]


class ReplayOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("mode", ctypes.c_int),
        ("workers", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("permissions", ctypes.c_uint32),
        ("on_result", OnResult),
        ("interrupted", Interrupted),
        ("context", ctypes.c_void_p),
    ]


class Summary(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("counts", CountsStruct),
        ("document_digest", ctypes.c_char * _DIGEST_SIZE),
        ("result_digest", ctypes.c_char * _DIGEST_SIZE),
        ("decision_digest", ctypes.c_char * _DIGEST_SIZE),
    ]


_HANDLE = ctypes.c_uint64
_TEXT = ctypes.c_char_p
_SIZE = ctypes.c_size_t
_COUNTS = ctypes.POINTER(CountsStruct)
# The arguments of each function that returns a status.
_ARGUMENTS: dict[str, list[Any]] = {
    "retake_document_digest": [_TEXT, _SIZE, ctypes.c_uint32, _TEXT],
    "retake_pipeline_create": [_TEXT, _SIZE, ctypes.POINTER(Options), ctypes.POINTER(_HANDLE)],
    "retake_pipeline_push": [_HANDLE, ctypes.POINTER(Frame), ctypes.POINTER(ctypes.c_int64)],
    "retake_pipeline_device": [_HANDLE, _TEXT, _TEXT, _SIZE],
    "retake_pipeline_source_lost": [_HANDLE, ctypes.c_int32, _TEXT],
    "retake_pipeline_swap": [_HANDLE, _TEXT, _TEXT, _SIZE, OnSwap, ctypes.c_void_p],
    "retake_pipeline_counts": [_HANDLE, _COUNTS],
    "retake_pipeline_stop": [_HANDLE, _COUNTS],
    "retake_pipeline_destroy": [_HANDLE],
    "retake_replay": [_TEXT, _TEXT, _SIZE, ctypes.POINTER(ReplayOptions), ctypes.POINTER(Summary)],
}


class Library:
    """The loaded library. A call that fails raises `LibraryError`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._library = ctypes.CDLL(path)
        if not hasattr(self._library, "retake_abi"):
            raise OSError(f"{path} is another library; it has no function retake_abi")
        self._library.retake_abi.restype = ctypes.c_uint32
        if (abi := self._library.retake_abi()) != ABI:
            raise LibraryError(
                f"{path} has the interface {abi}, and this package {ABI}: "
                "install both from the same version of Retake"
            )
        self._library.retake_version.restype = ctypes.c_char_p
        self._library.retake_status_name.restype = ctypes.c_char_p
        self._library.retake_last_error.restype = ctypes.POINTER(Error)
        for name, arguments in _ARGUMENTS.items():
            function = getattr(self._library, name)
            function.argtypes = arguments
            function.restype = ctypes.c_int

    @property
    def version(self) -> str:
        return str(self._library.retake_version().decode())

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function.

        Raises:
            LibraryError: It returned another status than RETAKE_OK.
        """
        if getattr(self._library, name)(*arguments) != 0:
            raise self.error(self._library.retake_last_error().contents)

    def error(self, error: Error) -> LibraryError:
        """The exception for an error of the library."""
        words = {
            name: getattr(error, name).decode(errors="replace")
            for name in ("code", "message", "pointer", "advice")
        }
        status = self._library.retake_status_name(error.status).decode()
        return LibraryError(error.text.decode(errors="replace"), status=status, **words)

    def digest(self, document: str, allow_processes: bool) -> str:
        data = document.encode()
        digest = ctypes.create_string_buffer(_DIGEST_SIZE)
        permissions = ALLOW_PROCESSES if allow_processes else 0
        self.call("retake_document_digest", data, len(data), permissions, digest)
        return digest.value.decode()


@functools.cache
def library() -> Library:
    """libretake: the file that RETAKE_LIBRARY names, or the one that the system finds.

    Raises:
        LibraryError: There is none, or it has another interface.
    """
    # The program itself would be loaded for an empty name.
    if named := os.environ.get(VARIABLE):
        try:
            return Library(named)
        except OSError as error:
            raise LibraryError(f"{VARIABLE}={named}: {error}") from None
    for name in _NAMES:
        try:
            return Library(name)
        except OSError:
            continue
    raise LibraryError(
        f"libretake was not found: type 'make libretake' in a checkout of Retake, and set {VARIABLE} "
        "to its .build/libretake/libretake.so"
    )

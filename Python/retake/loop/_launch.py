"""`python3 -m retake.loop SCRIPT`."""

from __future__ import annotations

import _signal
import _socket
import argparse
import atexit
import ctypes
import gc
import mmap
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType, ModuleType, TracebackType
from typing import Any, NoReturn

from .._channel import Channel, ProtocolError
from .._values import OUTPUTS, Output
from . import _current
from ._capture import StandIns
from ._host import Host
from ._written import STDOUT, Written

_MESSAGES, _PIXELS = 3, 4
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_ARRAY_BYTES_MAX = 32 << 20
"""The most that glibc takes. A frame of 4K in BGR has 24 MiB."""
_UNREADABLE = frozenset(
    ".3gp .avi .flv .h264 .h265 .hevc .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .ogv .ts .webm .wmv "
    ".db .feather .h5 .hdf5 .parquet .sqlite".split()
)
"""Files that libraries write themselves, without `open` of Python."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the script of the command line."""
    parser = _parser()
    given = parser.parse_args(arguments)
    script = given.script if not given.module else f"-m {given.script}"
    if "RETAKE_PROTOCOL" not in os.environ or os.environ.get("RETAKE_TRANSPORT") == "stdio":
        print(
            "retake.loop runs a script for Retake, which starts it with frames in files 3 and 4: "
            f"retake replay SESSION --program 'python3 -m retake.loop {script}'",
            file=sys.stderr,
        )
        sys.exit(64)
    files: dict[str, str] = {}
    for path in given.results:
        if (kind := os.path.splitext(path)[1].lower()) in _UNREADABLE:
            parser.error(
                f"--results {path}: results cannot be read from a {kind} file. Name a file that "
                "the script opens in Python (.csv, .tsv, .json, .jsonl, .txt), images by a pattern "
                "('masks/*.png'), or - for printed lines"
            )
        if path != "-" and files.setdefault(_sink_name(path, parser), path) != path:
            parser.error(f"--results {path}: another file is the same sink; use another name")
    written = Written(files, "-" in given.results or not (files or given.sink))
    sinks: dict[str, Output] = {name: "scalars" for name in written.names}
    for sink in given.sink:
        name, _, output = sink.partition("=")
        if output not in OUTPUTS or name in sinks:
            parser.error(f"--sink {sink}: write NAME={'|'.join(OUTPUTS)}, each name once")
        sinks[name] = output
    for number in (_MESSAGES, _PIXELS):
        os.set_inheritable(number, False)
    size = os.fstat(_PIXELS).st_size
    memory = memoryview(mmap.mmap(_PIXELS, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ))
    try:
        host = Host(
            Channel(_socket.socket(fileno=_MESSAGES)), memory, script, sinks,
            tuple(filter(None, given.class_names.split(","))), written, given.may_end,
        )  # fmt: skip
    except ProtocolError as error:
        print(f"retake: {error}", file=sys.stderr)
        sys.exit(2)
    _run(host, written, given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m retake.loop",
        description="Runs an unchanged script with a camera loop under Retake.",
    )
    parser.add_argument(
        "--results", action="append", default=[], metavar="FILE",
        help="a file that the script writes: .csv, .tsv, .json, .jsonl, lines, or images with a "
        "pattern such as 'masks/*.png'; - for printed lines, the default",
    )  # fmt: skip
    parser.add_argument(
        "--sink", action="append", default=[], metavar="NAME=KIND",
        help=f"a sink for retake.out: {', '.join(OUTPUTS)}",
    )  # fmt: skip
    parser.add_argument(
        "--real", action="append", default=[], metavar="FILE",
        help="a video that belongs to the script, such as a reference clip: it is read as without "
        "Retake, and is not the session",
    )  # fmt: skip
    parser.add_argument("--class-names", default="", metavar="A,B", help="of detections")
    parser.add_argument(
        "--may-end", action="store_true",
        help="the script may end before the last frame; if it begins the file again after the last "
        "frame, it is ended there",
    )  # fmt: skip
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    return parser


def _sink_name(path: str, parser: argparse.ArgumentParser) -> str:
    """`Out_1.csv` is the sink `out-1`."""
    stem = os.path.splitext(os.path.basename(path))[0]
    folder = os.path.basename(os.path.dirname(path))
    for text in (stem, folder, "files"):
        if name := re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"):
            # A number cannot come first, and `stdout` has the printed lines.
            return name if name[0].isalpha() and name != STDOUT else f"file-{name}"
    parser.error(f"--results {path}: the file has no name")


def _run(host: Host, written: Written, given: argparse.Namespace) -> None:
    _current.host = host
    _keep_memory()
    host.clock.install(host.turns.sleep)
    host.turns.install()
    written.install()
    StandIns(host, written, given.real).install()
    threading.excepthook = lambda args: _thread_failed(host, args)
    _say_at_end(host)
    status = _outcome(host, given)
    if status != 0:
        host.fail("loop.status", f"{given.script} ended with status {status}{_place(host)}")
    try:
        _end_threads(host)
    except KeyboardInterrupt:
        # One of them read without an end.
        pass
    atexit._run_exitfuncs()
    _clear_modules(os.getcwd() if given.module else os.path.dirname(os.path.abspath(given.script)))
    host.end()


def _clear_modules(folder: str) -> None:
    """As at the end of Python: the objects of the script's modules end, and may write then."""
    own = [
        module
        for name, module in sys.modules.items()
        if name == "__main__" or _is_of_script(getattr(module, "__file__", None) or "", folder)
    ]
    for module in own:
        names = vars(module)
        for name in sorted(names, key=lambda name: not name.startswith("_")):
            if not name.startswith("__"):
                names[name] = None
    del own, module, names
    gc.collect()


def _is_of_script(file: str, folder: str) -> bool:
    is_installed = "-packages" + os.sep in file or file.startswith(_PACKAGE + os.sep)
    return not is_installed and file.startswith(folder + os.sep)


def _say_at_end(host: Host) -> None:
    """Says where the script is if Retake ends it, because it does not answer."""
    number = _signal.SIGTERM
    masks: list[Any] = []

    def end(*_: object) -> None:
        _signal.signal(number, _signal.SIG_DFL)
        if not host.is_reported:
            host.flush()
            print(f"retake: {_activity(host)}", file=sys.stderr, flush=True)
        _signal.raise_signal(number)

    # A process of the script ends without words. A signal between the fork and this is not lost.
    def block() -> None:
        masks.append(_signal.pthread_sigmask(_signal.SIG_BLOCK, (number,)))

    def unblock() -> None:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, masks.pop())

    def reset() -> None:
        if _signal.getsignal(number) is end:
            _signal.signal(number, _signal.SIG_DFL)
        unblock()

    _signal.signal(number, end)
    os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=reset)


def _keep_memory() -> None:
    """Lets the C library keep the memory of arrays that are freed, for those of the next frame.

    Otherwise glibc returns it to the system, which clears each page again.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _KEPT_ARRAY_BYTES_MAX)
        set_option(_M_TRIM_THRESHOLD, 2 * _KEPT_ARRAY_BYTES_MAX)


def _end_threads(host: Host) -> None:
    """As at the end of Python: executors end their threads, and the others may still read."""
    host.end_executors(None)
    executors: Any = sys.modules.get("concurrent.futures.thread")
    if executors is not None:
        # The executors of a process end with the process.
        others, executors._threads_queues = executors._threads_queues, {}
    for end in reversed(getattr(threading, "_threading_atexits", [])):
        end()
    if executors is not None:
        executors._threads_queues, executors._shutdown = others, False
    host.join_threads(None)


def _outcome(host: Host, given: argparse.Namespace) -> int:
    """The status with which the script ends."""
    try:
        _execute(given)
    except SystemExit as end:
        if isinstance(end.code, str):
            host.flush()
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException as error:
        if host.is_stopped and isinstance(error, KeyboardInterrupt):
            _note_end(host, error)
            return 0
        _failed(host, error, f"{given.script} ended{_place(host)} by an exception")
    return 0


def _note_end(host: Host, error: BaseException) -> None:
    """The script reads again after the last frame, as a camera would continue, so it was ended."""
    own = os.path.dirname(os.path.abspath(__file__))
    places = [each for each in _each(error.__traceback__) if not _is_in(own, each)]
    if places:
        file, line = places[-1].tb_frame.f_code.co_filename, places[-1].tb_lineno
        host.note(
            f"{os.path.basename(file)}:{line} reads again after the last frame, and the script was "
            "ended there: what it writes after its loop is no result"
        )


def _execute(given: argparse.Namespace) -> None:
    sys.argv = [given.script, *given.arguments]
    if given.module:
        import runpy

        runpy.run_module(given.script, run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.abspath(given.script))
    module = ModuleType("__main__")
    module.__file__ = given.script
    sys.modules["__main__"] = module
    with open(given.script, "rb") as file:
        code = compile(file.read(), given.script, "exec")
    exec(code, module.__dict__)


def _place(host: Host) -> str:
    return f" at frame {host.sequence}" if host.sequence >= 0 else " before the first frame"


def _thread_failed(host: Host, args: Any) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        name = args.thread.name if args.thread else "?"
        what = f"its thread '{name}' was ended{_place(host)} by an exception"
        _failed(host, args.exc_value, what)


def _failed(host: Host, error: BaseException, what: str) -> NoReturn:
    # Most scripts do without them.
    import traceback

    from .._errors import short

    own = os.path.dirname(os.path.abspath(__file__))
    # Only the places of the script, also between a call and the handler of a signal.
    place, error.__traceback__ = error.__traceback__, None
    places = [each for each in _each(place) if not _is_in(own, each)]
    for each, following in zip(places, [*places[1:], None]):
        each.tb_next = following
    error.__traceback__ = places[0] if places else None
    # After what the script has printed.
    host.flush()
    traceback.print_exception(error)
    host.fail("python.exception", f"{what}: {short(error)}")  # type: ignore[arg-type]


def _activity(host: Host) -> str:
    """Which thread runs, at which line of the script, and how to let others run."""
    thread = host.turns.running()
    if thread is None:
        return f"all threads of the script wait{_place(host)}, for something outside of it"
    frame = sys._current_frames().get(thread.ident or 0)
    text = f"the thread '{thread.name}' runs {_line(frame)}{_place(host)}"
    if not host.turns.has_others:
        return text
    return (
        f"{text}, and no other thread has a turn until it waits: a loop that polls needs a "
        "queue.get, an Event.wait or a time.sleep(0.001)"
    )


def _line(frame: FrameType | None) -> str:
    """The innermost line that is not of Python, of a package or of the launcher."""
    other = (os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.__file__), "<frozen")
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(other) and "-packages" not in file:
            return f"line {frame.f_lineno} of {os.path.basename(file)}"
        frame = frame.f_back
    return "no line of the script"


def _each(place: TracebackType | None) -> Iterator[TracebackType]:
    while place is not None:
        yield place
        place = place.tb_next


def _is_in(folder: str, place: TracebackType) -> bool:
    return os.path.dirname(place.tb_frame.f_code.co_filename) == folder

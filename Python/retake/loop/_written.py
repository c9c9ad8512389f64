"""Follows what a script prints and the files that it writes."""

from __future__ import annotations

import builtins
import codecs
import io
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import BuiltinMethodType, MethodType
from typing import Any

from ._lines import TABLES, Lines, Sink

STDOUT = "stdout"
_TEXTS = frozenset([*TABLES, ".json", ".jsonl", ".ndjson", ".log", ".txt"])
"""Forms of files whose bytes are lines."""
_STDOUT_NUMBER = 1


class Written:
    """The files that a script writes, and what it prints.

    Args:
        patterns: By its sink, the path of a file, or a pattern such as `masks/*.png`.
        has_prints: Whether printed lines are results, in the sink `stdout`.
    """

    def __init__(self, patterns: dict[str, str], has_prints: bool) -> None:
        self._patterns = {sink: os.path.abspath(path) for sink, path in patterns.items()}
        self._sinks = {sink: Sink() for sink in ([STDOUT] if has_prints else []) + [*patterns]}
        self._lines: dict[str, Lines] = {}
        """By the path, or `stdout`: what takes lines, or has a row that waits."""
        self._tables: dict[str, Lines] = {}
        """By the path: files of rows that this run has written."""
        self._is_reading = False
        self._seen: set[str] = set()
        """The paths of results that were written in a way that is followed."""
        self._opened: set[str] = set()
        """The paths that `os.open` opened."""
        self._before: dict[str, tuple[int, ...]] = {}
        """By the path: the state of the files of results, when the script begins."""
        self._files: weakref.WeakSet[Any] = weakref.WeakSet()
        self._others: dict[str, None] = {}
        """The paths of the script's other files, in their order."""
        self._printed: Any = None
        """What is used as standard output, if printed lines are results."""
        self._outputs: dict[Any, str] = {}
        """What processes print until they have ended, with their names."""

    @property
    def names(self) -> list[str]:
        return list(self._sinks)

    def begin(self) -> None:
        """The script has read a frame."""
        if not self._is_reading:
            for lines in self._lines.values():
                lines.settle(is_end=False)
            self._is_reading = True

    def unseen(self) -> Iterator[tuple[str, bool]]:
        """Files of results with a content that was not followed; whether the script opened them."""
        for path, state in self._states().items():
            if path not in self._seen and state != self._before.get(path):
                yield os.path.relpath(path), path in self._opened

    def _states(self) -> dict[str, tuple[int, ...]]:
        if not self._patterns:
            return {}
        import glob

        found = {}
        for pattern in self._patterns.values():
            for path in {pattern, *glob.glob(pattern)}:
                # Without a content, nothing was missed.
                if os.path.isfile(path) and (state := os.stat(path)).st_size > 0:
                    found[path] = (state.st_ino, state.st_size, state.st_mtime_ns)
        return found

    def take(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The results of the frame that ends."""
        self._flush_printed()
        for lines in self._lines.values():
            lines.settle(is_end=False)
        for name, sink in self._sinks.items():
            if numbers := sink.take():
                yield name, numbers

    def _flush_printed(self) -> None:
        """A file of the script around that of standard output may hold back lines."""
        if STDOUT in self._lines and sys.stdout is not sys.__stdout__:
            try:
                sys.stdout.flush()
            except (AttributeError, OSError, ValueError):
                pass

    def end(self) -> None:
        """Lines without an end, and files that were not closed."""
        self._flush_printed()
        # As at the end of Python: what files hold back is written.
        for file in list(self._files):
            try:
                file.flush()
            except (OSError, ValueError):
                # Closed, or the disk is full.
                pass
        for lines in self._lines.values():
            lines.settle(is_end=True)

    def _lines_of(self, path: str, mode: str, sink: Sink, encoding: str | None) -> Lines:
        """For a file that is opened: those of its last opening, if it is appended to."""
        form = os.path.splitext(path)[1].lower()
        is_continued = "a" in mode or "r" in mode
        lines = self._tables.get(path) if is_continued else None
        if lines is not None and os.path.getsize(path) == 0:
            # It was removed or renamed, and its first row may be a header again.
            lines.restart()
        if lines is None:
            if (replaced := self._lines.pop(path, None)) is not None:
                replaced.settle(is_end=True)
            lines = Lines(sink, form, lambda: self._is_reading)
            if lines.table is not None:
                self._tables[path] = lines
                if is_continued:
                    with _open(path, encoding=encoding, errors="replace") as old:
                        # An empty line is no row.
                        rows = (line.rstrip("\r\n") for line in old if line.strip())
                        lines.table.continue_after(list(itertools.islice(rows, 2)))
        self._lines[path] = lines
        return lines

    def _closed(self, path: str, lines: Lines) -> None:
        lines.close()
        if self._lines.get(path) is lines and not lines.is_waiting:
            del self._lines[path]

    def sink(self, path: object) -> Sink | None:
        """What a file belongs to that is written."""
        if not isinstance(path, (str, os.PathLike)):
            return None
        if not self._patterns:
            return None
        import fnmatch

        full = os.path.abspath(os.fspath(path))
        for name, pattern in self._patterns.items():
            if fnmatch.fnmatch(full, pattern):
                self._seen.add(full)
                return self._sinks[name]
        return None

    def picture(self, path: str | os.PathLike[str], start: int = 0) -> None:
        """A file that was written as bytes: its name, and the digest from `start` on."""
        if (sink := self.sink(path)) is not None:
            import hashlib

            with _open(path, "rb") as file:
                file.seek(start)
                digest = hashlib.sha256(file.read()).hexdigest()[:16]
            sink.add(f"{os.path.basename(path)} sha256:{digest}", 1)

    def _moved(self, source: Any, target: Any) -> None:
        """A complete file has got the name of one with results: as if it was written now."""
        if self.sink(source) is not None or (sink := self.sink(target)) is None:
            return
        path = os.path.abspath(os.fspath(target))
        with _open(path, "rb") as file:
            content = file.read()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return self.picture(path)
        lines = self._lines_of(path, "w", sink, None)
        lines.write(text)
        self._closed(path, lines)

    def install(self) -> None:
        """Follows what is written from now on."""
        self._before = self._states()
        if (printed := self._sinks.get(STDOUT)) is not None:
            lines = self._lines[STDOUT] = Lines(printed, "", lambda: self._is_reading)
            if getattr(sys.stdout, "write_through", False):
                # PYTHONUNBUFFERED: `print` would write each of its values to the pipe.
                sys.stdout.reconfigure(line_buffering=True, write_through=False)  # type: ignore
            followed: Any = _Text(sys.stdout, lines, lines.close)
            sys.stdout = sys.__stdout__ = self._printed = followed
            os.system = _system
            self._install_write(lines)

        def open_followed(file: Any, mode: str = "r", *args: Any, **keys: Any) -> Any:
            opened = _open(file, mode, *args, **keys)
            if not any(letter in mode for letter in "wax+"):
                return opened
            self._files.add(opened)
            if not self._patterns or (sink := self.sink(file)) is None:
                if isinstance(file, (str, os.PathLike)):
                    self._others[os.fspath(file)] = None
                return opened
            is_text = os.path.splitext(os.fspath(file))[1].lower() in _TEXTS
            if "b" in mode and is_text:
                path = os.path.abspath(os.fspath(file))
                lines = self._lines_of(path, mode, sink, "utf-8")
                return _TextBytes(opened, lines, "utf-8", lambda: self._closed(path, lines))
            if "b" in mode:
                start = opened.tell() if "a" in mode else 0
                return _Bytes(opened, lambda: self.picture(file, start))
            path = os.path.abspath(os.fspath(file))
            lines = self._lines_of(path, mode, sink, opened.encoding)
            return _Text(opened, lines, lambda: self._closed(path, lines))

        builtins.open = io.open = open_followed  # type: ignore[assignment]
        if self._patterns:
            for name in ("rename", "replace"):
                setattr(os, name, self._move(getattr(os, name)))
            open_number = os.open

            def open_noted(path: Any, flags: int, *args: Any, **keys: Any) -> int:
                if flags & (os.O_WRONLY | os.O_RDWR) and isinstance(path, (str, os.PathLike)):
                    self._opened.add(os.path.abspath(os.fspath(path)))
                return open_number(path, flags, *args, **keys)

            os.open = open_noted

    def follow_processes(self, kind: Any) -> None:
        """What a process prints into the script's standard output is printed when it has ended.

        Args:
            kind: `subprocess.Popen`.
        """
        printed = self._printed
        if printed is None:
            return
        get_handles, handle_end = kind._get_handles, kind._handle_exitstatus

        def get_followed(process: Any, stdin: Any, stdout: Any, stderr: Any) -> Any:
            if stdout in (None, printed, _STDOUT_NUMBER):
                import tempfile

                stdout = process._retake_output = tempfile.TemporaryFile()  # noqa: SIM115
                args = process.args
                self._outputs[stdout] = str(args if isinstance(args, (str, bytes)) else args[0])
            return get_handles(process, stdin, stdout, stderr)

        def handle_end_followed(process: Any, *args: Any, **keys: Any) -> None:
            handle_end(process, *args, **keys)
            output = getattr(process, "_retake_output", None)
            if self._outputs.pop(output, None) is not None:
                output.seek(0)
                printed.write(output.read().decode(errors="replace"))
                output.close()

        kind._get_handles, kind._handle_exitstatus = get_followed, handle_end_followed

    def unheard(self) -> list[str]:
        """Processes that printed, and whose end the script did not wait for."""
        found = [(os.fstat(each.fileno()).st_size, name) for each, name in self._outputs.items()]
        return [name for size, name in found if size > 0]

    def unopened(self) -> str | None:
        """The file of results that the script never wrote, in a run without any result; and the
        files that it did write."""
        if any(self._sinks.values()):
            return None
        for pattern in self._patterns.values():
            if pattern not in self._seen and not any(letter in pattern for letter in "*?["):
                others = ", ".join(itertools.islice(self._others, 5)) or "no file"
                return f"{os.path.relpath(pattern)}; it wrote {others}"
        return None

    def _move(self, move: Callable[..., None]) -> Callable[..., None]:
        def move_followed(source: Any, target: Any, **keys: Any) -> None:
            move(source, target, **keys)
            if not keys and os.path.isfile(target):
                self._moved(source, target)

        return move_followed

    @staticmethod
    def _install_write(lines: Lines) -> None:
        """Printed lines may be written to their number, too."""
        write, decode = os.write, _decoder("utf-8")

        def write_followed(number: int, data: Any) -> int:
            count = write(number, data)
            if number == _STDOUT_NUMBER:
                lines.write(decode(bytes(data)[:count]))
            return count

        os.write = write_followed


_open = open


def _ignore() -> None: ...


def _system(command: Any) -> int:
    import subprocess

    status = subprocess.call(command, shell=True)
    return status << 8 if status >= 0 else -status


class _File:
    """A file of the script, which is used in its place."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._file)

    def __enter__(self) -> Any:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        self._file.close()


class _Ended(_File):
    """It is closed when the script has no more reference to it, as a file of Python."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        if not isinstance(found, (MethodType, BuiltinMethodType)):
            return found
        # The call may have the last reference.
        return lambda *args, **keys: (found(*args, **keys), self)[0]

    def __del__(self) -> None:
        try:
            self.close()
        except (OSError, ValueError):
            # Python ignores it, too.
            pass


class _Lined(_Ended):
    """A file of lines, which end with it."""

    _lines: Lines
    _closed: Callable[[], None]

    def truncate(self, size: int | None = None) -> int:
        length: int = self._file.truncate(size)
        if length == 0:
            self._lines.restart()
        return length

    def close(self) -> None:
        if not self._file.closed:
            self._closed()
        super().close()


class _Text(_Lined):
    def __init__(self, file: Any, lines: Lines, closed: Callable[[], None]) -> None:
        super().__init__(file)
        self._lines = lines
        self._closed = closed

    def write(self, text: str) -> int:
        count: int = self._file.write(text)
        self._lines.write(text)
        return count

    @property
    def buffer(self) -> Any:
        return _Buffer(self._file.buffer, self._lines, self._file.encoding)

    def detach(self) -> Any:
        encoding = self._file.encoding
        buffer = _Buffer(self._file.detach(), self._lines, encoding)
        # The other one is closed in its place.
        self._file, self._closed = io.StringIO(), _ignore
        return buffer


class _Buffer(_File):
    """The bytes below a file of text."""

    def __init__(self, file: Any, lines: Lines, encoding: str) -> None:
        super().__init__(file)
        self._lines = lines
        self._decode = _decoder(encoding)

    def write(self, data: Any) -> int:
        count: int = self._file.write(data)
        self._lines.write(self._decode(bytes(data)[:count]))
        return count


class _TextBytes(_Buffer, _Lined):
    """A file of lines that is written as bytes."""

    def __init__(
        self, file: Any, lines: Lines, encoding: str, closed: Callable[[], None]
    ) -> None:
        super().__init__(file, lines, encoding)
        self._closed = closed


def _decoder(encoding: str) -> Callable[[bytes], str]:
    return codecs.getincrementaldecoder(encoding)("replace").decode


class _Bytes(_Ended):
    def __init__(self, file: Any, closed: Any) -> None:
        super().__init__(file)
        self._closed = closed

    def write(self, data: Any) -> int:
        count: int = self._file.write(data)
        return count

    def close(self) -> None:
        is_first = not self._file.closed
        super().close()
        if is_first:
            self._closed()

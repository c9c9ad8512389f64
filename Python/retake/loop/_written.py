"""Follows what a script prints and the files that it writes."""

from __future__ import annotations

import builtins
import fnmatch
import hashlib
import io
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._values import Scalar
from ._lines import Lines, Sink

STDOUT = "stdout"


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
        self._files: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def names(self) -> list[str]:
        return list(self._sinks)

    def begin(self) -> None:
        """The script has read a frame."""
        self._is_reading = True

    def take(self) -> Iterator[tuple[str, Sequence[Scalar]]]:
        """The results of the frame that ends."""
        for lines in self._lines.values():
            lines.settle(is_end=False)
        for name, sink in self._sinks.items():
            if numbers := sink.take():
                yield name, numbers

    def end(self) -> None:
        """Lines without an end, and files that were not closed."""
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
        full = os.path.abspath(os.fspath(path))
        for name, pattern in self._patterns.items():
            if fnmatch.fnmatch(full, pattern):
                return self._sinks[name]
        return None

    def picture(self, path: str | os.PathLike[str], start: int = 0) -> None:
        """A file that was written as bytes: its name, and the digest from `start` on."""
        if (sink := self.sink(path)) is not None:
            with _open(path, "rb") as file:
                file.seek(start)
                digest = hashlib.sha256(file.read()).hexdigest()[:16]
            sink.add(f"{os.path.basename(path)} sha256:{digest}", 1)

    def install(self) -> None:
        """Follows what is written from now on."""
        if (printed := self._sinks.get(STDOUT)) is not None:
            lines = self._lines[STDOUT] = Lines(printed, "", lambda: self._is_reading)
            sys.stdout = _Text(sys.stdout, lines, lines.close)  # type: ignore[assignment]

        def open_followed(file: Any, mode: str = "r", *args: Any, **keys: Any) -> Any:
            opened = _open(file, mode, *args, **keys)
            if not any(letter in mode for letter in "wax+"):
                return opened
            self._files.add(opened)
            if not self._patterns or (sink := self.sink(file)) is None:
                return opened
            if "b" in mode:
                start = opened.tell() if "a" in mode else 0
                return _Bytes(opened, lambda: self.picture(file, start))
            path = os.path.abspath(os.fspath(file))
            lines = self._lines_of(path, mode, sink, opened.encoding)
            return _Text(opened, lines, lambda: self._closed(path, lines))

        builtins.open = io.open = open_followed  # type: ignore[assignment]


_open = open


class _File:
    """A file of the script, which is used in its place."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __enter__(self) -> Any:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()


class _Text(_File):
    def __init__(self, file: Any, lines: Lines, closed: Callable[[], None]) -> None:
        super().__init__(file)
        self._lines = lines
        self._closed = closed

    def write(self, text: str) -> int:
        count: int = self._file.write(text)
        self._lines.write(text)
        return count

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def truncate(self, size: int | None = None) -> int:
        length: int = self._file.truncate(size)
        if length == 0:
            self._lines.restart()
        return length

    def close(self) -> None:
        if not self._file.closed:
            self._closed()
        super().close()


class _Bytes(_File):
    def __init__(self, file: Any, closed: Any) -> None:
        super().__init__(file)
        self._closed = closed

    def close(self) -> None:
        is_first = not self._file.closed
        super().close()
        if is_first:
            self._closed()

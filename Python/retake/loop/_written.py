"""What a script prints and writes, as numbers of results."""

from __future__ import annotations

import builtins
import csv
import fnmatch
import hashlib
import io
import json
import math
import os
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from .._values import Scalar

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TABLES = (".csv", ".tsv")
STDOUT = "stdout"


class Sink:
    """The numbers of one file, or of what is printed, since the last frame."""

    def __init__(self) -> None:
        self._numbers: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, name: str, value: float) -> None:
        """A name that is there already gets `#2`, `#3`."""
        count = self._counts.get(name, 0) + 1
        self._counts[name] = count
        self._numbers[name if count == 1 else f"{name}#{count}"] = value

    def add_json(self, name: str, value: Any) -> None:
        """Numbers by their path; texts as `name=text`."""
        if isinstance(value, dict):
            for key, each in value.items():
                self.add_json(f"{name}.{key}" if name else str(key), each)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                self.add_json(f"{name}.{index}" if name else str(index), each)
        elif isinstance(value, (int, float)) and math.isfinite(value):
            self.add(name, float(value))
        elif value is not None:
            self.add(f"{name}={value}", 1)

    def take(self) -> list[Scalar]:
        taken = [Scalar(name, value) for name, value in self._numbers.items()]
        self._numbers, self._counts = {}, {}
        return taken


class Lines:
    """Text that is written piece by piece: printed lines, rows of CSV, or lines of JSON."""

    def __init__(self, sink: Sink, form: str = "") -> None:
        self._sink = sink
        self._form = form
        self._rest = ""
        self._columns: list[str] | None = None

    def append_to(self, file: Any) -> None:
        """The first line of a file that has rows already names the columns of the next ones."""
        line = file.readline().rstrip("\r\n")
        if self._form in _TABLES and line.strip():
            self._columns = self._named(self._cells(line))

    def write(self, text: str) -> None:
        self._rest += text
        if "\n" not in text or self._form == ".json":
            return
        *lines, self._rest = self._rest.split("\n")
        for line in lines:
            self._line(line.rstrip("\r"))

    def end(self) -> None:
        rest, self._rest = self._rest, ""
        if rest.strip():
            self._line(rest)

    def _line(self, line: str) -> None:
        if not line.strip():
            return
        if self._form in _TABLES:
            return self._row(self._cells(line))
        if self._form in (".json", ".jsonl", ".ndjson") or line.startswith("{"):
            try:
                return self._sink.add_json("", json.loads(line))
            except ValueError:
                pass
        self._text(line)

    def _cells(self, line: str) -> list[str]:
        separator = "\t" if self._form == ".tsv" else "," if "," in line else ";"
        return next(csv.reader([line], delimiter=separator))

    @staticmethod
    def _named(cells: list[str]) -> list[str]:
        """The names of a header; a row with a number names no column."""
        return [] if any(_number(cell) is not None for cell in cells) else cells

    def _row(self, cells: list[str]) -> None:
        if self._columns is None:
            self._columns = self._named(cells)
        if cells == self._columns:
            # A header, also one that is written again.
            return
        for index, cell in enumerate(cells):
            name = self._columns[index] if index < len(self._columns) else f"column{index + 1}"
            number = _number(cell)
            if number is not None:
                self._sink.add(name, number)
            elif cell:
                self._sink.add(f"{name}={cell}", 1)

    def _text(self, line: str) -> None:
        """`3 cars, 4.5 m` is `{}` = 3 and `cars, {} m` = 4.5; a line without a number is 1."""
        end = 0
        numbers = list(_NUMBER.finditer(line))
        for index, found in enumerate(numbers):
            rest = line[found.end() :] if index + 1 == len(numbers) else ""
            self._sink.add((line[end : found.start()] + "{}" + rest).strip(), float(found.group()))
            end = found.end()
        if not numbers:
            self._sink.add(line.strip(), 1)


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class Written:
    """The files that a script writes, and what it prints.

    Args:
        patterns: By its sink, the path of a file, or a pattern such as `masks/*.png`.
        has_prints: Whether printed lines are results, in the sink `stdout`.
    """

    def __init__(self, patterns: dict[str, str], has_prints: bool) -> None:
        self._patterns = {sink: os.path.abspath(path) for sink, path in patterns.items()}
        self._sinks = {sink: Sink() for sink in ([STDOUT] if has_prints else []) + [*patterns]}
        self._open_lines: list[Lines] = []
        self._files: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def names(self) -> list[str]:
        return list(self._sinks)

    def take(self) -> Iterator[tuple[str, Sequence[Scalar]]]:
        for name, sink in self._sinks.items():
            if numbers := sink.take():
                yield name, numbers

    def end(self) -> None:
        """Lines without an end, and files that were not closed."""
        for lines in self._open_lines:
            lines.end()
        # As at the end of Python: what files hold back is written.
        for file in list(self._files):
            try:
                file.flush()
            except (OSError, ValueError):
                # Closed, or the disk is full.
                pass

    def lines(self, sink: Sink, form: str = "") -> Lines:
        lines = Lines(sink, form)
        self._open_lines.append(lines)
        return lines

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
            sys.stdout = _Text(sys.stdout, self.lines(printed))  # type: ignore[assignment]

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
            lines = self.lines(sink, os.path.splitext(os.fspath(file))[1].lower())
            if "a" in mode or "r" in mode:
                with _open(file, encoding=opened.encoding, errors="replace") as old:
                    lines.append_to(old)
            return _Text(opened, lines)

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
    def __init__(self, file: Any, lines: Lines) -> None:
        super().__init__(file)
        self._lines = lines

    def write(self, text: str) -> int:
        count: int = self._file.write(text)
        self._lines.write(text)
        return count

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        self._lines.end()
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

"""Text that a script prints or writes, as numbers of results."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable
from typing import Any

from .._values import Scalar

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_INTEGER_END = 2**53
"""From here on, a float does not have the last digit of an integer."""
_FLOAT_END = 1e290
"""From here on, a float that is rounded to a multiple of a precision may be infinite."""
_LINE_END = re.compile("[\r\n]")
TABLES = (".csv", ".tsv")


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
        elif isinstance(value, (int, float)) and _is_exact(value):
            self.add(name, float(value))
        elif value is not None:
            self.add(f"{name}={value}", 1)

    def take(self) -> list[Scalar]:
        taken = [Scalar(name, value) for name, value in self._numbers.items()]
        self._numbers, self._counts = {}, {}
        return taken


class Table:
    """The rows of a file of CSV.

    A first row without a number waits for the next one: if that has a number, it is the header.
    Retake takes no result for an earlier frame, so the wait ends with the frame in which the row
    was written.

    Args:
        is_reading: Whether the script has read its first frame. A row that was written before has
            no frame, and may wait until the end.
    """

    def __init__(self, sink: Sink, form: str, is_reading: Callable[[], bool]) -> None:
        self._sink = sink
        self._form = form
        self._is_reading = is_reading
        self._columns: list[str] | None = None
        """The names of a header, or none; not known before the second row."""
        self._first: list[str] | None = None
        """The first row, until the second one comes."""
        self._is_early = False
        """Whether the first row was written before the first frame."""
        self._is_result = False
        """Whether the first row is a result already, or one of an earlier run."""
        self._old: list[str] | None = None
        """The first row of an earlier run, until this run writes a row."""

    @property
    def is_waiting(self) -> bool:
        return self._first is not None and not self._is_result

    def restart(self) -> None:
        """The file is empty again."""
        self.settle(is_end=True)
        self._columns = self._first = self._old = None

    def continue_after(self, lines: list[str]) -> None:
        """The first rows of the file that an earlier run wrote."""
        rows = [self._cells(line) for line in lines if line.strip()]
        for row in rows[:2]:
            self._see(row)
            self._is_result = True
        self._old = rows[0] if rows else None

    def row(self, line: str) -> None:
        cells = self._cells(line)
        if cells == self._old:
            # Each run writes it: as the first row of a new file.
            self._columns = self._first = None
        self._old = None
        if self._see(cells):
            self._add(cells)

    def settle(self, is_end: bool) -> None:
        """The end of a frame, or of the script: a first row that still waits is a result."""
        if self._first is not None and self.is_waiting and (is_end or not self._is_early):
            self._is_result = True
            self._add(self._first)

    def _see(self, cells: list[str]) -> bool:
        """Decides about the header; whether the row is a result now."""
        has_number = any(_number(cell) is not None for cell in cells)
        if self._columns is not None:
            return True
        if self._first is None:
            if has_number:
                self._columns = []
                return True
            self._first, self._is_early, self._is_result = cells, not self._is_reading(), False
            return False
        if not has_number:
            self.settle(is_end=True)
        self._columns = self._first if has_number else []
        self._first = None
        return True

    def _cells(self, line: str) -> list[str]:
        separator = "\t" if self._form == ".tsv" else "," if "," in line else ";"
        return next(csv.reader([line], delimiter=separator))

    def _add(self, cells: list[str]) -> None:
        columns = self._columns or []
        for index, cell in enumerate(cells):
            name = columns[index] if index < len(columns) else f"column{index + 1}"
            number = _number(cell)
            if number is not None:
                self._sink.add(name, number)
            elif cell:
                self._sink.add(f"{name}={cell}", 1)


class Lines:
    """Text that is written piece by piece: printed lines, rows of CSV, or lines of JSON."""

    def __init__(self, sink: Sink, form: str, is_reading: Callable[[], bool]) -> None:
        self._sink = sink
        self._form = form
        self._rest = ""
        self.table = Table(sink, form, is_reading) if form in TABLES else None

    def write(self, text: str) -> None:
        self._rest += text
        if self._form == ".json" or ("\n" not in text and "\r" not in text):
            return
        # Between the characters of "\r\n" there is an empty line, which is none.
        *lines, self._rest = _LINE_END.split(self._rest)
        for line in lines:
            self._line(line)

    def close(self) -> None:
        """What has no end of a line, when the file is closed or a frame ends."""
        rest, self._rest = self._rest, ""
        self._line(rest)

    def restart(self) -> None:
        """The file is empty again."""
        self.close()
        if self.table is not None:
            self.table.restart()

    @property
    def is_waiting(self) -> bool:
        return self.table is not None and self.table.is_waiting

    def settle(self, is_end: bool) -> None:
        """The end of a frame, or of the file."""
        if is_end or self._form != ".json":
            self.close()
        if self.table is not None:
            self.table.settle(is_end)

    def _line(self, line: str) -> None:
        if not line.strip():
            return
        if self.table is not None:
            return self.table.row(line)
        if self._form in (".json", ".jsonl", ".ndjson") or line.startswith("{"):
            try:
                return self._sink.add_json("", json.loads(line))
            except ValueError:
                pass
        self._text(line)

    def _text(self, line: str) -> None:
        """`3 cars, 4.5 m` is `{}` = 3 and `cars, {} m` = 4.5; a line without a number is 1."""
        end = 0
        found = [(each, _number(each.group())) for each in _NUMBER.finditer(line)]
        # The others are text, such as parts of a UUID.
        numbers = [(each, number) for each, number in found if number is not None]
        for index, (each, number) in enumerate(numbers):
            rest = line[each.end() :] if index + 1 == len(numbers) else ""
            self._sink.add((line[end : each.start()] + "{}" + rest).strip(), number)
            end = each.end()
        if not numbers:
            self._sink.add(line.strip(), 1)


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    is_integer = math.isfinite(number) and cell.strip().lstrip("+-").isdecimal()
    return number if _is_exact(int(number) if is_integer else number) else None


def _is_exact(number: float) -> bool:
    """Whether a result can hold it. If not, it is a text, so that no difference is lost."""
    return abs(number) < (_INTEGER_END if isinstance(number, int) else _FLOAT_END)

"""Text that a script prints or writes, as numbers of results."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

_NUMBER = re.compile(r"((?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")
"""With a group, so that a split has the numbers, too."""
_INTEGER_END = 2**53
"""From here on, a float does not have the last digit of an integer."""
_FLOAT_END = 1e290
"""From here on, a float that is rounded to a multiple of a precision may be infinite."""
_DECIMAL = re.compile(r"\s*[-+]?\d+,\d+\s*")
_QUOTED = re.compile(r'(^|[,;\t])"(?:[^"]|"")*"')
_QUOTE = re.compile(r'(?:^|[,;\t])"')
_NAMES_MAX = 1_000
"""Kept forms of lines: a script prints a few of them again and again."""
_LINE_END = re.compile("[\r\n]")
TABLES = (".csv", ".tsv")


class Sink:
    """The numbers of one file, or of what is printed, since the last frame."""

    def __init__(self) -> None:
        self._numbers: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._texts = 0
        """Lines without a number."""

    def add(self, name: str, value: float | str | None) -> None:
        """A name that is there already gets `#2`, `#3`; a text is `name#2=text` with the value 1."""
        self.add_row([(name, value)])

    def add_row(self, cells: list[tuple[str, float | str | None]]) -> None:
        """The cells of a row get the same `#`, also after rows with other cells, so that a report
        and a comparison know which of them belong together. An empty one is counted."""
        counts, numbers = self._counts, self._numbers
        row = 1 + max([counts.get(name, 0) for name, _ in cells], default=0)
        for name, value in cells:
            # A name may be there twice in one row.
            count = max(row, counts.get(name, 0) + 1)
            while (full := _named(name, count, value)) in numbers:
                count += 1
            counts[name] = count
            if value is not None:
                numbers[full] = 1.0 if isinstance(value, str) else value

    def add_line(self, text: str) -> None:
        """A line without a number: its place among such lines of the frame."""
        self._texts += 1
        self.add(text, self._texts)

    def add_json(self, value: Any) -> None:
        """Numbers by their path; texts as `name=text`."""
        self.add_row(list(_flat("", value)))

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def take(self) -> list[dict[str, Any]]:
        """The scalars of a message."""
        taken = [{"name": name, "value": value} for name, value in self._numbers.items()]
        self._numbers, self._counts, self._texts = {}, {}, 0
        return taken


def _named(name: str, count: int, value: float | str | None) -> str:
    numbered = name if count == 1 else f"{name}#{count}"
    return f"{numbered}={value}" if isinstance(value, str) else numbered


def _flat(name: str, value: Any) -> Iterator[tuple[str, float | str | None]]:
    """The numbers and texts of a value of JSON, by their paths."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _flat(f"{name}.{index}" if name else str(index), each)
    elif value is None or (isinstance(value, (int, float)) and _is_exact(value)):
        yield name, None if value is None else float(value)
    else:
        yield name, str(value)


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
        self._is_tabbed = form == ".tsv"
        self._is_reading = is_reading
        self._separator: str | None = None
        """Found in the first rows, and the same for all."""
        self._columns: list[str] | None = None
        """The names of a header, or none; not known before the second row."""
        self._first: str | None = None
        """The first row, until the second one comes."""
        self._is_early = False
        """Whether the first row was written before the first frame."""
        self._is_result = False
        """Whether the first row is a result already, or one of an earlier run."""
        self._old: str | None = None
        """The first row of an earlier run, until this run writes a row."""

    @property
    def is_waiting(self) -> bool:
        return self._first is not None and not self._is_result

    def restart(self) -> None:
        """The file is empty again."""
        self.settle(is_end=True)
        self._columns = self._first = self._old = self._separator = None

    def continue_after(self, rows: list[str]) -> None:
        """The first rows of the file that an earlier run wrote."""
        for row in rows:
            self._see(row)
            self._is_result = True
        self._old = rows[0] if rows else None

    def row(self, row: str) -> None:
        if row == self._old:
            # Each run writes it: as the first row of a new file.
            self._columns = self._first = self._separator = None
        self._old = None
        if self._see(row):
            self._add(row)

    def settle(self, is_end: bool) -> None:
        """The end of a frame, or of the script: a first row that still waits is a result."""
        if self._first is not None and self.is_waiting and (is_end or not self._is_early):
            self._is_result = True
            self._add(self._first)

    def _see(self, row: str) -> bool:
        """Decides about the header; whether the row is a result now."""
        if self._columns is not None:
            return True
        first = self._first
        self._separator = self._found([row] if first is None else [first, row])
        has_number = any(self._number(cell) is not None for cell in self._cells(row))
        if first is None:
            if has_number:
                self._columns = []
                return True
            self._first, self._is_early, self._is_result = row, not self._is_reading(), False
            return False
        if not has_number:
            self.settle(is_end=True)
        self._columns = self._cells(first) if has_number else []
        self._first = None
        return True

    def _found(self, rows: list[str]) -> str:
        """The separator that splits the first rows into the same number of cells."""
        if self._is_tabbed:
            return "\t"
        for separator in (";", "\t"):
            cells = [_split(row, separator) for row in rows]
            count = len(cells[0])
            if count == 1 or any(len(each) != count for each in cells):
                continue
            commas = {len(_split(row, ",")) for row in rows}
            # A comma in all rows alike may separate, too, unless it is a decimal one.
            if commas == {1} or len(commas) > 1 or _are_decimals(cells[-1]):
                return separator
        return ","

    def _cells(self, row: str) -> list[str]:
        return _split(row, self._separator or ",")

    def _number(self, cell: str) -> float | None:
        if self._separator != "," and _DECIMAL.fullmatch(cell):
            cell = cell.replace(",", ".")
        return _number(cell)

    def _add(self, row: str) -> None:
        columns = self._columns or []
        cells: list[tuple[str, float | str | None]] = []
        for index, cell in enumerate(self._cells(row)):
            name = columns[index] if index < len(columns) else f"column{index + 1}"
            number = self._number(cell)
            cells.append((name, (cell or None) if number is None else number))
        self._sink.add_row(cells)


def _split(row: str, separator: str) -> list[str]:
    if '"' not in row:
        return row.split(separator)
    import csv

    try:
        return next(csv.reader([row], delimiter=separator))
    except csv.Error:
        # Too long for a cell.
        return row.split(separator)


def _are_decimals(cells: list[str]) -> bool:
    """Whether each comma is in a number."""
    return all(_DECIMAL.fullmatch(cell) for cell in cells if "," in cell)


def _is_quote_open(text: str) -> bool:
    """Whether a quoted cell goes on in the next line."""
    return '"' in text and _QUOTE.search(_QUOTED.sub(r"\1", text)) is not None


def _rows(text: str) -> list[str]:
    """Lines with the further lines of their quoted cells, then the text after the last line."""
    rows, start = [], 0
    for end in _LINE_END.finditer(text):
        row = text[start : end.start()]
        if not _is_quote_open(row):
            rows.append(row)
            start = end.end()
    return [*rows, text[start:]]


class Lines:
    """Text that is written piece by piece: printed lines, rows of CSV, or lines of JSON."""

    def __init__(self, sink: Sink, form: str, is_reading: Callable[[], bool]) -> None:
        self._sink = sink
        self._form = form
        self._pieces: list[str] = []
        """The text after the last line."""
        self.table = Table(sink, form, is_reading) if form in TABLES else None

    def write(self, text: str) -> None:
        self._pieces.append(text)
        if self._form == ".json" or ("\n" not in text and "\r" not in text):
            return
        # Between the characters of "\r\n" there is an empty line, which is none.
        lines = _LINE_END.split("".join(self._pieces))
        if self.table is not None and any('"' in line for line in lines):
            lines = _rows("".join(self._pieces))
        rest = lines.pop()
        self._pieces = [rest] if rest else []
        for line in lines:
            self._line(line)

    def close(self) -> None:
        """What has no end of a line, when the file is closed or a frame ends."""
        if not self._pieces:
            return
        rest, self._pieces = "".join(self._pieces), []
        is_open = self.table is not None and _is_quote_open(rest)
        for line in _LINE_END.split(rest) if is_open else [rest]:
            self._line(line)

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
                return self._sink.add_json(json.loads(line))
            except ValueError:
                pass
        self._text(line)

    def _text(self, line: str) -> None:
        """`3 cars, 4.5 m` is `{}` = 3 and `cars, {} m` = 4.5."""
        parts = _NUMBER.split(line)
        found = [_number(each) for each in parts[1::2]]
        numbers = [each for each in found if each is not None]
        if len(numbers) < len(found):
            # The others are text, such as parts of a UUID.
            parts = _joined(parts, found)
        names = _names(*parts[::2])
        if not numbers:
            return self._sink.add_line(names[0])
        for name, number in zip(names, numbers):
            self._sink.add(name, number)


def _joined(parts: list[str], numbers: list[float | None]) -> list[str]:
    """Texts and numbers in turns; what is no number is part of the text around it."""
    joined = parts[:1]
    for number, written, text in zip(numbers, parts[1::2], parts[2::2]):
        if number is None:
            joined[-1] += written + text
        else:
            joined += [written, text]
    return joined


@lru_cache(_NAMES_MAX)
def _names(*texts: str) -> list[str]:
    """Of the numbers between these texts, or of a line without a number."""
    *before, last = texts
    if not before:
        return [last.strip()]
    before[-1] += "{}" + last
    return [text.strip() for text in (*(each + "{}" for each in before[:-1]), before[-1])]


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    if -_INTEGER_END < number < _INTEGER_END:
        return number
    is_integer = math.isfinite(number) and cell.strip().lstrip("+-").isdecimal()
    return number if _is_exact(int(number) if is_integer else number) else None


def _is_exact(number: float) -> bool:
    """Whether a result can hold it. If not, it is a text, so that no difference is lost."""
    return abs(number) < (_INTEGER_END if isinstance(number, int) else _FLOAT_END)

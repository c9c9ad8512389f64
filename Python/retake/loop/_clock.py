"""The clocks of a script, in virtual time."""

from __future__ import annotations

import ctypes
import datetime
import gc
import math
import os
import re
import time
from collections.abc import Callable
from typing import Any

EPOCH_NS = 1_577_836_800_000_000_000
"""2020-01-01 00:00 UTC: what clocks show when virtual time is 0."""
REAL_MONOTONIC, REAL_SLEEP = time.monotonic, time.sleep
"""For real processes, which virtual time does not wait for."""
_TICK_NS = 1_000
"""Each reading of a clock is so much later than the one before: scripts divide by a difference."""


class Clock:
    """Virtual time as the script sees it, in nanoseconds."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.alarm_ns: float = math.inf
        """A reading of the clock that passes this calls `passed`."""
        self.passed: Callable[[], None] = lambda: None

    def advance(self, ns: int) -> None:
        """Time never decreases."""
        self.now_ns = max(self.now_ns, ns)

    def read(self) -> int:
        self.now_ns += _TICK_NS
        if self.now_ns >= self.alarm_ns:
            self.passed()
        return self.now_ns

    def seconds(self) -> float:
        return self.read() / 1e9

    def wall(self) -> float:
        return (EPOCH_NS + self.read()) / 1e9

    def install(self, sleep: Callable[[float], None]) -> None:
        """Replaces the clocks of Python, before the script is imported."""
        os.environ["TZ"] = "UTC"
        time.tzset()
        for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, self.seconds)
            setattr(time, f"{name}_ns", self.read)
        real = getattr(time, "CLOCK_REALTIME", None)
        time.clock_gettime_ns = staticmethod(
            lambda kind: self.read() + (EPOCH_NS if kind == real else 0)
        )
        time.clock_gettime = staticmethod(lambda kind: time.clock_gettime_ns(kind) / 1e9)
        time.time = self.wall
        time.time_ns = staticmethod(lambda: EPOCH_NS + self.read())
        time.sleep = sleep
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, self._now_by_default(getattr(time, name)))
        asctime, strftime, gmtime = time.asctime, time.strftime, time.gmtime
        time.asctime = staticmethod(lambda at=None: asctime(gmtime() if at is None else at))
        time.strftime = staticmethod(
            lambda form, at=None: strftime(form, gmtime() if at is None else at)
        )
        _install_datetime(self.wall)

    def _now_by_default(self, convert: Callable[[float], Any]) -> Callable[..., Any]:
        # A class may keep it as an attribute, and then it is no method.
        return staticmethod(
            lambda seconds=None: convert(self.wall() if seconds is None else seconds)
        )


class Meter:
    """`cv2.TickMeter` in virtual time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        self._started = self._sum = self._last = self._count = 0

    def start(self) -> None:
        self._started = self._clock.read()

    def stop(self) -> None:
        if self._started:
            self._last = self._clock.read() - self._started
            self._sum += self._last
            self._count += 1
            self._started = 0

    def getCounter(self) -> int:  # noqa: N802
        return self._count

    def getFPS(self) -> float:  # noqa: N802
        return self._count * 1e9 / self._sum if self._sum else 0.0

    def __getattr__(self, name: str) -> Callable[[], float]:
        """`getTimeMilli`, `getAvgTimeSec`, `getLastTimeTicks` and the like."""
        named = _METER.fullmatch(name)
        if named is None:
            raise AttributeError(name)
        which, unit = named.groups()
        ticks = {"": self._sum, "Last": self._last, "Avg": self._sum / max(1, self._count)}[which]
        return lambda: ticks / _UNITS_NS[unit] if unit != "Ticks" else ticks


_UNITS_NS = {"Ticks": 1, "Micro": 1e3, "Milli": 1e6, "Sec": 1e9}
_METER = re.compile(f"get(|Last|Avg)Time({'|'.join(_UNITS_NS)})")


def _install_datetime(wall: Callable[[], float]) -> None:
    """The types stay as they are: libraries in C know their size and compare them with `is`."""
    from_timestamp = vars(datetime.datetime)["fromtimestamp"]

    def now(cls: type, tz: datetime.tzinfo | None = None) -> Any:
        return from_timestamp.__get__(None, cls)(wall(), tz)

    def utcnow(cls: type) -> Any:
        return now(cls, datetime.timezone.utc).replace(tzinfo=None)

    def today(cls: Any) -> Any:
        return cls.fromtimestamp(wall())

    _replace(datetime.datetime, now, utcnow)
    _replace(datetime.date, today)


def _replace(kind: type, *methods: Callable[..., Any]) -> None:
    """Replaces class methods of a type of C, which refuses `setattr`."""
    (content,) = gc.get_referents(vars(kind))
    for method in methods:
        method.__qualname__ = f"{kind.__name__}.{method.__name__}"
        content[method.__name__] = classmethod(method)
    # Calls keep the methods that they have found, until they hear of it.
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))

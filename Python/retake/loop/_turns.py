"""Threads of a script that take turns, so that their order is the same in each run.

One thread runs at a time. It runs until it waits: for a lock, for another thread, for a time, or
for a frame. Then the thread that was ready first continues. Only if all of them wait does virtual
time advance: to the next frame or to the end of a sleep, whichever comes first.
"""

from __future__ import annotations

import _thread
import functools
import heapq
import importlib
import itertools
import queue
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from ._clock import Clock


class _Waiter:
    """A thread that waits. It is woken once."""

    __slots__ = ("baton", "is_ready", "is_late", "ended_by")

    def __init__(self) -> None:
        self.baton = _real_lock()
        self.baton.acquire()
        self.is_ready = False
        self.is_late = False
        """Whether the end of its time woke it."""
        self.ended_by: type[BaseException] | None = None
        """Raised where the thread waits."""


_real_lock = _thread.allocate_lock
_SPINS_MAX = 1_000
"""How many free locks a thread takes in a row without a wait."""
_SPIN_SECONDS = 0.001


def numbered() -> Callable[[Any], int]:
    """A hash by the order of use: sets of these objects have the same order in each run."""
    numbers = itertools.count()

    def number(value: Any) -> int:
        # A class of the script may have its own `__getattr__`, for after its `__init__`.
        try:
            found: int = object.__getattribute__(value, "_retake_number")
        except AttributeError:
            found = next(numbers)
            object.__setattr__(value, "_retake_number", found)
        return found

    return number


class Turns:
    """Decides which thread runs.

    Args:
        serve: Asks the host for the next frame, or for a time in nanoseconds if that is earlier.
            Called if all threads wait, and at least one of them for a frame.
        stuck: Ends the run: all threads wait for one another.
    """

    def __init__(
        self, clock: Clock, serve: Callable[[int | None], None], stuck: Callable[[], NoReturn]
    ) -> None:
        self.clock = clock
        self._serve = serve
        self._stuck = stuck
        self._ready: deque[_Waiter] = deque()
        self._sleepers: list[tuple[int, int, _Waiter]] = []
        self._count = 0
        self._readers: deque[_Waiter] = deque()
        self._pollers: dict[_Waiter, Callable[[float | None], Any]] = {}
        """Threads that wait for files, such as the loop of asyncio."""
        self._spins = 0
        self._waiting: dict[int, _Waiter] = {}
        """By the thread."""

    # What threads wait for.

    def wait(self, waiter: _Waiter, until_ns: int | None = None) -> bool:
        """Waits until the waiter is woken; whether that was before the time.

        Raises:
            SystemExit, KeyboardInterrupt: The thread is ended.
        """
        if until_ns is not None:
            self._count += 1
            heapq.heappush(self._sleepers, (until_ns, self._count, waiter))
        thread = _thread.get_ident()
        self._waiting[thread] = waiter
        self._yield_to_next()
        waiter.baton.acquire()
        del self._waiting[thread]
        if waiter.ended_by is not None:
            raise waiter.ended_by
        return not waiter.is_late

    def end(
        self, thread: threading.Thread, by: type[BaseException] = SystemExit
    ) -> None:
        """Ends another thread where it waits, as soon as it is its turn."""
        first: _Waiter | None = getattr(thread, "_retake_first", None)
        waiter = self._waiting.get(thread.ident or 0, first)
        if waiter is not None:
            waiter.ended_by = by
            self.wake(waiter)

    def sleep(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.wait(_Waiter(), self.clock.now_ns + round(seconds * 1e9))

    def wait_for_frame(self) -> None:
        """Waits until the host has sent a frame, or has none."""
        waiter = _Waiter()
        self._readers.append(waiter)
        try:
            self.wait(waiter)
        finally:
            if waiter.ended_by and waiter in self._readers:
                self._readers.remove(waiter)

    def frame_came(self) -> None:
        """The first thread that waits for a frame takes it."""
        if self._readers:
            self.wake(self._readers.popleft())

    def wake(self, waiter: _Waiter) -> None:
        if not waiter.is_ready:
            waiter.is_ready = True
            self._ready.append(waiter)

    def spin(self) -> None:
        """A lock was free. A thread that only looks at a queue lets others run, too."""
        self._spins += 1
        if self._spins > _SPINS_MAX and (self._ready or self._readers or self._sleepers):
            self.sleep(_SPIN_SECONDS)

    def _yield_to_next(self) -> None:
        self._spins = 0
        self._end_sleeps()
        # Ends: each round wakes a thread, advances the time, or raises.
        while not self._ready:
            if self._poll():
                break
            # A sleep that was cut short by a wake is over.
            while self._sleepers and self._sleepers[0][2].is_ready:
                heapq.heappop(self._sleepers)
            until = self._sleepers[0][0] if self._sleepers else None
            if self._readers:
                self._serve(until)
            elif until is not None:
                self.clock.advance(until)
            elif self._pollers:
                # Something outside of the script has to happen, in real time.
                next(iter(self._pollers.values()))(None)
            else:
                self._stuck()
            self._end_sleeps()
        self._ready.popleft().baton.release()

    def _poll(self) -> bool:
        """Wakes the threads whose files are ready; whether there are any."""
        for waiter, poll in list(self._pollers.items()):
            if poll(0):
                self.wake(waiter)
        return bool(self._ready)

    def _end_sleeps(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self.clock.now_ns:
            _, _, waiter = heapq.heappop(self._sleepers)
            if not waiter.is_ready:
                waiter.is_late = True
                self.wake(waiter)

    # What Python's own library is given.

    def install(self) -> None:
        """Replaces locks and threads of the library, before the script is imported."""
        turns = self

        class Lock(_Lock):
            def __init__(self) -> None:
                super().__init__(turns)

        threading.Lock = threading._allocate_lock = Lock  # type: ignore[attr-defined,misc]
        # Imports keep their own locks: the number of modules must not matter.
        imports: Any = importlib._bootstrap  # type: ignore[attr-defined]
        imports._thread = SimpleNamespace(**vars(_thread))
        _thread.allocate_lock = _thread.allocate = Lock  # type: ignore[assignment]
        threading.RLock = threading._RLock = threading._PyRLock  # type: ignore[attr-defined,misc]
        threading._time = queue.time = time.monotonic  # type: ignore[attr-defined]
        queue.SimpleQueue = queue._PySimpleQueue  # type: ignore[attr-defined,misc]
        self._install_thread()
        for name in ("SelectSelector", "PollSelector", "EpollSelector", "KqueueSelector"):
            if kind := getattr(selectors, name, None):
                kind.select = self._select(kind.select)

    def _select(self, select: Callable[..., Any]) -> Callable[..., Any]:
        """Waits for files in virtual time."""
        turns = self

        @functools.wraps(select)
        def select_in_turn(selector: Any, timeout: float | None = None) -> Any:
            if (found := select(selector, 0)) or (timeout is not None and timeout <= 0):
                return found
            waiter = _Waiter()
            turns._pollers[waiter] = lambda limit: select(selector, limit)
            until = None if timeout is None else turns.clock.now_ns + round(timeout * 1e9)
            try:
                turns.wait(waiter, until)
            finally:
                del turns._pollers[waiter]
            return select(selector, 0)

        return select_in_turn

    def _install_thread(self) -> None:
        turns = self
        kind: Any = threading.Thread
        start, join, inner = kind.start, kind.join, kind._bootstrap_inner

        def start_in_turn(thread: Any) -> None:
            thread._retake_first, thread._retake_joiners = _Waiter(), []
            thread._retake_ended = False
            turns.wake(thread._retake_first)
            start(thread)

        def run_in_turn(thread: Any) -> None:
            thread._retake_first.baton.acquire()
            if thread._retake_first.ended_by:
                thread.run = lambda: None
            try:
                inner(thread)
            finally:
                thread._retake_ended = True
                for waiter in thread._retake_joiners:
                    turns.wake(waiter)
                turns._yield_to_next()

        def join_in_turn(thread: Any, timeout: float | None = None) -> None:
            if getattr(thread, "_retake_ended", True) or thread is threading.current_thread():
                return join(thread, timeout)
            waiter = _Waiter()
            thread._retake_joiners.append(waiter)
            until = None if timeout is None else turns.clock.now_ns + round(max(timeout, 0) * 1e9)
            if turns.wait(waiter, until):
                join(thread)

        def is_alive(thread: Any) -> bool:
            return thread._started.is_set() and not getattr(thread, "_retake_ended", False)

        def start_new(function: Any, args: Any, keys: Any = None) -> int | None:
            thread = kind(target=function, args=args, kwargs=keys, daemon=True)
            thread.start()
            return thread.ident

        kind.start, kind.join, kind.is_alive = start_in_turn, join_in_turn, is_alive
        kind._bootstrap_inner = run_in_turn
        kind.__hash__ = numbered()
        _thread.start_new_thread = _thread.start_new = start_new  # type: ignore[assignment]


class _Lock:
    """A lock whose waiters get it in the order in which they came."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._is_locked = False
        self._waiters: deque[_Waiter] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not self._is_locked:
            self._is_locked = True
            self._turns.spin()
            return True
        if not blocking:
            return False
        waiter = _Waiter()
        self._waiters.append(waiter)
        turns = self._turns
        until = None if timeout < 0 else turns.clock.now_ns + round(timeout * 1e9)
        try:
            if turns.wait(waiter, until):
                return True
        except (SystemExit, KeyboardInterrupt):
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            else:
                self.release()
            raise
        self._waiters.remove(waiter)
        return False

    def release(self) -> None:
        if not self._is_locked:
            raise RuntimeError("release unlocked lock")
        # One whose time is over, or whose thread ends, leaves by itself.
        waiter = next((e for e in self._waiters if not (e.is_late or e.ended_by)), None)
        if waiter is not None:
            # It has the lock from now on.
            self._waiters.remove(waiter)
            return self._turns.wake(waiter)
        self._is_locked = False

    def locked(self) -> bool:
        return self._is_locked

    def _at_fork_reinit(self) -> None:
        self._is_locked = False
        self._waiters.clear()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

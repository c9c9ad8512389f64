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

    __slots__ = ("baton", "is_ready", "is_late", "is_away", "ended_by", "call")

    def __init__(self) -> None:
        self.baton = _real_lock()
        self.baton.acquire()
        self.is_ready = False
        self.is_late = False
        """Whether the end of its time woke it."""
        self.is_away = False
        """Whether its thread handles a signal, and looks for a wake after that."""
        self.call: Callable[[], None] | None = None
        """Called at the end of its time instead of a wake: no thread waits."""
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
        self._main = _thread.get_ident()
        self._deliver: Callable[[], None] | None = None
        """Sends a signal to the main thread, as soon as it is its turn."""

    # What threads wait for.

    def wait(self, waiter: _Waiter, until_ns: int | None = None) -> bool:
        """Waits until the waiter is woken; whether that was before the time.

        Raises:
            SystemExit, KeyboardInterrupt: The thread is ended.
            BaseException: The handler of a signal has raised it.
        """
        if until_ns is not None:
            self._push(waiter, until_ns)
        thread = _thread.get_ident()
        self._waiting[thread] = waiter
        self._yield_to_next()
        waiter.baton.acquire()
        if self._deliver is not None and thread == self._main:
            self._handle_signals(waiter)
        del self._waiting[thread]
        if waiter.ended_by is not None:
            raise waiter.ended_by
        return not waiter.is_late

    def _push(self, waiter: _Waiter, until_ns: int) -> None:
        self._count += 1
        heapq.heappush(self._sleepers, (until_ns, self._count, waiter))

    def call_at(self, ns: int, call: Callable[[], None]) -> _Waiter:
        """Calls a function when virtual time is this, on any thread, unless it is cancelled."""
        waiter = _Waiter()
        waiter.call = call
        self._push(waiter, ns)
        return waiter

    @staticmethod
    def cancel(timer: _Waiter) -> None:
        timer.is_ready = True

    def interrupt(self, deliver: Callable[[], None]) -> None:
        """Calls a function on the main thread: now, or where it waits as soon as it is its turn."""
        if _thread.get_ident() == self._main and self._main not in self._waiting:
            return deliver()
        self._deliver = deliver
        waiter = self._waiting.get(self._main)
        if waiter is not None and not (waiter.is_ready or waiter.is_away):
            waiter.is_away = True
            self._ready.append(waiter)

    def _handle_signals(self, waiter: _Waiter) -> None:
        """The main thread handles signals, and waits again unless it was woken in the meantime."""
        # Ends: each round handles a signal that was due.
        while (deliver := self._deliver) is not None:
            self._deliver = None
            del self._waiting[self._main]
            waiter.is_away = True
            try:
                deliver()
            except BaseException:
                # It waits no more: a later wake finds no thread.
                waiter.is_ready = True
                raise
            self._waiting[self._main] = waiter
            if not waiter.is_ready:
                waiter.is_away = False
                self._yield_to_next()
                waiter.baton.acquire()

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
            if waiter in self._readers:
                self._readers.remove(waiter)

    def frame_came(self) -> None:
        """The first thread that waits for a frame takes it."""
        if self._readers:
            self.wake(self._readers.popleft())

    def first_frame_came(self) -> None:
        """All threads that wait for it know the track then."""
        while self._readers:
            self.wake(self._readers.popleft())

    def wake(self, waiter: _Waiter) -> None:
        if not waiter.is_ready:
            waiter.is_ready = True
            if not waiter.is_away:
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
            if waiter.is_ready:
                continue
            if waiter.call is not None:
                waiter.is_ready = True
                waiter.call()
                continue
            waiter.is_late = True
            self.wake(waiter)

    def wait_for_event(self, poll: Callable[[float | None], Any], timeout: float | None) -> Any:
        """Waits in virtual time until `poll` finds an event from outside, or the time is over.

        Args:
            poll: Finds an event at once (0), or waits for one in real time (`None`).
        """
        if (found := poll(0)) or (timeout is not None and timeout <= 0):
            return found
        waiter = _Waiter()
        self._pollers[waiter] = poll
        until = None if timeout is None else self.clock.now_ns + round(timeout * 1e9)
        try:
            self.wait(waiter, until)
        finally:
            del self._pollers[waiter]
        return poll(0)

    def running(self) -> threading.Thread | None:
        """The thread whose turn it is; `None` if all of them wait."""
        for ident, thread in list(threading._active.items()):  # type: ignore[attr-defined]
            if ident not in self._waiting and not self._is_new(thread):
                return thread
        return None

    def _is_new(self, thread: Any) -> bool:
        """Whether it has not had a turn yet."""
        return getattr(thread, "_retake_first", None) in self._ready

    @property
    def has_others(self) -> bool:
        """Whether threads wait for the one that runs."""
        return bool(self._waiting or self._ready)

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
            return turns.wait_for_event(lambda limit: select(selector, limit), timeout)

        return select_in_turn

    def _install_thread(self) -> None:
        turns = self
        kind: Any = threading.Thread
        start, join, inner = kind.start, kind.join, kind._bootstrap_inner

        def start_in_turn(thread: Any) -> None:
            thread._retake_first, thread._retake_joiners = _Waiter(), []
            thread._retake_ended = False
            if not hasattr(thread, "_retake_process"):
                # It belongs to the process that starts it.
                own = getattr(threading.current_thread(), "_retake_process", None)
                thread._retake_process = own
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
        except BaseException:
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

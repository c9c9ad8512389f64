"""`signal.alarm`, `signal.setitimer` and the functions that wait for signals, in virtual time."""

from __future__ import annotations

import errno
import math
import operator
import os
import signal
import threading
from collections.abc import Callable, Iterable
from typing import Any

from ._host import Host
from ._turns import _Waiter

_SECOND_NS = 1_000_000_000


class Alarms:
    """The timer of a script that sends SIGALRM.

    The signal is real, and sent on the main thread when virtual time is due. So Python calls the
    script's handler, or ends the process, as always.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._turns = host.turns
        self._clock = host.clock
        self._timer: _Waiter | None = None
        """In the turns of the threads, until the alarm is due."""
        self._due_ns = self._interval_ns = 0
        self._waits: list[tuple[tuple[int, ...], list[Any]]] = []
        """The signals of each wait, and the one that it has found."""

    def install(self, module: Any) -> None:
        """Replaces the functions of the module `signal` once it is imported."""
        for name, own in (
            ("alarm", self._alarm), ("setitimer", self._set_timer(module)),
            ("getitimer", self._get_timer(module)), ("pause", self._pause),
            ("sigwait", lambda signals: _named(self._wait(signals).si_signo)),
            ("sigwaitinfo", self._wait), ("sigtimedwait", self._timed_wait),
        ):  # fmt: skip
            if hasattr(module, name):
                setattr(module, name, own)

    # The timer.

    def _alarm(self, seconds: int, /) -> int:
        rest, _ = self._rest()
        # As the C function, which has no sign.
        self._set((operator.index(seconds) & 0xFFFF_FFFF) * _SECOND_NS, 0)
        # As Linux: the nearest second, and not 0 while an alarm is set.
        return max(1, (rest + _SECOND_NS // 2) // _SECOND_NS) if rest else 0

    def _set_timer(self, module: Any) -> Callable[..., tuple[float, float]]:
        real = module.setitimer

        def setitimer(which: int, seconds: float, interval: float = 0.0, /) -> tuple[float, float]:
            if which != signal.ITIMER_REAL:
                self._note(which)
                return real(which, seconds, interval)  # type: ignore[no-any-return]
            if min(seconds, interval) < 0:
                raise module.ItimerError(errno.EINVAL, os.strerror(errno.EINVAL))
            rest = self._rest()
            # As the kernel: the shortest time is not 0.
            self._set(math.ceil(seconds * 1e9), math.ceil(interval * 1e9))
            return rest[0] / 1e9, rest[1] / 1e9

        return setitimer

    def _get_timer(self, module: Any) -> Callable[[int], tuple[float, float]]:
        real = module.getitimer

        def getitimer(which: int, /) -> tuple[float, float]:
            if which != signal.ITIMER_REAL:
                return real(which)  # type: ignore[no-any-return]
            rest, interval = self._rest()
            return rest / 1e9, interval / 1e9

        return getitimer

    def _note(self, which: int) -> None:
        name = {signal.ITIMER_VIRTUAL: "ITIMER_VIRTUAL", signal.ITIMER_PROF: "ITIMER_PROF"}
        if which in name:
            self._host.note(
                f"signal.{name[which]} measures the time of the processor, which differs in each "
                "run, and so may the results: use ITIMER_REAL, which counts virtual time"
            )

    def _rest(self) -> tuple[int, int]:
        """Nanoseconds to the signal, 0 without one, and between signals."""
        now_ns = self._clock.read()
        return (max(1, self._due_ns - now_ns) if self._timer else 0), self._interval_ns

    def _set(self, delay_ns: int, interval_ns: int) -> None:
        if self._timer is not None:
            self._turns.cancel(self._timer)
        self._timer, self._clock.alarm_ns = None, math.inf
        self._interval_ns = interval_ns if delay_ns else 0
        if delay_ns:
            self._begin(self._clock.now_ns + delay_ns)

    def _begin(self, due_ns: int) -> None:
        self._due_ns = self._clock.alarm_ns = due_ns
        self._clock.passed = self._passed
        self._timer = self._turns.call_at(due_ns, self._passed)

    def _passed(self) -> None:
        due_ns, interval_ns = self._due_ns, self._interval_ns
        self._set(0, 0)
        if interval_ns:
            # Times that have passed already are one signal.
            late = (self._clock.now_ns - due_ns) // interval_ns
            self._interval_ns = interval_ns
            self._begin(due_ns + (late + 1) * interval_ns)
        self._turns.interrupt(lambda: self._send(due_ns))

    def _send(self, due_ns: int) -> None:
        """Sends the signal, on the main thread."""
        if signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            return self._send_blocked()
        if signal.getsignal(signal.SIGALRM) == signal.SIG_DFL:
            self._host.report(
                "loop.alarm",
                f"the script's alarm was due at {due_ns / 1e9:g} s of virtual time and ended the "
                "process, because SIGALRM has no handler: set one with signal.signal, or ignore "
                "the signal with signal.SIG_IGN",
            )
        signal.raise_signal(signal.SIGALRM)

    def _send_blocked(self) -> None:
        """The signal waits in this thread, or is taken by the first thread that waits for it."""
        signal.raise_signal(signal.SIGALRM)
        for numbers, found in self._waits:
            if signal.SIGALRM in numbers and not found:
                return found.append(_REAL_TIMED((signal.SIGALRM,), 0))

    # Functions that wait.

    def _pause(self) -> None:
        turns, waiter = self._turns, _Waiter()

        def waking(handler: Callable[..., object]) -> Callable[..., None]:
            def handle(number: int, frame: Any) -> None:
                turns.wake(waiter)
                handler(number, frame)

            return handle

        handlers = {}
        if threading.current_thread() is threading.main_thread():
            for number in sorted(signal.valid_signals()):
                if callable(handler := signal.getsignal(number)):
                    handlers[number] = handler, (own := waking(handler))
                    signal.signal(number, own)
        try:
            turns.wait(waiter)
        finally:
            for number, (handler, own) in handlers.items():
                # The handler may have set another one.
                if signal.getsignal(number) is own:
                    signal.signal(number, handler)

    def _timed_wait(self, signals: Iterable[int], timeout: float, /) -> Any:
        if timeout < 0:
            raise ValueError("timeout must be non-negative")
        return self._wait(signals, timeout)

    def _wait(self, signals: Iterable[int], timeout: float | None = None, /) -> Any:
        numbers, found = tuple(signals), list[Any]()

        def poll(limit: float | None) -> list[Any]:
            if not found:
                info = _REAL_WAIT(numbers) if limit is None else _REAL_TIMED(numbers, limit)
                found.extend([] if info is None else [info])
            return found

        wait = (numbers, found)
        self._waits.append(wait)
        try:
            self._turns.wait_for_event(poll, timeout)
        finally:
            # Another wait for the same signals is equal to it.
            self._waits = [each for each in self._waits if each is not wait]
        return found[0] if found else None


def _named(number: int) -> int:
    try:
        return signal.Signals(number)
    except ValueError:
        # One for real-time use.
        return number


_REAL_WAIT: Any = getattr(signal, "sigwaitinfo", None)
_REAL_TIMED: Any = getattr(signal, "sigtimedwait", None)

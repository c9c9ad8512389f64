"""`multiprocessing`, `ProcessPoolExecutor` and joblib: their processes are threads that take turns.

A real process runs at a speed of its own, so the order of its answers would differ from run to run.
Values that pass a queue, a pipe or a pool are copied, as between processes.
"""

from __future__ import annotations

import atexit
import copy
import io
import os
import pickle
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ._clock import REAL_MONOTONIC, REAL_SLEEP
from ._host import Host
from ._turns import numbered
from ._written import Written

_WORKERS = 4
"""Of a pool whose script names no number: the processors of this machine must not matter."""

_SIGKILL, _SIGTERM = 9, 15


class Processes:
    """Replaces the processes of `multiprocessing` and `concurrent.futures` once it is imported."""

    def __init__(self, host: Host, written: Written) -> None:
        self._host = host
        self._written = written

    def multiprocessing(self, module: Any) -> None:
        """The processes, queues and locks of `multiprocessing`."""
        from multiprocessing import context, process

        host = self._host
        for kind in vars(context).values():
            if isinstance(kind, type) and issubclass(kind, process.BaseProcess):
                kind._Popen = staticmethod(lambda started: _Run(host, started))  # type: ignore
        # `active_children` has a set of them.
        process.BaseProcess.__hash__ = lambda each: hash(each._identity)  # type: ignore
        main = process.current_process()

        def current_process() -> Any:
            return getattr(threading.current_thread(), "_retake_process", None) or main

        process.current_process = current_process
        base: Any = context.BaseContext
        base.current_process = staticmethod(current_process)
        for name, make in _SHARED.items():
            setattr(base, name, _without_self(make))
        base.Manager = lambda context: _Manager(context)
        for name in (*_SHARED, "Manager", "current_process"):
            setattr(module, name, getattr(context._default_context, name))

    def end_of_python(self, module: Any) -> None:
        """Python ends the processes that are daemons, and waits for the others."""
        from multiprocessing.process import active_children

        host, end = self._host, module._exit_function

        def end_processes() -> None:
            if host.is_stopped:
                # Ctrl-C ends all of them.
                for process in active_children():
                    process.terminate()
            host.awaited = [each.name for each in active_children() if not each.daemon]
            try:
                end()
            except KeyboardInterrupt:
                # One of them read without an end.
                pass
            host.awaited = []

        atexit.unregister(end)
        module._exit_function = end_processes
        atexit.register(end_processes)

    def managers(self, module: Any) -> None:
        """The managers of the script's own kinds."""
        module.BaseManager.start = lambda *_, **__: self._host.fail(
            "loop.manager",
            "a manager runs a server in another process, which has no frames and no virtual time: "
            "use multiprocessing.Manager(), or queues",
        )

    @staticmethod
    def pool(module: Any) -> None:
        """Tasks and results of pools pass through queues of this process."""
        kind: Any = module.Pool
        init = kind.__init__

        def begin(pool: Any, processes: int | None = None, *args: Any, **keys: Any) -> None:
            init(pool, processes or _WORKERS, *args, **keys)

        def set_queues(pool: Any) -> None:
            pool._inqueue, pool._outqueue = _Channel(), _Channel()
            pool._quick_put, pool._quick_get = pool._inqueue.put, pool._outqueue.get

        def process(pool: Any, context: Any, *args: Any, **keys: Any) -> Any:
            made = context.Process(*args, **keys)
            made._retake_ended = lambda: pool._change_notifier.put(None)
            return made

        def wait(sentinels: Any, notifier: Any, timeout: float | None = None) -> None:
            notifier.get()

        kind.__init__, kind._setup_queues, kind.Process = begin, set_queues, process
        kind._wait_for_updates = staticmethod(wait)
        kind._get_worker_sentinels = staticmethod(lambda workers: [])
        kind._help_stuff_finish = staticmethod(module.ThreadPool._help_stuff_finish)
        kind._get_sentinels = module.ThreadPool._get_sentinels = lambda pool: []

    def subprocess(self, module: Any) -> None:
        """Real processes end in real time, before virtual time advances."""
        self._written.follow_processes(module.Popen)
        select = module._PopenSelector.select.__wrapped__
        module._PopenSelector = type("Selector", (module._PopenSelector,), {"select": select})
        module._time = REAL_MONOTONIC
        module.time = SimpleNamespace(sleep=REAL_SLEEP, monotonic=REAL_MONOTONIC)

    @staticmethod
    def asyncio(module: Any) -> None:
        """Sets of tasks, as of `asyncio.wait`, have the order in which these were made."""
        number = numbered()
        tasks, futures = module.tasks, module.futures
        for place, name in ((tasks, "Task"), (futures, "Future")):
            kind = type(name, (getattr(place, name),), {"__hash__": number})
            setattr(place, name, kind)
            setattr(module, name, kind)
        tasks._GatheringFuture.__hash__ = number
        complete = tasks.as_completed

        def as_completed(each: Any, **keys: Any) -> Any:
            if not (futures.isfuture(each) or module.iscoroutine(each)):
                # It makes a set of them, and a coroutine has no number.
                each = [tasks.ensure_future(one) for one in dict.fromkeys(each)]
            return complete(each, **keys)

        module.as_completed = tasks.as_completed = as_completed

    @staticmethod
    def futures(module: Any) -> None:
        """Sets of futures, as of `as_completed`, have the order in which these were made."""
        module.Future.__hash__ = numbered()

    @staticmethod
    def executor(module: Any) -> None:
        """The executor of `concurrent.futures`, which loads this module when it is used."""
        module.ProcessPoolExecutor = _executor()

    @staticmethod
    def joblib(module: Any) -> None:
        """The backends of `joblib.Parallel`."""
        threads, processes = _backends(module.BACKENDS["threading"])
        module.BACKENDS["threading"] = threads
        for name in ("loky", "multiprocessing"):
            # Without locks of the system, joblib has neither.
            module.BACKENDS[name] = processes
        module.MultiprocessingBackend = processes
        module.DEFAULT_BACKEND = module.DEFAULT_PROCESS_BACKEND = "loky"

    @staticmethod
    def loky(module: Any) -> None:
        """The executors of loky, below joblib's backend of this name."""
        kind = _executor()
        module.ProcessPoolExecutor = kind
        module.get_reusable_executor = lambda max_workers=None, *_, **__: kind(max_workers)


def _without_self(make: Any) -> Callable[..., Any]:
    return lambda context, *args, **keys: make(*args, **keys)


# Processes.


class _Run:
    """The run of a process, on a thread."""

    def __init__(self, host: Host, process: Any) -> None:
        # It registers the wait for this process at the end of Python, here as in `Popen`: before
        # the functions that the script registers later.
        import multiprocessing.util

        self._host, self._turns = host, host.turns
        self._status: int | None = None
        self.pid = os.getpid()
        self.sentinel = -1
        # A process changes its own copy of the object.
        own = copy.copy(process)
        own._popen = self
        self._thread = threading.Thread(
            target=self._run, args=(own,), name=process.name, daemon=True
        )
        self._thread._retake_process = own  # type: ignore[attr-defined]
        self._thread.start()

    def _run(self, process: Any) -> None:
        # Its threads are daemons only if the script says so.
        threading.current_thread()._daemonic = False  # type: ignore[attr-defined]
        status = 1
        try:
            process.run()
            self._host.end_executors(process)
            self._host.join_threads(process)
            status = 0
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            else:
                status = end.code or 0
        finally:
            if self._status is None:
                self._status = status
            # The pool starts another worker.
            getattr(process, "_retake_ended", lambda: None)()

    def poll(self, flag: int = 0) -> int | None:
        self._turns.spin()
        return self._status

    def wait(self, timeout: float | None = None) -> int | None:
        self._thread.join(timeout)
        return self._status

    def terminate(self) -> None:
        self._end(_SIGTERM)

    def kill(self) -> None:
        self._end(_SIGKILL)

    def _end(self, number: int) -> None:
        if self._status is None:
            self._status = -number
            self._turns.end(self._thread)

    def close(self) -> None:
        pass


# Values that pass from one process to another.


class _Shared:
    """Not copied: the same object in all processes."""


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.shared: list[object] = []

    def persistent_id(self, value: object) -> int | None:
        synchronized = sys.modules.get("multiprocessing.sharedctypes")
        if isinstance(value, _Shared) or (
            synchronized is not None and isinstance(value, synchronized.SynchronizedBase)
        ):
            self.shared.append(value)
            return len(self.shared) - 1
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, packed: _Packed) -> None:
        super().__init__(io.BytesIO(packed.data))
        self._shared = packed.shared

    def persistent_load(self, number: int) -> object:
        return self._shared[number]


class _Packed:
    """A value as it was when it was sent.

    Raises:
        pickle.PicklingError: As with real processes.
    """

    def __init__(self, value: object) -> None:
        file = io.BytesIO()
        pickler = _Pickler(file)
        pickler.dump(value)
        self.data, self.shared = file.getbuffer(), pickler.shared

    def value(self) -> Any:
        return _Unpickler(self).load()


# Queues and pipes.


class _Channel(_Shared):
    """A queue of values, for `multiprocessing.Queue`, `SimpleQueue` and the ends of pipes."""

    def __init__(self, maxsize: int = 0) -> None:
        self._queue: Any = queue.Queue(maxsize)
        self._is_closed = False

    def put(self, value: object, block: bool = True, timeout: float | None = None) -> None:
        if self._is_closed:
            raise ValueError("Queue is closed")
        self._queue.put(_Packed(value), block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return self._queue.get(block, timeout).value()

    def put_nowait(self, value: object) -> None:
        self.put(value, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def close(self) -> None:
        self._is_closed = True

    def join_thread(self) -> None:
        pass

    cancel_join_thread = join_thread

    def __getattr__(self, name: str) -> Any:
        if name in ("qsize", "empty", "full", "task_done", "join"):
            return getattr(self._queue, name)
        raise AttributeError(name)


class _End(_Shared):
    """An end of a pipe."""

    def __init__(self, condition: threading.Condition) -> None:
        self._condition = condition
        self._waiting: deque[_Packed] = deque()
        self._other = self
        self.closed = False

    def send(self, value: object) -> None:
        packed = _Packed(value)
        with self._condition:
            if self.closed:
                raise OSError("handle is closed")
            if self._other.closed:
                raise BrokenPipeError(32, "Broken pipe")
            self._other._waiting.append(packed)
            self._condition.notify_all()

    def recv(self) -> Any:
        with self._condition:
            self._wait(None)
            if not self._waiting:
                raise EOFError
            return self._waiting.popleft().value()

    def poll(self, timeout: float | None = 0.0) -> bool:
        with self._condition:
            return self._wait(timeout)

    def _wait(self, timeout: float | None) -> bool:
        def is_ready() -> bool:
            return bool(self._waiting) or self._other.closed

        if self.closed:
            raise OSError("handle is closed")
        return self._condition.wait_for(is_ready, timeout)

    def send_bytes(self, data: Any, offset: int = 0, size: int | None = None) -> None:
        self.send(bytes(memoryview(data)[offset:][:size]))

    recv_bytes = recv

    def close(self) -> None:
        with self._condition:
            self.closed = True
            self._condition.notify_all()

    def __enter__(self) -> _End:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _pipe(duplex: bool = True) -> tuple[_End, _End]:
    condition = threading.Condition()
    one, other = _End(condition), _End(condition)
    one._other, other._other = other, one
    return one, other


# Locks, with the words of multiprocessing: `block`, and no limit is `None`.


class _Lock(_Shared):
    def __init__(self) -> None:
        self._lock: Any = threading.Lock()

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        is_taken: bool = self._lock.acquire(block, -1 if timeout is None else max(timeout, 0))
        return is_taken

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        # Of a condition: `_release_save` and its kind.
        if name.startswith("__") or name == "_lock":
            raise AttributeError(name)
        return getattr(self._lock, name)


class _RLock(_Lock):
    def __init__(self) -> None:
        self._lock = threading.RLock()


def _semaphore(base: Any) -> type:
    class Semaphore(_Shared, base):  # type: ignore[misc]
        def acquire(self, block: bool = True, timeout: float | None = None) -> Any:
            return super().acquire(block, timeout if block else None)

    return Semaphore


_SHARED: dict[str, Any] = {
    "Lock": _Lock, "RLock": _RLock, "Semaphore": _semaphore(threading.Semaphore),
    "BoundedSemaphore": _semaphore(threading.BoundedSemaphore),
    **{
        kind.__name__: type(kind.__name__, (_Shared, kind), {})
        for kind in (threading.Condition, threading.Event, threading.Barrier)
    },
    "Queue": _Channel, "JoinableQueue": _Channel, "SimpleQueue": _Channel, "Pipe": _pipe,
}  # fmt: skip


class _Manager:
    """What `multiprocessing.Manager()` returns: its objects are in this process."""

    def __init__(self, context: Any) -> None:
        from multiprocessing import managers

        for name in (*_SHARED, "Pool"):
            setattr(self, name, getattr(context, name))
        for name, base in [("dict", dict), ("list", list), ("Namespace", managers.Namespace)]:
            setattr(self, name, type(name, (_Shared, base), {}))  # type: ignore[arg-type]
        self.Value, self.Array = context.Value, context.Array

    def start(self, *_: object, **__: object) -> None:
        pass

    shutdown = join = start

    def __enter__(self) -> _Manager:
        return self

    def __exit__(self, *error: object) -> None:
        pass


# Executors.


def _executor() -> type:
    from concurrent.futures import ThreadPoolExecutor

    class ProcessPoolExecutor(ThreadPoolExecutor):
        def __init__(
            self, max_workers: int | None = None, mp_context: Any = None,
            initializer: Any = None, initargs: Any = (), *, max_tasks_per_child: Any = None,
        ) -> None:  # fmt: skip
            super().__init__(max_workers or _WORKERS, "Process", initializer, initargs)

        def submit(self, fn: Any, /, *args: Any, **keys: Any) -> Any:
            return super().submit(_answer, _Packed((fn, args, keys)))

        def map(self, fn: Any, *each: Any, timeout: Any = None, chunksize: int = 1) -> Any:
            return super().map(fn, *each, timeout=timeout)

    return ProcessPoolExecutor


def _answer(task: _Packed) -> Any:
    function, args, keys = task.value()
    return _Packed(function(*args, **keys)).value()


# joblib.


class _CopyingPool:
    """A pool of threads that gets copies of tasks, and returns copies of their answers."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def apply_async(self, function: Any, args: Any = (), **keys: Any) -> Any:
        # As joblib: it copies functions of the script by their code.
        from joblib.externals.loky.backend.reduction import dumps

        task = dumps((function, args))

        def answer() -> Any:
            called, given = pickle.loads(task)
            return pickle.loads(dumps(called(*given)))

        return self._pool.apply_async(answer, (), **keys)


def _backends(base: Any) -> tuple[type, type]:
    """Instead of joblib's threads and of its processes."""

    class Threads(base):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int | None) -> Any:
            if n_jobs is not None and n_jobs < 0:
                n_jobs = max(1, _WORKERS + 1 + n_jobs)
            return super().effective_n_jobs(n_jobs)

    class Processes(Threads):
        uses_threads = supports_sharedmem = False
        supports_inner_max_num_threads = True

        def _get_pool(self) -> Any:
            return _CopyingPool(super()._get_pool())

    return Threads, Processes

"""Unchanged scripts with a camera loop, without Retake."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from support import Child, python

import retake

MS = 1_000_000
LAST_NS = 2**63 - 1
HAS_OPENCV = importlib.util.find_spec("cv2") is not None
NO_OPENCV = "OpenCV is not installed"
HAS_JOBLIB = importlib.util.find_spec("joblib") is not None

# As much of OpenCV as a capture needs, for a Python without it.
SMALL_OPENCV = """
import io
COLOR_RGB2BGR = 4
CAP_PROP_POS_MSEC, CAP_PROP_POS_FRAMES, CAP_PROP_POS_AVI_RATIO, CAP_PROP_FRAME_WIDTH = range(4)
CAP_PROP_FRAME_HEIGHT, CAP_PROP_FPS, CAP_PROP_FRAME_COUNT = 4, 5, 7
VideoCapture = None
def cvtColor(array, code): return array[..., ::-1].copy()
def imwrite(path, image):
    with io.FileIO(path, "w") as file: file.write(image.tobytes())
    return True
"""
# As much of PyAV as a container needs.
SMALL_PYAV = """
import sys, types
av = sys.modules["av"] = types.ModuleType("av")
av.open = None
class VideoFrame:
    @staticmethod
    def from_ndarray(array, format): return VideoFrame()
av.VideoFrame = VideoFrame
import av
"""
# As much of joblib as a backend needs, for a Python without it.
SMALL_JOBLIB = """
import pickle, sys, types
from multiprocessing.pool import ThreadPool
class ThreadingBackend:
    _pool = None
    def effective_n_jobs(self, n_jobs): return n_jobs
    def _get_pool(self):
        self._pool = self._pool or ThreadPool(self.count)
        return self._pool
    def submit(self, function): return self._get_pool().apply_async(function)
class Parallel:
    def __init__(self, n_jobs, backend):
        self.backend = parallel.BACKENDS[backend]()
        self.backend.count = self.backend.effective_n_jobs(n_jobs)
    def __call__(self, tasks):
        return [each.get() for each in [self.backend.submit(task) for task in tasks]]
class Task:
    def __init__(self, *parts): self.parts = parts
    def __call__(self): return self.parts[0](*self.parts[1:])
names = "joblib", "joblib.parallel", "joblib.externals", "joblib.externals.loky"
names += ("joblib.externals.loky.backend", "joblib.externals.loky.backend.reduction")
for name in names: sys.modules[name] = types.ModuleType(name)
parallel = sys.modules["joblib.parallel"]
parallel.BACKENDS = {"threading": ThreadingBackend}
sys.modules[names[-1]].dumps = pickle.dumps
sys.modules["joblib"].Parallel = Parallel
sys.modules["joblib"].delayed = lambda function: lambda *args: Task(function, *args)
"""
LOOP = """
import cv2
capture = cv2.VideoCapture("yard.mp4")
while capture.isOpened():
    ok, frame = capture.read()
    if not ok:
        break
    print("blue", frame[0, 0, 0], "of", frame.shape[0])
print("the end")
"""


class ImportTests(unittest.TestCase):
    def test_a_loop_loads_no_module_that_few_scripts_need(self):
        script = "import sys, retake.loop._launch; print(*sys.modules)"
        found = subprocess.run(
            # Without the modules that other packages load at each start.
            python("-S", "-c", script), capture_output=True, text=True, check=True,
            env={"PYTHONPATH": str(support.PACKAGE)},
        )  # fmt: skip
        loaded = set(found.stdout.split())
        self.assertIn("retake.loop._host", loaded)
        rare = {"sqlite3", "socket", "tempfile", "fractions", "csv", "glob", "traceback", "signal"}
        rare |= {"retake._results", "retake._session", "retake._program", "retake._observations"}
        self.assertEqual(loaded & rare, set())

    def test_each_name_of_the_package_is_there(self):
        for name in retake.__all__:
            with self.subTest(name):
                self.assertIsNotNone(getattr(retake, name))
                self.assertIn(name, dir(retake))
        with self.assertRaisesRegex(AttributeError, "'retake' has no attribute 'image'"):
            retake.image


@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
@unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
class LoopCase(unittest.TestCase):
    opencv: str | None = SMALL_OPENCV

    def start(self, script, *options, arguments=(), greets=True, **variables):
        """A script that waits for its first frame."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = folder
        if self.opencv is not None:
            (folder / "cv2.py").write_text(self.opencv)
        path = folder / "script.py"
        path.write_text(script)
        command = python("-m", "retake.loop", *options, str(path), *arguments)
        child = self.enterContext(Child(command, HERE=str(folder), **variables))
        child.host.hello(output="program")
        if greets:
            self.ready = child.host.receive()["ready"]
            child.reset(1)
        return child

    def show(self, child, sequence, now_ms=None, level=0, count=None, **keys):
        now_ms = sequence * 40 if now_ms is None else now_ms
        keys |= {} if count is None else {"frameCount": count, "frameRate": 25}
        (format,) = self.ready["formats"]
        pixel = [1, 2, level] if format == "RGB24" else [level, 2, 1]
        child.host.show(
            bytes(pixel * 4), sequence, format=format, planes=[[0, 6]],
            nowNs=now_ms * MS, ptsNs=now_ms * MS, **keys,
        )  # fmt: skip

    def finish(self, child):
        """The end of the session: the results of its call."""
        child.host.send({"timer": 0, "nowNs": LAST_NS})
        return self.results(child)

    def results(self, child):
        """The numbers by sink and name, until `done`."""
        found = {}
        while "done" not in (message := child.host.receive()):
            self.assertNotIn("error", message)
            if out := message.get("out"):
                for each in out["value"]["scalars"]:
                    found[f"{out['sink']}: {each['name']}"] = each["value"]
            else:
                self.said.append(message)
        return found

    def error(self, child):
        while "error" not in (message := child.host.receive()):
            pass
        return message["error"]["code"], message["error"]["message"]

    def setUp(self):
        self.said = []


class LoopTests(LoopCase):
    def test_each_read_is_the_next_frame_and_prints_belong_to_it(self):
        child = self.start(LOOP)
        self.assertEqual(self.ready["sinks"], {"stdout": "scalars"})
        self.assertEqual((self.ready["name"], self.ready["formats"]), ("script.py", ["BGR24"]))
        for sequence in (0, 1, 4):
            self.show(child, sequence, level=10 + sequence)
            self.assertEqual(
                self.results(child), {"stdout: blue {}": 10 + sequence, "stdout: of {}": 2}
            )
        self.assertEqual(self.said, [{"timer": {"id": 0, "atNs": LAST_NS}}])
        self.assertEqual(self.finish(child), {"stdout: the end": 1})
        child.reset(2)
        child.host.bye()
        self.assertEqual((child.status, child.output[-8:]), (0, "the end\n"))

    def test_the_results_of_a_frame_come_together_with_its_end(self):
        child = self.start(LOOP)
        self.show(child, 0)
        self.results(child)
        self.show(child, 1, level=7)
        sent = child.host.socket.recv(1 << 16)
        self.assertIn(b'{"name":"blue {}","value":7.0}', sent)
        self.assertTrue(sent.endswith(b'{"done":1}'), sent)

    def test_a_line_is_written_at_once_and_in_one_piece(self):
        child = self.start(
            "import cv2, os, sys\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]:\n"
            "    size = os.fstat(1).st_size\n"
            "    print('a', end=' ')\n"
            "    print('grew', os.fstat(1).st_size - size, end=';')\n"
            "    print()\n"
            "    print('line', os.fstat(1).st_size - size)\n",
            PYTHONUNBUFFERED="1",
        )
        self.show(child, 0)
        self.assertEqual(self.results(child), {"stdout: a grew {};": 0, "stdout: line {}": 10})

    @unittest.skipUnless(sys.platform == "linux", "mallopt is of glibc")
    def test_memory_of_a_freed_array_is_used_again(self):
        child = self.start(
            "import cv2, numpy, resource\n"
            "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]:\n"
            "    first = faults()\n"
            "    for _ in range(20):\n"
            "        arrays = [numpy.ones(1 << 20, numpy.uint8) for _ in range(8)]\n"
            "        del arrays\n"
            "    print('new pages', faults() - first > 20_000)\n"
        )
        for sequence in range(2):
            self.show(child, sequence)
            found = self.results(child)
        # 20 times 8 MiB are 40,960 pages.
        self.assertEqual(found, {"stdout: new pages False": 1})

    def test_a_timer_comes_together_with_the_end_of_its_frame(self):
        child = self.start(
            "import cv2, threading, time\n"
            "capture = cv2.VideoCapture(0)\n"
            "def read():\n"
            "    while capture.read()[0]: pass\n"
            "threading.Thread(target=read).start()\n"
            "while True: time.sleep(0.25)\n"
        )
        self.show(child, 0)
        self.results(child)
        child.host.send({"timer": 1, "nowNs": 250 * MS})
        sent = child.host.socket.recv(1 << 16)
        self.assertIn(b'{"timer":{"id":1,"atNs":500000000}}', sent)
        self.assertTrue(sent.endswith(b'{"done":{"timer":1,"nowNs":250000000}}'), sent)

    def test_another_run_begins_the_script_again(self):
        child = self.start(LOOP + "import os; print('process', os.getpid()); os.chdir('/')")
        found = []
        for reset in (2, 4):
            self.show(child, 0)
            self.results(child)
            found.append(self.finish(child))
            child.reset(reset)
            child.reset(reset + 1)
        self.assertEqual(found, [{"stdout: the end": 1, "stdout: process {}": child.id}] * 2)

    def test_clocks_show_the_time_of_the_frame_and_sleeps_advance_it(self):
        child = self.start(
            "import cv2, time, datetime\n"
            "class Watch: clock = time.monotonic; local = time.localtime\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]:\n"
            "    first = time.time()\n"
            "    print('unix', round(first, 3) % 1000, Watch().local().tm_year)\n"
            "    print('some', 1 / (time.time() - first) > 1000)\n"
            "    time.sleep(0.25)\n"
            "    print('slept', round(Watch.clock(), 3), datetime.datetime.now().isoformat()[:23])\n"
        )
        shown = []
        for sequence, now in enumerate((1_000, 1_040, 9_000)):
            self.show(child, sequence, now)
            shown.append(self.results(child))
        self.assertEqual([e["stdout: unix {}"] for e in shown], [801.0, 801.25, 809.0])
        self.assertEqual([e["stdout: slept {}"] for e in shown], [1.25, 1.5, 9.25])
        self.assertEqual(shown[0]["stdout: some True"], 1)

    def test_dates_keep_their_types_which_libraries_in_c_compare(self):
        child = self.start(
            "import cv2, ctypes, datetime, pickle, sqlite3\n"
            "from datetime import date, timezone\n"
            "from datetime import datetime as DateTime\n"
            "class Stamp(DateTime): pass\n"
            "class Other(DateTime):\n"
            "    @classmethod\n    def now(cls, tz=None): return 'other'\n"
            "find = ctypes.pythonapi.PyCapsule_Import\n"
            "find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int)\n"
            "types = ctypes.cast(find(b'datetime.datetime_CAPI', 0), ctypes.POINTER(ctypes.c_void_p))\n"
            "print('in C', types[0] == id(date), types[1] == id(DateTime))\n"
            "rows = sqlite3.connect(':memory:')\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]:\n"
            "    now = DateTime.now()\n"
            "    print('types', type(now) is DateTime, type(date.today()) is date)\n"
            "    print('kinds', isinstance(now, DateTime), issubclass(Stamp, DateTime))\n"
            "    print('copied', pickle.loads(pickle.dumps(now)) == now)\n"
            "    print(rows.execute('select ?', (date.today(),)).fetchone()[0], 'in a row')\n"
            "    print('own', type(Stamp.now()) is Stamp, Other.now())\n"
            "    all = (now, DateTime.utcnow(), DateTime.today(), Stamp.now(), Stamp.today())\n"
            "    print('same', [str(each)[:23] for each in all] == [str(now)[:23]] * 5)\n"
            "    print('zone', DateTime.now(tz=timezone.utc).isoformat()[11:19])\n"
        )
        self.show(child, 0, 86_401_250, count=1)
        found = self.results(child)
        self.assertEqual(found["stdout: -{} in a row"], 2)
        self.assertEqual(found["stdout: :{}#2"], 1)
        self.assertEqual(
            set(found),
            {
                "stdout: in C True True", "stdout: types True True", "stdout: kinds True True",
                "stdout: copied True", "stdout: {}", "stdout: -{}", "stdout: -{} in a row",
                "stdout: own True other", "stdout: same True", "stdout: zone {}",
                "stdout: :{}", "stdout: :{}#2",
            },
        )  # fmt: skip

    def test_clocks_of_the_system_and_of_opencv_show_virtual_time(self):
        child = self.start(
            "import cv2, time\n"
            "capture, meter = cv2.VideoCapture(0), cv2.TickMeter()\n"
            "class Watch: clock = time.clock_gettime\n"
            "while capture.read()[0]:\n"
            "    print('at', round(Watch().clock(time.CLOCK_MONOTONIC), 3))\n"
            "    print('unix', round(time.clock_gettime_ns(time.CLOCK_REALTIME) / 1e9, 3) % 1000)\n"
            "    meter.start(); time.sleep(0.25); meter.stop(); meter.stop()\n"
            "    print('sum', round(meter.getTimeSec(), 2), 'count', meter.getCounter())\n"
            "    print('last', round(meter.getLastTimeMilli()), meter.getLastTimeTicks() > 25e7)\n"
            "    print('mean', round(meter.getAvgTimeMicro(), -3))\n"
            "    print('rate', round(meter.getFPS(), 1))\n"
            "meter.reset()\nprint('empty', meter.getAvgTimeSec(), meter.getFPS())\n"
        )
        self.show(child, 0, 1_000, count=1)
        self.assertEqual(
            self.results(child),
            {
                "stdout: at {}": 1, "stdout: unix {}": 801, "stdout: sum {}": 0.25,
                "stdout: count {}": 1, "stdout: last {} True": 250, "stdout: mean {}": 250_000,
                "stdout: rate {}": 4,
            },
        )  # fmt: skip
        self.assertEqual(self.finish(child), {"stdout: empty {}": 0, "stdout: {}": 0})

    def test_a_camera_may_warm_up_before_the_first_frame(self):
        child = self.start(
            "import cv2, time\ncapture = cv2.VideoCapture(0)\ntime.sleep(2)\n"
            "while capture.read()[0]: print('at', round(time.monotonic(), 3))"
        )
        for sequence, now in enumerate((0, 40)):
            self.show(child, sequence, now)
            self.assertEqual(self.results(child), {"stdout: at {}": 2 + now / 1000})

    def test_facts_of_the_track_are_known_before_the_first_read(self):
        child = self.start(
            "import cv2\ncapture = cv2.VideoCapture(0)\n"
            "print([capture.get(each) for each in (3, 4, 5, 7, 1)])\n"
            "capture.read()\nprint('then', capture.get(1), capture.get(0), capture.set(3, 640))\n"
            "capture.set(1, 3)\nprint('now', capture.get(1))\nwhile capture.read()[0]: pass"
        )
        self.show(child, 0, 7, count=5)
        found = list(self.results(child).values())
        self.assertEqual(found, [2, 2, 25, 5, 0, 1, 7])
        for sequence in range(1, 5):
            self.show(child, sequence, count=5)
            self.assertEqual(self.results(child), {"stdout: now {}": 3} if sequence == 2 else {})

    def test_a_capture_that_looked_at_the_first_frame_begins_again(self):
        for again in (
            "capture = cv2.VideoCapture('./a.mp4')",
            "capture.release(); capture.open('a.mp4')",
            "capture.set(1, 0)",
        ):
            with self.subTest(again):
                child = self.start(
                    "import cv2\nother = cv2.VideoCapture('a.mp4')\nrate = other.get(5)\n"
                    "capture = cv2.VideoCapture('a.mp4')\n"
                    f"print('first', capture.read()[1][0, 0, 0])\n{again}\n"
                    "while (found := capture.read())[0]:\n"
                    "    print('level', found[1][0, 0, 0], capture.get(1))"
                )
                for sequence in range(2):
                    self.show(child, sequence, level=sequence + 7, count=2)
                    first = [7] if sequence == 0 else []
                    level = [sequence + 7, sequence + 1]
                    self.assertEqual(list(self.results(child).values()), first + level)

    def test_times_and_ratios_are_seeked_as_by_opencv(self):
        for call, place in [
            ("set(0, 101)", 3), ("set(0, 99)", 2), ("set(1, 2.7)", 2), ("set(0, -5)", 0),
            ("set(2, 5e-6)", 1), ("set(2, 0.1)", 5), ("set(0, 1e12)", 5), ("set(1, -1)", 0),
        ]:  # fmt: skip
            with self.subTest(call):
                child = self.start(
                    "import cv2\ncapture = cv2.VideoCapture('a.mp4')\n"
                    f"print('set', capture.{call})\nprint(int(capture.get(1)))\n"
                    "while (found := capture.read())[0]: print('level', found[1][0, 0, 0])"
                )
                found = []
                for sequence in range(5):
                    self.show(child, sequence, level=sequence + 10, count=5)
                    found += self.results(child).items()
                found += self.finish(child).items()
                levels = [("stdout: level {}", level) for level in range(place + 10, 15)]
                self.assertEqual(found, [("stdout: set True", 1), ("stdout: {}", place), *levels])

    def test_frames_are_read_into_an_array_that_fits(self):
        child = self.start(
            "import cv2, numpy\ncapture = cv2.VideoCapture(0)\n"
            "same = numpy.zeros((2, 2, 3), numpy.uint8)\nprint('same', capture.read(same)[1] is same)\n"
            "for other in (numpy.zeros((3, 2, 3), 'uint8'), numpy.zeros((2, 2, 3)), [1]):\n"
            "    found = capture.read(other)[1]\n"
            "    print(found.shape == same.shape, found.dtype, found is other, numpy.sum(other) < 2)"
        )
        for sequence in range(4):
            self.show(child, sequence, level=9, count=4)
            text = "True uint8 False True" if sequence else "same True"
            self.assertEqual(self.results(child), {f"stdout: {text}": 1})

    def test_a_stream_of_pyav_has_a_codec(self):
        child = self.start(
            SMALL_PYAV + "with av.open('a.mp4') as container:\n"
            "    stream = container.streams.video[0]\n"
            "    print(stream.codec_context.name, stream.codec.name, stream.name)\n"
            "    for frame in container.decode(video=0): print(frame.pts)"
        )
        self.show(child, 0, 7, count=1)
        found = self.results(child)
        self.assertEqual(found, {"stdout: rawvideo rawvideo rawvideo": 1, "stdout: {}": 7 * MS})

    def test_containers_and_streams_of_pyav_have_the_facts_of_the_track(self):
        child = self.start(
            SMALL_PYAV + "container = av.open('a.mp4')\n"
            "stream = container.streams.best('video')\n"
            "codec = stream.codec_context\n"
            "print('size', codec.width, stream.height, stream.frames)\n"
            "print('seconds', container.duration / 1e6, stream.duration * float(stream.time_base))\n"
            "print('start', container.start_time, stream.start_time)\n"
            "print('rates', *{stream.average_rate, stream.base_rate, stream.guessed_rate})\n"
            "print(container.name, container.format.name, stream.pix_fmt, container.metadata)\n"
            "print(container.streams.get(video=0)[0] is stream, container.streams.best('audio'))\n"
            "for packet in container.demux(stream):\n"
            "    for frame in packet.decode(): print('pts', frame.pts, packet.is_keyframe)\n"
            "print('last', packet.pts)"
        )
        self.show(child, 0, 7, count=1, keyFrame=True)
        self.assertEqual(
            self.results(child),
            {
                "stdout: size {}": 2, "stdout: {}": 2, "stdout: {}#2": 1,
                "stdout: seconds {}": 0.04, "stdout: {}#3": 0.04,
                "stdout: start {}": 7_000, "stdout: {}#4": 7 * MS, "stdout: rates {}": 25,
                "stdout: a.mp4 rawvideo rgb24 {}": 1, "stdout: True None": 2,
                "stdout: pts {} True": 7 * MS,
            },
        )  # fmt: skip
        self.assertEqual(self.finish(child), {"stdout: last None": 1})

    def test_frames_of_pyav_that_are_not_key_frames_are_skipped(self):
        child = self.start(
            SMALL_PYAV + "container = av.open('a.mp4')\n"
            "container.streams.video[0].codec_context.skip_frame = 'NONKEY'\n"
            "for frame in container.decode(video=0): print('at', frame.pts / 1e6)"
        )
        for sequence, key in enumerate((True, False, True)):
            self.show(child, sequence, keyFrame=key, count=3)
            expected = {"stdout: at {}": sequence * 40} if key else {}
            self.assertEqual(self.results(child), expected)

    def test_frames_of_pyav_have_the_key_frames_of_the_session(self):
        for set_key, found in (("key_frame = False", [1, 0, 1]), ("__slots__ = P", [0, 0, 0])):
            child = self.start(
                "import sys, types\nav = sys.modules['av'] = types.ModuleType('av')\n"
                "av.open, P = None, ('pts', 'time_base')\n"
                f"class VideoFrame:\n    {set_key}\n"
                "    @staticmethod\n    def from_ndarray(array, format): return VideoFrame()\n"
                "av.VideoFrame = VideoFrame\nimport av\n"
                "for frame in av.open('a.mp4').decode(video=0):\n"
                "    print('key', int(getattr(frame, 'key_frame', False)))\n"
            )
            for sequence, key in enumerate((True, False, True)):
                self.show(child, sequence, keyFrame=key, count=3)
                self.assertEqual(self.results(child), {"stdout: key {}": found[sequence]})
            child.reset(2)
            child.host.bye()
            said = "retake: this PyAV does not let key_frame be set, so it is False"
            self.assertEqual((child.status, child.output.count(said)), (0, 1 - found[0]))

    def test_a_script_without_an_end_ends_with_the_session(self):
        read = "    ok, frame = capture.read()\n    if ok: print('level', frame[0, 0, 0])\n"
        loop = f"import cv2, threading\ncapture = cv2.VideoCapture(NAME)\nwhile True:\n{read}"
        again = f"{loop}    else:\n        capture.release(); capture = cv2.VideoCapture(NAME)\n"
        lines = loop.splitlines()
        thread = "\n".join([
            lines[0], lines[1], "def work():", *("  " + line for line in lines[2:]),
            "threading.Thread(target=work).start()", "try: threading.Event().wait()",
            "except KeyboardInterrupt: print('stopped')",
        ])  # fmt: skip
        for name, script, options, end in [
            ("a camera that ended", loop, (), []),
            ("a camera that is opened again", again, (), []),
            ("a file that is played in a loop", again.replace("NAME", "'a.mp4'"), ("--may-end",), []),
            ("a thread that reads", thread, (), ["stdout: stopped"]),
        ]:
            with self.subTest(name):
                child = self.start(script.replace("NAME", "'rtsp://yard/1'"), *options)
                for sequence in range(2):
                    self.show(child, sequence, level=sequence, count=2)
                    if sequence == 0:
                        self.assertEqual(self.results(child), {"stdout: level {}": 0})
                self.assertEqual(self.results(child), {"stdout: level {}": 1})
                self.assertEqual(list(self.finish(child)), end)
                child.reset(2)
                child.host.bye()
                self.assertEqual(child.status, 0)

    def test_a_camera_that_is_opened_again_continues(self):
        child = self.start(
            "import cv2\nfor _ in range(4):\n    capture = cv2.VideoCapture(0)\n"
            "    print('level', capture.read()[1][0, 0, 0])\n    capture.release()"
        )
        for sequence in range(4):
            self.show(child, sequence, level=sequence, count=4)
            self.assertEqual(self.results(child), {"stdout: level {}": sequence})

    def test_a_rate_has_no_error_of_rounded_times(self):
        from retake.loop._capture import _nominal

        self.assertEqual(_nominal(1e9 / 66_666_667, 2), 15)
        self.assertEqual(_nominal(29.97002997, 500), 30_000 / 1_001)
        self.assertEqual(_nominal(29.833, 1189), 29.833)
        self.assertEqual(_nominal(0, 1), 0)

    def test_a_thread_that_reads_takes_turns_with_the_one_that_works(self):
        child = self.start(
            "import cv2, queue, threading\n"
            "frames = queue.Queue(maxsize=4)\n"
            "def read():\n"
            "    capture = cv2.VideoCapture(0)\n"
            "    while (found := capture.read())[0]: frames.put(found[1])\n"
            "    frames.put(None)\n"
            "threading.Thread(target=read).start()\n"
            "while (frame := frames.get(timeout=5)) is not None: print('level', frame[0, 0, 0])\n"
        )
        for sequence in range(20):
            self.show(child, sequence, level=sequence, count=20)
            self.assertEqual(self.results(child), {"stdout: level {}": sequence})
        self.assertIn({"timer": {"id": 1, "atNs": 5_000 * MS + 1_000}}, self.said)
        # The file has ended, and so the wait of 5 s.
        self.assertEqual(self.said[-1], {"cancel": 1})
        self.assertEqual(self.finish(child), {})

    def test_a_thread_that_keeps_the_newest_frame_is_sampled_by_time(self):
        child = self.start(
            "import cv2, threading, time\n"
            "capture = cv2.VideoCapture(0)\n"
            "newest = capture.read()[1]\n"
            "def read():\n"
            "    global newest\n"
            "    while (found := capture.read())[0]: newest = found[1]\n"
            "    newest = None\n"
            "threading.Thread(target=read, daemon=True).start()\n"
            "while newest is not None:\n"
            "    print('level', newest[0, 0, 0])\n"
            "    time.sleep(0.1)\n"
        )
        found = []
        for sequence, now in enumerate((0, 40, 80, 120)):
            if now == 120:
                child.host.send({"timer": 1, "nowNs": 100 * MS})
                found.append(self.results(child))
            self.show(child, sequence, now, level=sequence)
            found.append(self.results(child))
        level = [each.get("stdout: level {}") for each in found]
        self.assertEqual(level, [0, None, None, 2, None])


    def test_asyncio_sleeps_in_virtual_time(self):
        child = self.start(
            "import asyncio, cv2\n"
            "capture = cv2.VideoCapture(0)\n"
            "async def tick():\n"
            "    for number in range(3):\n"
            "        await asyncio.sleep(10)\n"
            "        print('tick', number, round(asyncio.get_running_loop().time()))\n"
            "async def main():\n"
            "    ticks = asyncio.create_task(tick())\n"
            "    while (found := await asyncio.to_thread(capture.read))[0]:\n"
            "        print('level', found[1][0, 0, 0])\n"
            "    await ticks\n"
            "asyncio.run(main())\n"
        )
        found = []
        for sequence, now in enumerate((0, 7_000, 14_000)):
            if now == 14_000:
                child.host.send({"timer": 1, "nowNs": 10_001 * MS})
                found.append(list(self.results(child).values()))
            self.show(child, sequence, now, level=sequence)
            found.append(list(self.results(child).values()))
        found.append(list(self.finish(child).values()))
        self.assertEqual(found, [[0], [1], [0, 10], [2], [1, 20, 2, 30]])

    def test_sets_of_tasks_and_threads_have_the_order_in_which_these_were_made(self):
        child = self.start(
            "import asyncio, cv2, threading\n"
            "capture = cv2.VideoCapture(0)\n"
            "class Camera(threading.Thread):\n"
            "    def __getattr__(self, name): return getattr(self.source, name)\n"
            "def are_numbered(values):\n"
            "    numbers = [hash(each) for each in values]\n"
            "    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))\n"
            "async def part(number):\n"
            "    await asyncio.sleep(0)\n"
            "    return number\n"
            "async def main():\n"
            "    while capture.read()[0]:\n"
            "        parts = [part(number) for number in range(64)]\n"
            "        ends = [await each for each in asyncio.as_completed(parts)]\n"
            "        print('completed as made', ends == list(range(64)))\n"
            "        tasks = [asyncio.create_task(part(number)) for number in range(64)]\n"
            "        done, rest = await asyncio.wait(tasks)\n"
            "        print('tasks', are_numbered(tasks), len(done) - len(rest))\n"
            "        futures = [asyncio.get_running_loop().create_future() for _ in range(9)]\n"
            "        print('futures', are_numbered(futures), isinstance(tasks[0], asyncio.Task))\n"
            "        both = [asyncio.gather(part(1)), asyncio.gather(part(2))]\n"
            "        values = await both[0] + await both[1]\n"
            "        print('gathered', are_numbered(both), values == [1, 2])\n"
            "        print('threads', are_numbered(Camera() for _ in range(9)))\n"
            "        try: next(iter(asyncio.as_completed(tasks[0])))\n"
            "        except TypeError: print('no list of tasks')\n"
            "asyncio.run(main())\n"
        )
        for sequence in range(2):
            self.show(child, sequence, count=2)
            self.assertEqual(
                self.results(child),
                {
                    "stdout: completed as made True": 1, "stdout: tasks True {}": 64,
                    "stdout: futures True True": 2, "stdout: gathered True True": 3,
                    "stdout: threads True": 4, "stdout: no list of tasks": 5,
                },
            )  # fmt: skip

    def test_a_real_process_ends_in_real_time_while_no_other_thread_runs(self):
        child = self.start(
            "import cv2, queue, subprocess, sys, threading\n"
            "capture, frames = cv2.VideoCapture(0), queue.Queue()\n"
            "count = 0\n"
            "def read():\n"
            "    global count\n"
            "    while capture.read()[0]:\n"
            "        count += 1\n"
            "        frames.put(count)\n"
            "    frames.put(0)\n"
            "threading.Thread(target=read).start()\n"
            "while number := frames.get():\n"
            "    for keys in ({'stderr': subprocess.PIPE, 'stdout': subprocess.PIPE}, {}):\n"
            "        command = [sys.executable, '-c', 'print(5, end=str())']\n"
            "        ended = subprocess.run(command, timeout=600, **keys)\n"
            "        print('ended', ended.returncode, ended.stdout, 'ahead', count - number)\n"
        )
        for sequence in range(3):
            self.show(child, sequence, count=3)
            found = self.results(child)
            self.assertEqual(
                [found.pop(f"stdout: ended {{}}{each}") for each in ("", "#2")], [0, 0]
            )
            self.assertEqual(
                found,
                {
                    "stdout: b'{}": 5, "stdout: ' ahead {}": 0, "stdout: {}": 5,
                    "stdout: None ahead {}": 0,
                },
            )  # fmt: skip
        self.assertEqual(self.finish(child), {})

    def test_threads_and_locks_of_the_module_below_take_turns(self):
        child = self.start(
            "import _thread, cv2, time\n"
            "lock, newest = _thread.allocate_lock(), [0]\n"
            "def read(name, end=-1):\n"
            "    capture = cv2.VideoCapture(name)\n"
            "    while (found := capture.read())[0]:\n"
            "        with lock:\n"
            "            newest[0] = int(found[1][0, 0, 0])\n"
            "            time.sleep(0.01)\n"
            "    newest[0] = end\n"
            "_thread.start_new_thread(read, (0,), {'end': -2})\n"
            "while newest[0] != -2:\n"
            "    with lock:\n"
            "        print('newest', newest[0])\n"
            "        time.sleep(0.1)\n"
        )
        found = []
        for sequence, now in enumerate((0, 1_000)):
            self.show(child, sequence, now, level=sequence + 3)
            found.append(self.results(child))
            # The ends of the sleeps until the next frame.
            while timer := next((e["timer"] for e in self.said if e.get("timer", {}).get("id")), 0):
                self.said.clear()
                if timer["atNs"] >= (sequence + 1) * 1_000 * MS:
                    break
                child.host.send({"timer": 1, "nowNs": timer["atNs"]})
                found.append(self.results(child))
        names = [each for frame in found for each in frame.values()]
        self.assertEqual((names[:2], names[-1]), ([0, 3], 4))

    def test_rows_lines_and_images_are_numbers(self):
        script = (
            "import cv2, csv, json, os\nhere = os.environ['HERE'] + '/'\n"
            "rows = csv.writer(open(here + 'rows.csv', 'w'))\n"
            "rows.writerow(['id', 'speed', 'kind'])\n"
            "log = open(here + 'log.jsonl', 'w')\ncapture = cv2.VideoCapture(0)\n"
            "while (found := capture.read())[0]:\n"
            "    level = int(found[1][0, 0, 0])\n"
            "    for row in range(level): rows.writerow([row, level / 4, 'car'])\n"
            "    print(json.dumps({'a': {'b': [level]}, 'c': 'x'}), file=log)\n"
            "    cv2.imwrite(here + f'mask{level}.png', found[1])\n"
            "    print('no result')\n"
        )
        place = f"{tempfile.gettempdir()}/*/"
        child = self.start(
            script, "--results", f"{place}rows.csv", "--results", f"{place}log.jsonl",
            "--results", f"{place}mask*.png",
        )  # fmt: skip
        self.show(child, 0, level=2)
        found = self.results(child)
        (picture,) = [name for name in found if name.startswith("mask: ")]
        self.assertRegex(picture, "^mask: mask2.png sha256:[0-9a-f]{16}$")
        self.assertEqual(
            {name: value for name, value in found.items() if name != picture},
            {
                "rows: id": 0, "rows: speed": 0.5, "rows: kind=car": 1, "rows: id#2": 1,
                "rows: speed#2": 0.5, "rows: kind#2=car": 1, "log: a.b.0": 2, "log: c=x": 1,
            },
        )  # fmt: skip

    def test_a_file_that_is_appended_to_has_the_columns_of_its_first_line(self):
        once = "log = open(path, 'a')\nif log.tell() == 0: log.write('kind,speed\\n')\n"
        each = (
            "    with open(path, 'a') as log:\n"
            "        if log.tell() == 0: log.write('kind,speed\\n')\n"
            "        log.write('car,2.5\\n')\n"
        )
        row = "    log.write('car,2.5\\n')\n"
        for name, start, step, header_count in [
            ("kept open", once, row, 1),
            ("opened for each row", "", each, 1),
            ("a header in each run", once.replace("== 0", ">= 0"), row, 2),
        ]:
            with self.subTest(name):
                child = self.start(
                    "import cv2, os\npath = os.environ['HERE'] + '/log.csv'\n"
                    f"capture = cv2.VideoCapture(0)\n{start}while capture.read()[0]:\n{step}",
                    "--results", f"{tempfile.gettempdir()}/*/log.csv",
                )  # fmt: skip
                for reset in (2, 4):
                    for sequence in range(2):
                        self.show(child, sequence)
                        self.assertEqual(
                            self.results(child), {"log: kind=car": 1, "log: speed": 2.5}
                        )
                    self.assertEqual(self.finish(child), {})
                    child.reset(reset)
                    child.reset(reset + 1)
                child.host.bye()
                self.assertEqual(child.status, 0)
                lines = (self.folder / "log.csv").read_text().splitlines()
                self.assertEqual(lines.count("kind,speed"), header_count)
                self.assertEqual(lines.count("car,2.5"), 4)

    def rows(self, body, count=3, name="log.csv", start=""):
        """The results of a script that writes a file, by frame, and after the last frame."""
        child = self.start(
            f"import cv2, os\npath = os.environ['HERE'] + '/{name}'\n"
            f"capture = cv2.VideoCapture(0)\nn = -1\n{start}\nwhile capture.read()[0]:\n"
            f"    n += 1\n    {body}\n",
            "--results", f"{tempfile.gettempdir()}/*/{name}",
        )  # fmt: skip
        found = []
        for sequence in range(count):
            self.show(child, sequence)
            found.append(self.results(child))
        found.append(self.finish(child))
        sink = os.path.splitext(name)[0]
        return [
            {name.removeprefix(f"{sink}: "): value for name, value in each.items()}
            for each in found
        ]

    def test_rows_of_text_without_a_header_are_results(self):
        left = {"column1=left": 1}
        for name, start, body, expected in [
            (
                "an event that comes again", "log = open(path, 'w')",
                "log.write('left\\n' if n == 1 else 'came\\n')",
                [{"column1=came": 1}, left, {"column1=came": 1}, {}],
            ),
            (
                "a single row, at the frame that wrote it", "log = open(path, 'w')",
                "n == 1 and log.write('left\\n')", [{}, left, {}, {}],
            ),
            (
                "a row before the first frame", "open(path, 'w').write('left\\n')", "",
                [{}, {}, {}, left],
            ),
            (
                "a row that equals the one that a number followed", "log = open(path, 'a')",
                "log.write('left\\n' if n != 1 else '3\\n')",
                [left, {"left": 3}, {"left=left": 1}, {}],
            ),
        ]:  # fmt: skip
            with self.subTest(name):
                self.assertEqual(self.rows(body, start=start), expected)

    def test_lines_are_printed_in_all_ways(self):
        child = self.start(
            "import cv2, io, os, sys\ncapture = cv2.VideoCapture(0)\ncapture.read()\n"
            "print('a', 1); sys.stdout.flush(); sys.stdout.buffer.write('é 2\\n'.encode())\n"
            "print('c', 3, file=sys.__stdout__); os.write(1, b'd 4\\n'); os.write(2, b'no 5\\n')\n"
            "sys.stdout.writelines(['e 5\\n']); sys.stdout.buffer.writelines([b'f 6\\n'])\n"
            "sys.stdout = io.TextIOWrapper(sys.stdout.buffer)\nprint('g', 7)\n"
            "capture.read()"
        )
        self.show(child, 0)
        names = "aécdefg"
        self.assertEqual(
            self.results(child),
            {f"stdout: {name} {{}}": index + 1 for index, name in enumerate(names)},
        )
        self.show(child, 1)
        self.results(child)
        self.finish(child)
        child.reset(2)
        child.host.bye()
        found = sorted(child.output.splitlines())
        self.assertEqual(found, ["a 1", "c 3", "d 4", "e 5", "f 6", "g 7", "no 5", "é 2"])

    def printed(self, body, count=3, start=""):
        child = self.start(
            f"import cv2, threading, time\ncapture = cv2.VideoCapture(0)\nn = -1\n{start}\n"
            f"while capture.read()[0]:\n    n += 1\n    {body}\n"
        )
        found = []
        for sequence in range(count):
            self.show(child, sequence, count=count)
            found.append(self.results(child))
        found.append(self.finish(child))
        return [{k.removeprefix("stdout: "): v for k, v in each.items()} for each in found]

    def test_text_without_an_end_belongs_to_its_frame(self):
        for name, body, expected in [
            ("a progress", r"print(f'\rframe {n}', end='')", lambda n: {"frame {}": n}),
            ("a progress before its end", r"print(f'frame {n}', end='\r')", lambda n: {"frame {}": n}),
            ("a long line", "print(n, end=' ')", lambda n: {"{}": n}),
            ("an end of Windows", r"print(n, end='\r'); print('\n7', end='\r\n')",
             lambda n: {"{}": n, "{}#2": 7}),
            ("two pieces", "print('a', end=''); time.sleep(1); capture.get(5); print('b', n)",
             lambda n: {"ab {}": n}),
            ("before an end", r"print('\nat', n, end='')", lambda n: {"at {}": n}),
        ]:  # fmt: skip
            with self.subTest(name):
                self.assertEqual(self.printed(body), [*map(expected, range(3)), {}])
        self.assertEqual(
            self.printed("print(n)", 1, "print('first', end=' ')")[0], {"first": 1, "{}": 0}
        )

    def test_a_file_of_lines_may_be_written_as_bytes(self):
        for start, text in (
            ("log = open(path, 'wb')", "b'id,x\\n1,é\\n'.replace(b'?', b'')"),
            ("import codecs\nlog = codecs.open(path, 'w', 'utf-8')", "'id,x\\n1,é\\n'"),
        ):
            with self.subTest(start):
                text = text.replace("é", "e" if "b'" in text else "é")
                name = "x=" + ("e" if "b'" in text else "é")
                found = self.rows(f"log.write({text}) if n == 0 else None", 1, start=start)
                self.assertEqual(found, [{"id": 1, name: 1}, {}])
        found = self.rows(
            "with open(path, 'ab') as log:\n"
            "        log.write(b'id\\n' * (log.tell() == 0)); log.write(b'%d\\n' % n)"
        )
        self.assertEqual(found, [{"id": 0}, {"id": 1}, {"id": 2}, {}])

    def test_a_file_without_a_reference_is_closed(self):
        for name, body, value in [
            ("log.json", "json.dump({'n': n}, open(path, 'w'))", lambda n: {"n": n}),
            ("log.csv", "open(path, 'wb').write(b'%d\\n' % n)", lambda n: {"column1": n}),
            ("log.txt", "open(path, 'w').write(f'now {n}')", lambda n: {"now {}": n}),
            ("log.txt", "open(path, 'w').detach().write(b'now %d' % n)", lambda n: {"now {}": n}),
        ]:
            with self.subTest(body):
                found = self.rows(body, name=name, start="import json")
                self.assertEqual(found, [*map(value, range(3)), {}])
        found = self.rows("open(path, 'wb').write(bytes([n]))", name="log.bin")
        names = [list(each) for each in found[:3]]
        self.assertEqual([len(each) for each in names], [1, 1, 1])
        self.assertEqual(len({name for (name,) in names}), 3)

    def test_what_objects_write_at_the_end_of_the_script(self):
        module = (
            "class Log:\n"
            "    def __init__(self, path): self.file, self.rows = open(path, 'w'), []\n"
            "    def add(self, n): self.rows.append(n)\n"
            "    def __del__(self):\n"
            "        for each in self.rows: self.file.write(f'{each}\\n')\n"
            "        print('closed', len(self.rows))\n"
        )
        script = (
            "import atexit, cv2, os, weakref\n"
            "path = os.environ['HERE'] + '/log.csv'\n"
            f"open(os.environ['HERE'] + '/logs.py', 'w').write({module!r})\n"
            "import logs\n"
            "logs.kept = logs.Log(path)\n"
            "own = logs.Log(os.devnull)\n"
            "class Ended: pass\n"
            "ended = Ended()\n"
            "weakref.finalize(ended, print, 'finalized')\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]: logs.kept.add(7)\n"
        )
        child = self.start(script, "--results", f"{tempfile.gettempdir()}/*/log.csv", "--results=-")
        self.show(child, 0)
        self.assertEqual(self.results(child), {})
        self.show(child, 1)
        self.assertEqual(self.results(child), {})
        found = self.finish(child)
        self.assertEqual(
            found,
            {
                "stdout: finalized": 1, "stdout: closed {}": 0, "stdout: closed {}#2": 2,
                "log: column1": 7, "log: column1#2": 7,
            },
        )  # fmt: skip

    def test_lines_of_processes_are_printed_when_they_have_ended(self):
        found = self.printed(
            "print('a', n)\n"
            "    subprocess.run(['echo', f'b {n}'])\n"
            "    subprocess.run(['echo', f'c {n}'], stdout=sys.stdout, check=True)\n"
            "    print(os.system(f'echo d {n}; exit 3'))\n"
            "    print(subprocess.run(['echo', '5'], capture_output=True, text=True).stdout)\n"
            "    subprocess.run('echo e 1; echo no >&2', shell=True)",
            2,
            "import os, subprocess, sys",
        )
        self.assertEqual(
            found,
            [{"a {}": n, "b {}": n, "c {}": n, "d {}": n, "{}": 768, "{}#2": 5, "e {}": 1}
             for n in range(2)] + [{}],
        )  # fmt: skip
        child = self.start(
            "import cv2, os, subprocess\ncapture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]: pass\n"
            "one = subprocess.Popen('echo 1; exec sleep 600', shell=True)\n"
            "open(os.environ['HERE'] + '/number', 'w').write(str(one.pid))\n"
            "while os.stat(f'/proc/{one.pid}/fd/1').st_size == 0: pass\n"
        )
        self.show(child, 0)
        self.results(child)
        self.assertEqual(self.finish(child), {})
        child.reset(2)
        child.host.bye()
        self.assertEqual(child.status, 0)
        os.kill(int((self.folder / "number").read_text()), signal.SIGKILL)
        self.assertIn("what the process echo 1; exec sleep 600 printed is no result", child.output)

    def test_the_cells_of_a_row_stay_together(self):
        for name, text, expected in [
            ("log.csv", "kind,x\ncar,30\nman,270",
             {"kind=car": 1, "x": 30, "kind#2=man": 1, "x#2": 270}),
            ("log.csv", "kind,x\nman,30\ncar,270",
             {"kind=man": 1, "x": 30, "kind#2=car": 1, "x#2": 270}),
            # An empty cell moves no other.
            ("log.csv", "a,x,y\n1,,5\n2,6,7", {"a": 1, "y": 5, "a#2": 2, "x#2": 6, "y#2": 7}),
            ("log.csv", "a,x,y\n,4,5\n2,,7", {"x": 4, "y": 5, "a#2": 2, "y#2": 7}),
            ("log.csv", "x,x\n1,2\n3,4", {"x": 1, "x#2": 2, "x#3": 3, "x#4": 4}),
            ("log.csv", "x,x#2\n1,2\n3,4", {"x": 1, "x#2": 2, "x#3": 3, "x#2#2": 4}),
            ("log.jsonl", '{"kind":"car","x":30}\n{"kind":"man","x":null}\n{"kind":"car","x":7}',
             {"kind=car": 1, "x": 30, "kind#2=man": 1, "kind#3=car": 1, "x#3": 7}),
            ("log.jsonl", '{"a":1}\n{"b":2}\n{"a":3,"b":4}', {"a": 1, "b": 2, "a#2": 3, "b#2": 4}),
            ("log.txt", "car\nx 30\nman\nx 270", {"car": 1, "x {}": 30, "man": 2, "x {}#2": 270}),
            ("log.txt", "car\ncar\nman", {"car": 1, "car#2": 2, "man": 3}),
        ]:  # fmt: skip
            with self.subTest(text):
                body = f"log.write({text + chr(10)!r})"
                found = self.rows(body, 2, start="log = open(path, 'w')", name=name)
                # The next frame has the same, below the header that the table knows.
                self.assertEqual(found[0], expected)
                if name != "log.csv":
                    self.assertEqual(found[1], expected)

    def test_rows_and_documents_without_an_end(self):
        start = "log = open(path, 'w')"
        self.assertEqual(
            self.rows("log.write(f'\\n{n},5')", start=start + "; log.write('id,of')"),
            [{"id": n, "of": 5} for n in range(3)] + [{}],
        )
        self.assertEqual(
            self.rows("log.write(f'{n},')", start=start + "; log.write('[')\nimport atexit\n"
                      "atexit.register(lambda: (log.write('9]'), log.close()))", name="log.json"),
            [{}, {}, {}, {"0": 0, "1": 1, "2": 2, "3": 9}],
        )  # fmt: skip

    def test_a_file_that_is_moved_to_its_name_is_written_then(self):
        start = "import pathlib, shutil\nnew = path + '.new'"
        for move in (
            "os.replace(new, path)", "os.rename(new, path)", "shutil.move(new, path)",
            "pathlib.Path(new).replace(path)", "pathlib.Path(new).rename(pathlib.Path(path))",
        ):  # fmt: skip
            with self.subTest(move):
                body = f"open(new, 'w').write(f'id\\n{{n}}\\n'); {move}"
                self.assertEqual(
                    self.rows(body, start=start), [{"id": 0}, {"id": 1}, {"id": 2}, {}]
                )
        body = "open(new, 'wb').write(b'\\xff' * n); os.replace(new, path)"
        found = self.rows(body, start=start, name="log.bin")
        self.assertRegex(list(found[1])[0], "^log.bin sha256:[0-9a-f]{16}$")
        self.assertNotEqual(found[1], found[2])

    def test_bytes_below_a_file_of_text_are_lines(self):
        body = "log.buffer.write(b'%d,' % n); log.buffer.write(b'4\\n')"
        row = {"column2": 4}
        self.assertEqual(
            self.rows(body, start="log = open(path, 'w')"),
            [{"column1": n} | row for n in range(3)] + [{}],
        )

    def test_separators_and_quotes_of_tables(self):
        numbers = {"column1": 1.5, "column2": 2}
        for text, expected in [
            ("1,5;2", numbers),
            ("1,5\t2", numbers),
            ("x;y, m\n1,5;2", {"x": 1.5, "y, m": 2}),
            ("x, m;y, m\n1,5;2,25", {"x, m": 1.5, "y, m": 2.25}),
            ("x\ty\n1\t2", {"x": 1, "y": 2}),
            ("x;y\n1.5;a,b", {"x": 1.5, "y=a,b": 1}),
            ("a;b,1.5", {"column1=a;b": 1, "column2": 1.5}),
            ("note,v\na;b,2", {"note=a;b": 1, "v": 2}),
            ("note,v\na;b,2\nc,3", {"note=a;b": 1, "v": 2, "note#2=c": 1, "v#2": 3}),
            ('"a;b",1,5', {"column1=a;b": 1, "column2": 1, "column3": 5}),
            ('"a\nb",2\n3,4', {"column1=a\nb": 1, "column2": 2, "column1#2": 3, "column2#2": 4}),
            ('id,note\r\n7,"say ""x""\r\n, y"\r\n', {"id": 7, 'note=say "x"\r\n, y': 1}),
            ('5" pipe,3\n6" pipe,4', {
                'column1=5" pipe': 1, "column2": 3, 'column1#2=6" pipe': 1, "column2#2": 4,
            }),
            ('"open,1\n2,3', {"open,1": 2, "column2": 3}),
        ]:  # fmt: skip
            with self.subTest(text):
                found = self.rows(f"log.write({text!r})", 1, start="log = open(path, 'w', newline='')")
                self.assertEqual(found[0], expected)

    def test_what_no_number_can_hold_is_text(self):
        integer, near = 2**53 - 1, 2**53
        for name, text, expected in [
            ("log.txt", "model 7e4321 loaded", {"model 7e4321 loaded": 1}),
            ("log.txt", "550e8400-e29b-41d4 took 3 ms", {"550e8400-e29b-{}": 41, "d4 took {} ms": 3}),
            ("log.txt", "v 1.7e308", {"v 1.7e308": 1}),
            ("log.txt", f"id {integer} {near}", {f"id {{}} {near}": integer}),
            ("log.txt", "v -1e20", {"v {}": -1e20}),
            (
                "log.jsonl", f'{{"a": {10**400}, "b": 1e400, "c": {near + 1}, "d": {-integer}}}',
                {f"a={10**400}": 1, "b=inf": 1, f"c={near + 1}": 1, "d": -integer},
            ),
            ("log.jsonl", '{"a": true, "b": NaN, "c": 1e20}', {"a": 1, "b=nan": 1, "c": 1e20}),
            (
                "log.csv", f"{near},{integer},1e300,nan,1e20",
                {
                    f"column1={near}": 1, "column2": integer, "column3=1e300": 1, "column4=nan": 1,
                    "column5": 1e20,
                },
            ),
        ]:  # fmt: skip
            with self.subTest(text[:30]):
                found = self.rows(f"log.write({text + chr(10)!r})", 1, name, "log = open(path, 'w')")
                self.assertEqual(found[0], expected)

    def test_a_file_that_was_renamed_begins_with_a_header(self):
        body = (
            "log = open(path, 'a'); log.write(f'id\\n{n}\\n'); log.close()\n"
            "    if n == 1: os.rename(path, path + '.old')"
        )
        self.assertEqual(self.rows(body), [{"id": 0}, {"id=id": 1, "id#2": 1}, {"id": 2}, {}])

    def test_a_header_may_come_long_before_the_first_row(self):
        header = "open(path, 'w').write('id,kind\\n')"
        row = "log.write('7,car\\n')"
        for name, start, body in [
            ("closed", header, f"if n == 1:\n     with open(path, 'a') as log: {row}"),
            ("kept open", f"log = {header[:-19]}; log.write('id,kind\\n')", f"n == 1 and {row}"),
            (
                "begun again", f"log = {header[:-19]}",
                "log.seek(0); log.truncate()\n    log.write('id,kind\\n')\n"
                f"    n == 1 and {row}",
            ),
        ]:  # fmt: skip
            with self.subTest(name):
                found = self.rows(body, start=start)
                self.assertEqual(found[1], {"id": 7, "kind=car": 1})
                if name != "begun again":
                    self.assertEqual(found, [{}, found[1], {}, {}])

    def test_bytes_that_are_appended_have_the_digest_of_one_run(self):
        child = self.start(
            "import cv2, os\ncapture = cv2.VideoCapture(0)\nwhile capture.read()[0]:\n"
            "    with open(os.environ['HERE'] + '/log.bin', 'ab') as log: log.write(b'same')\n",
            "--results", f"{tempfile.gettempdir()}/*/log.bin",
        )  # fmt: skip
        found = []
        for sequence in range(2):
            self.show(child, sequence)
            found.append(self.results(child))
        self.assertRegex(list(found[0])[0], "^log: log.bin sha256:[0-9a-f]{16}$")
        self.assertEqual(found[1], found[0])

    def test_values_of_the_package_go_to_the_sinks_that_are_named(self):
        script = (
            "import cv2, retake\ncapture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]: retake.out('boxes', [retake.Detection((1, 2, 3, 4), 0.5, 'a')])"
        )
        child = self.start(script, "--sink", "boxes=detections", "--class-names", "b,a")
        self.assertEqual(self.ready["sinks"], {"boxes": "detections"})
        self.show(child, 0)
        while "out" not in (message := child.host.receive()):
            pass
        (box,) = message["out"]["value"]["detections"]
        self.assertEqual((box["box"], box["class"]), ([1, 2, 3, 4], 1))

    def test_a_sink_may_have_masks_of_the_frames(self):
        script = (
            "import cv2, retake\ncapture = cv2.VideoCapture(0)\n"
            "while (read := capture.read())[0]:\n"
            "    pixels = [[level > 5 for level, _, _ in row] for row in read[1]]\n"
            "    retake.out('lit', [retake.Mask.of(pixels, 'lit')])"
        )
        child = self.start(script, "--sink", "lit=observations")
        self.assertEqual(self.ready["sinks"], {"lit": "observations"})
        for sequence, counts in ((0, "4"), (1, "04")):
            self.show(child, sequence, level=9 * sequence)
            while "out" not in (message := child.host.receive()):
                pass
            (item,) = message["out"]["value"]["observations"]
            self.assertEqual(item["mask"], {"size": [2, 2], "counts": counts})
            while "done" not in child.host.receive():
                pass

    def test_a_sink_may_have_images_and_contours_of_the_frames(self):
        script = (
            "import cv2, numpy, retake\ncapture = cv2.VideoCapture(0)\n"
            "while (read := capture.read())[0]:\n"
            "    read[1][:] = 1, 2, 3\n"
            "    contour = numpy.array([[[0, 0]], [[1, 0]], [[1, 1]]], numpy.int32)\n"
            "    image = retake.Image(read[1], 'seen', order='bgr')\n"
            "    retake.out('lit', [image, retake.Polygon(contour, 'edge')])\n"
            "    read[1][:] = 0"
        )
        child = self.start(script, "--sink", "lit=observations")
        self.show(child, 0, level=9)
        while "out" not in (message := child.host.receive()):
            pass
        (image, polygon) = message["out"]["value"]["observations"]
        self.assertEqual(
            image["image"], {"size": [2, 2, 3], "type": "u8", "data": "AwIBAwIBAwIBAwIB"}
        )
        self.assertEqual(polygon["polygon"], [[0, 0], [1, 0], [1, 1]])


class AlarmTests(LoopCase):
    """Timers of the module `signal`, mostly after the last frame."""

    start_of_script = (
        "import cv2, queue, signal, threading, time\n"
        "capture = cv2.VideoCapture(0)\n"
        "class Late(Exception): pass\n"
        "def raise_late(*_): raise Late\n"
        "def say(*_): print('signal', now())\n"
        "def now(): return round(time.monotonic(), 2)\n"
        "while capture.read()[0]: pass\n"
    )

    def check(self, body, expected):
        child = self.start(self.start_of_script + body)
        self.show(child, 0, count=1)
        self.results(child)
        self.assertEqual(self.finish(child), {f"stdout: {name}": n for name, n in expected.items()})
        return child

    def ended(self, child):
        child.reset(2)
        child.host.bye()
        return child.status

    def test_an_alarm_interrupts_reads_and_sleeps_which_then_continue(self):
        child = self.start(
            "import cv2, signal, time\n"
            "def now(): return round(time.monotonic(), 2)\n"
            "signal.signal(signal.SIGALRM, lambda *_: print('signal', now()))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.05, 0.1)\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]:\n"
            "    print('read', now())\n"
            "    time.sleep(0.02)\n"
            "    print('slept', now())\n"
        )
        found = []
        for sequence, now in [(0, 0), (1, 60), (2, 140)]:
            self.show(child, sequence, now)
            found.append(self.results(child))
            if sequence == 0:
                # It is due before the next frame.
                self.assertEqual(self.said[-1], {"timer": {"id": 1, "atNs": 50 * MS}})
                child.host.send({"timer": 1, "nowNs": 50 * MS})
                found.append(self.results(child))
        values = [[(name[8:-3], value) for name, value in each.items()] for each in found]
        self.assertEqual(
            values,
            [
                [("read", 0), ("slept", 0.02)], [("signal", 0.05)],
                [("read", 0.06), ("slept", 0.08)],
                [("read", 0.14), ("signal", 0.15), ("slept", 0.16)],
            ],
        )  # fmt: skip

    def test_a_handler_that_raises_ends_each_wait(self):
        self.check(
            "signal.signal(signal.SIGALRM, raise_late)\n"
            "lock, frames = threading.Lock(), queue.Queue()\n"
            "lock.acquire()\n"
            "thread = threading.Thread(target=time.sleep, args=(9,))\n"
            "thread.start()\n"
            "def count():\n"
            "    while True: time.monotonic()\n"
            "for number, wait in enumerate((\n"
            "    lambda: time.sleep(5), frames.get, lock.acquire, thread.join, signal.pause,\n"
            "    lambda: cv2.waitKey(5000), lambda: signal.sigwait([signal.SIGUSR1]), count,\n"
            ")):\n"
            "    signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
            "    try: wait(); print('no signal')\n"
            "    except Late: print(f'wait {\"abcdefgh\"[number]}', now())\n"
            "frames.put(7)\n"
            "lock.release()\n"
            "print('queue', frames.get(), 'lock', lock.acquire(timeout=1))\n"
            "thread.join()\n"
            "print('joined', now())\n",
            {f"wait {each} {{}}": 0.5 * number + 0.5 for number, each in enumerate("abcdefgh")}
            | {"queue {} lock True": 7, "joined {}": 9},
        )

    def test_a_read_that_an_alarm_ends_leaves_the_frame_to_the_next_one(self):
        child = self.start(
            "import cv2, signal, time\n"
            "class Late(Exception): pass\n"
            "def raise_late(*_): raise Late\n"
            "signal.signal(signal.SIGALRM, raise_late)\n"
            "capture = cv2.VideoCapture(0)\n"
            "while True:\n"
            "    signal.alarm(1)\n"
            "    try: found = capture.read()\n"
            "    except Late:\n"
            "        time.sleep(0.25)\n"
            "        print('late', round(time.monotonic(), 2))\n"
            "        continue\n"
            "    if not found[0]: break\n"
            "    print('level', found[1][0, 0, 0])\n"
        )
        self.show(child, 0, level=5)
        self.assertEqual(self.results(child), {"stdout: level {}": 5})
        self.assertIn({"timer": {"id": 1, "atNs": 1_000 * MS + 1_000}}, self.said)
        child.host.send({"timer": 1, "nowNs": 1_000 * MS + 1_000})
        self.assertEqual(self.results(child), {"stdout: late {}": 1.25})
        self.show(child, 1, 1_500, level=6)
        self.assertEqual(self.results(child), {"stdout: level {}": 6})

    def test_a_sleep_that_an_alarm_ends_sets_no_timer(self):
        child = self.start(
            "import cv2, signal, time\n"
            "def end(*_): raise KeyboardInterrupt\n"
            "signal.signal(signal.SIGALRM, end)\n"
            "signal.alarm(1)\n"
            "try: time.sleep(50)\n"
            "except KeyboardInterrupt: print('ended')\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]: pass\n"
        )
        self.show(child, 0)
        self.assertEqual(self.results(child), {"stdout: ended": 1})
        self.assertEqual(self.said, [{"timer": {"id": 0, "atNs": LAST_NS}}])

    def test_a_thread_may_be_woken_while_the_handler_sleeps(self):
        self.check(
            "lock = threading.Lock()\n"
            "lock.acquire()\n"
            "def release():\n"
            "    time.sleep(1.5)\n"
            "    lock.release()\n"
            "    print('released', now())\n"
            "threading.Thread(target=release).start()\n"
            "def slow(*_):\n"
            "    time.sleep(1)\n"
            "    print('handled', now())\n"
            "signal.signal(signal.SIGALRM, slow)\n"
            "signal.alarm(1)\n"
            "lock.acquire()\n"
            "print('locked', now())\n",
            {"released {}": 1.5, "handled {}": 2, "locked {}": 2},
        )

    def test_another_thread_that_reads_the_clock_passes_the_alarm(self):
        self.check(
            "signal.signal(signal.SIGALRM, say)\n"
            "def work():\n"
            "    while time.monotonic() < 1.5: pass\n"
            "    print('worked', now())\n"
            "thread = threading.Thread(target=work)\n"
            "signal.alarm(1)\n"
            "thread.start()\n"
            "thread.join()\n",
            {"worked {}": 1.5, "signal {}": 1.5},
        )

    def test_timers_say_what_is_left(self):
        self.check(
            "signal.signal(signal.SIGALRM, say)\n"
            "real = signal.ITIMER_REAL\n"
            "def shown(rest): return [round(each, 2) for each in rest]\n"
            "print('first', signal.alarm(10))\n"
            "time.sleep(2.25)\n"
            "print('rest', shown(signal.getitimer(real)))\n"
            "print('alarm', signal.alarm(3))\n"
            "print('timer', shown(signal.setitimer(real, 0.25, 2)))\n"
            "time.sleep(1)\n"
            "print('interval', shown(signal.getitimer(real)))\n"
            "print('cancelled', signal.alarm(0), shown(signal.getitimer(real)))\n"
            "time.sleep(9)\n"
            "for call in (lambda: signal.setitimer(real, -1), lambda: signal.alarm(1.5)):\n"
            "    try: call()\n"
            "    except (signal.ItimerError, TypeError) as error: print(type(error).__name__)\n",
            {
                "first {}": 0, "rest [{}": 7.75, ", {}]": 0, "alarm {}": 8, "timer [{}": 3,
                ", {}]#2": 0, "signal {}": 2.5, "interval [{}": 1.25, ", {}]#3": 2,
                "cancelled {}": 1, "[{}": 0, ", {}]#4": 0, "itimer_error": 1, "TypeError": 2,
            },
        )  # fmt: skip

    def test_signals_that_passed_already_are_one(self):
        child = self.start(
            "import cv2, signal, time\n"
            "signal.signal(signal.SIGALRM, lambda *_: print('signal'))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
            "capture = cv2.VideoCapture(0)\n"
            "capture.read()\n"
            "now, rest = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, 0)\n"
            "print('read', round(now, 3), rest[1])\n"
            "capture.read()\n"
        )
        self.show(child, 0, 1_004)
        self.assertEqual(
            self.results(child), {"stdout: signal": 1, "stdout: read {}": 1.004, "stdout: {}": 0.01}
        )

    def test_blocked_and_ignored_signals_wait_or_are_lost(self):
        self.check(
            "signal.signal(signal.SIGALRM, say)\n"
            "alarm = [signal.SIGALRM]\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, alarm)\n"
            "signal.alarm(2)\n"
            "print('none', signal.sigtimedwait(alarm, 0.5) is None, now())\n"
            "print('found', signal.sigtimedwait(alarm, 5).si_signo, now())\n"
            "signal.alarm(1)\n"
            "print('waited', signal.sigwait(alarm) is signal.SIGALRM, now())\n"
            "signal.alarm(1)\n"
            "print('info', signal.sigwaitinfo(alarm).si_signo, now())\n"
            "signal.alarm(1)\n"
            "time.sleep(3)\n"
            "print('unblocked', now())\n"
            "signal.pthread_sigmask(signal.SIG_UNBLOCK, alarm)\n"
            "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
            "signal.alarm(1)\n"
            "time.sleep(2)\n"
            "print('ignored', now())\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, alarm)\n"
            "def work(): print('thread', signal.sigwait([signal.SIGUSR1, *alarm]), now())\n"
            "thread = threading.Thread(target=work)\n"
            "thread.start()\n"
            "signal.alarm(1)\n"
            "thread.join()\n"
            "try: signal.sigtimedwait(alarm, -1)\n"
            "except ValueError: print('negative')\n",
            {
                "none True {}": 0.5, "found {}": 14, "{}": 2, "waited True {}": 3, "info {}": 14,
                "{}#2": 4, "unblocked {}": 7, "signal {}": 7, "ignored {}": 9, "thread {}": 14,
                "{}#3": 10, "negative": 1,
            },
        )  # fmt: skip

    def test_a_pause_ends_with_a_handler_which_stays_as_it_was(self):
        self.check(
            "signal.signal(signal.SIGALRM, say)\n"
            "signal.alarm(1)\n"
            "signal.pause()\n"
            "print('paused', now(), signal.getsignal(signal.SIGALRM) is say)\n"
            "def change(*_): signal.signal(signal.SIGALRM, say)\n"
            "signal.signal(signal.SIGALRM, change)\n"
            "signal.alarm(1)\n"
            "signal.pause()\n"
            "print('changed', now(), signal.getsignal(signal.SIGALRM) is say)\n",
            {"signal {}": 1, "paused {} True": 1, "changed {} True": 2},
        )

    def test_a_handler_of_asyncio_is_called(self):
        self.check(
            "import asyncio\n"
            "async def main():\n"
            "    came = asyncio.Event()\n"
            "    asyncio.get_running_loop().add_signal_handler(signal.SIGALRM, came.set)\n"
            "    signal.alarm(4)\n"
            "    await came.wait()\n"
            "    print('came', now())\n"
            "asyncio.run(main())\n",
            {"came {}": 4},
        )

    def test_an_alarm_without_a_handler_ends_the_process_and_is_named(self):
        child = self.start(self.start_of_script + "signal.alarm(2); time.sleep(9)")
        self.show(child, 0, count=1)
        self.results(child)
        child.host.send({"timer": 0, "nowNs": LAST_NS})
        code, message = self.error(child)
        self.assertEqual((code, child.status), ("loop.alarm", -signal.SIGALRM))
        self.assertIn("was due at 2 s of virtual time", message)
        self.assertIn("set one with signal.signal, or ignore the signal", child.output)

    def test_the_traceback_of_a_handler_has_no_place_of_the_launcher(self):
        child = self.start(
            self.start_of_script
            + "signal.signal(signal.SIGALRM, raise_late); signal.alarm(1); time.sleep(9)"
        )
        self.show(child, 0, count=1)
        self.results(child)
        child.host.send({"timer": 0, "nowNs": LAST_NS})
        code, message = self.error(child)
        self.assertEqual((code, child.status), ("python.exception", 2))
        self.assertIn("Late (script.py:8 in <module>, script.py:4 in raise_late)", message)
        self.assertIn("raise_late", child.output)
        self.assertNotIn("retake/loop", child.output)

    def test_timers_of_the_processor_are_named(self):
        child = self.check(
            "signal.setitimer(signal.ITIMER_PROF, 1000)\n"
            "print('rest', signal.getitimer(signal.ITIMER_PROF)[0] > 900)\n"
            "signal.setitimer(signal.ITIMER_PROF, 0)\n"
            "signal.setitimer(signal.ITIMER_VIRTUAL, 0)\n",
            {"rest True": 1},
        )
        self.assertEqual(self.ended(child), 0)
        self.assertEqual(child.output.count("signal.ITIMER_PROF measures the time of the"), 1)
        self.assertEqual(child.output.count("signal.ITIMER_VIRTUAL measures the time"), 1)


class ProcessTests(LoopCase):
    """`multiprocessing`: threads that take turns, and values that are copied."""

    def check(self, script, expected, frames=4):
        child = self.start("import cv2\n" + script)
        found = []
        for sequence in range(frames):
            self.show(child, sequence, level=sequence + 10, count=frames)
            found.append(list(self.results(child).values()))
        found.append(list(self.finish(child).values()))
        self.assertEqual(found, expected)
        child.reset(2)
        child.host.bye()
        self.assertEqual(child.status, 0)

    def test_a_pool_gets_copies_and_answers_in_one_order(self):
        self.check(
            "from multiprocessing.pool import Pool\n"
            "def mean(n, part): return n, int(part[0, 0, 0])\n"
            "if __name__ == '__main__':\n"
            "    capture = cv2.VideoCapture(0)\n"
            "    with Pool(2, maxtasksperchild=1) as pool:\n"
            "        while (found := capture.read())[0]:\n"
            "            later = pool.apply_async(mean, (7, found[1]))\n"
            "            print(*pool.starmap(mean, [(n, found[1]) for n in range(2)]))\n"
            "            found[1][:] = 0\n"
            "            print(later.get()[1])\n",
            [[0, n, 1, n, n] for n in range(10, 14)] + [[]],
        )

    def test_an_executor_keeps_frames_in_flight(self):
        self.check(
            "from concurrent.futures import ProcessPoolExecutor, as_completed\n"
            "def level(part): return int(part[0, 0, 0])\n"
            "capture, pending = cv2.VideoCapture(0), []\n"
            "with ProcessPoolExecutor() as pool:\n"
            "    while (found := capture.read())[0]:\n"
            "        pending.append(pool.submit(level, found[1]))\n"
            "        found[1][:] = 0\n"
            "        if len(pending) > 2: print(pending.pop(0).result())\n"
            "    print(sum(each.result() for each in as_completed(pending)))\n",
            [[], [], [10], [11], [25]],
        )

    def test_a_process_that_reads_feeds_workers_and_is_terminated(self):
        self.check(
            "import multiprocessing\n"
            "def read(frames):\n"
            "    capture = cv2.VideoCapture(0)\n"
            "    while True: frames.put(capture.read())\n"
            "class Worker(multiprocessing.Process):\n"
            "    def __init__(self, end, count):\n"
            "        super().__init__(daemon=True)\n"
            "        self.end, self.count, self.seen = end, count, 0\n"
            "    def run(self):\n"
            "        while (found := self.end.recv()) is not None:\n"
            "            self.seen += 1\n"
            "            with self.count.get_lock(): self.count.value += 1\n"
            "            self.end.send((self.name[-1], int(found[0, 0, 0]), self.seen))\n"
            "        raise SystemExit(3)\n"
            "frames, count = multiprocessing.Queue(1), multiprocessing.Value('i', 0)\n"
            "reader = multiprocessing.Process(target=read, args=(frames,)); reader.start()\n"
            "near, far = multiprocessing.Pipe()\n"
            "worker = Worker(far, count); worker.start()\n"
            "while (found := frames.get(timeout=2))[0]:\n"
            "    near.send(found[1]); print(*near.recv())\n"
            "near.send(None); worker.join(); reader.terminate(); reader.join()\n"
            "print(worker.exitcode, reader.exitcode, reader.is_alive(), count.value, worker.seen)",
            [[2, n + 10, n + 1] for n in range(4)] + [[3, -15, 4, 0]],
        )

    def test_tasks_of_joblib_take_turns_and_processes_get_copies(self):
        kinds = [SMALL_JOBLIB, ""] if HAS_JOBLIB else [SMALL_JOBLIB]
        for kind in kinds:
            for backend, seen in (("loky", 0), ("multiprocessing", 0), ("threading", 7)):
                with self.subTest(backend, is_small=kind == SMALL_JOBLIB):
                    self.check(
                        kind + "import threading\n"
                        "from joblib import Parallel, delayed\n"
                        "def work(n, part):\n"
                        "    level = int(part[0, 0, 0])\n"
                        "    part[0, 0, 1] = 7\n"
                        "    return n, level\n"
                        "capture = cv2.VideoCapture(0)\n"
                        "while (found := capture.read())[0]:\n"
                        "    part = found[1]; part[0, 0, 1] = 0\n"
                        "    tasks = (delayed(work)(n, part) for n in range(3))\n"
                        f"    for each in Parallel(-1, backend={backend!r})(tasks): print(*each)\n"
                        "    print(part[0, 0, 1])\n",
                        [[0, n, 1, n, 2, n, seen] for n in range(10, 14)] + [[]],
                    )

    def test_a_pool_of_joblib_has_one_size_on_every_machine(self):
        self.check(
            SMALL_JOBLIB + "import joblib.parallel\n"
            "sizes = [each().effective_n_jobs(-1) for each in parallel.BACKENDS.values()]\n"
            "capture = cv2.VideoCapture(0)\n"
            "while capture.read()[0]: print(*sizes, parallel.BACKENDS['loky']().effective_n_jobs(-9))",
            [[4, 4, 4, 1]] * 4 + [[]],
        )

    def test_executors_of_loky_get_copies(self):
        self.check(
            "import sys, types\n"
            "sys.modules['loky'] = types.ModuleType('loky')\nimport loky\n"
            "def level(part): part[0, 0, 0] += 1; return int(part[0, 0, 0])\n"
            "capture, pool = cv2.VideoCapture(0), loky.get_reusable_executor(max_workers=2)\n"
            "while (found := capture.read())[0]:\n"
            "    print(pool.submit(level, found[1]).result(), found[1][0, 0, 0])\n",
            [[n + 1, n] for n in range(10, 14)] + [[]],
        )

    def test_a_terminated_process_leaves_locks_to_others(self):
        self.check(
            "import multiprocessing\n"
            "def wait(lock):\n    with lock: pass\n"
            "lock = multiprocessing.Lock(); capture = cv2.VideoCapture(0)\n"
            "one = multiprocessing.Process(target=wait, args=(lock,))\n"
            "with lock:\n"
            "    one.start(); print('level', capture.read()[1][0, 0, 0])\n"
            "    one.kill()\n"
            "with lock, multiprocessing.Manager() as manager:\n"
            "    print('then', one.exitcode, manager.dict(a=5)['a'], capture.read()[0])\n"
            "while capture.read()[0]: pass\n",
            [[10], [-9, 5], [], [], []],
        )

    def test_the_end_of_a_script_waits_for_what_python_waits_for(self):
        start = (
            "import atexit, cv2, multiprocessing, threading, time\n"
            "from concurrent.futures import ProcessPoolExecutor\n"
            "def work(values):\n"
            "    while (value := values.get()) is not None:\n"
            "        time.sleep(1); print('row', value)\n"
            "def late(text, seconds=1): time.sleep(seconds); print(text, 5)\n"
            "def submit(values):\n"
            "    pool = values.pool = ProcessPoolExecutor(1)\n"
            "    while (value := values.get()) is not None:\n"
            "        time.sleep(1); pool.submit(late, 'row')\n"
            "def start_timer(): threading.Timer(1, print, ('row', 5)).start()\n"
            "values = multiprocessing.Queue()\n"
            "def process(target, *args, daemon=None):\n"
            "    multiprocessing.Process(target=target, args=args, daemon=daemon).start()\n"
        )
        loop = "capture = cv2.VideoCapture(0)\nwhile capture.read()[0]: values.put(7)\n"
        for before, after, expected in [
            ("process(work, values)", "values.put(None)", [7, 7]),
            ("process(work, values)", "atexit.register(values.put, None)", [7, 7]),
            ("process(submit, values)", "values.put(None)", [5, 5]),
            (
                "process(submit, values)",
                "values.put(None); multiprocessing.active_children()[0].join(); print('end', 1)",
                [5, 5, 1],
            ),
            ("process(work, values, daemon=True)", "time.sleep(1.5)", [7]),
            ("process(late, 'row', daemon=True)", "", []),
            ("process(late, 'row')", "", [5]),
            ("process(start_timer)", "", [5]),
            ("process(process, late, 'row')", "", [5]),
            ("", "start_timer()", [5]),
            ("", "threading.Timer(1, start_timer).start()", [5]),
            ("pool = ProcessPoolExecutor(1)", "pool.submit(late, 'row')", [5]),
        ]:
            with self.subTest(before=before, after=after):
                child = self.start(f"{start}{before}\n{loop}{after}\n")
                for sequence in range(2):
                    self.show(child, sequence, count=2)
                    self.results(child)
                self.assertEqual(list(self.finish(child).values()), expected)
                child.reset(2)
                child.host.bye()
                self.assertEqual(child.status, 0)


class EndTests(LoopCase):
    def test_a_wrong_name_of_a_file_of_results(self):
        script = (
            "import cv2, os\ncapture = cv2.VideoCapture(0)\n"
            "log = open(os.environ['HERE'] + '/tracks.csv', 'w')\n"
            "while capture.read()[0]: log.write('1\\n')\n"
        )
        for written, is_wrong in (("", True), ("open('/dev/shm/typo.csv', 'w')\n", False)):
            child = self.start(written + script, "--results", "/dev/shm/typo.csv")
            self.show(child, 0)
            self.results(child)
            child.host.send({"timer": 0, "nowNs": LAST_NS})
            if not is_wrong:
                self.assertEqual(self.results(child), {})
                continue
            code, message = self.error(child)
            self.assertEqual((code, child.status), ("loop.results", 2))
            self.assertRegex(message, "no result: .*script.py did not write .*/dev/shm/typo.csv; it")
            self.assertRegex(message, r"wrote \S+/tracks.csv. Correct --results; or")
        os.remove("/dev/shm/typo.csv")

    def test_the_line_at_which_a_script_is_ended_is_named(self):
        child = self.start(
            "import cv2\n"
            "for attempt in range(3):\n"
            "    capture = cv2.VideoCapture(0)\n"
            "    while capture.read()[0]: pass\n"
            "print('total')\n"
        )
        self.show(child, 0)
        self.results(child)
        self.assertEqual(self.finish(child), {})
        child.reset(2)
        child.host.bye()
        self.assertEqual(child.status, 0)
        self.assertIn("script.py:4 reads again after the last frame, and the script", child.output)

    def check(self, script, code, text, *options, frames=1):
        child = self.start(script, *options)
        for sequence in range(frames - 1):
            self.show(child, sequence, count=300)
            self.results(child)
        self.show(child, frames - 1, count=300)
        found, message = self.error(child)
        self.assertEqual((found, child.status), (code, 2))
        self.assertIn(text, message)
        return message

    def test_a_loop_that_ends_before_the_session_is_named(self):
        script = "import cv2\ncapture = cv2.VideoCapture(0)\nfor _ in range(2): capture.read()"
        self.check(script, "loop.ended", "ended at frame 1 of 300, and the frames", frames=3)
        child = self.start(script, "--may-end")
        for sequence in range(4):
            self.show(child, sequence)
            self.results(child)
        self.finish(child)
        child.reset(2)
        child.host.bye()
        self.assertEqual(child.status, 0)

    def test_an_exception_names_its_place_and_no_place_of_the_launcher(self):
        message = self.check(
            "import cv2\ncv2.VideoCapture(0).read()\nraise KeyError('lost')", "python.exception",
            "ended at frame 0 by an exception: KeyError: 'lost' (script.py:3 in <module>)",
        )  # fmt: skip
        self.assertNotIn("_launch", message)

    def test_a_traceback_follows_what_was_printed_before(self):
        for end, last in [("1 / 0", "Traceback"), ("sys.exit('over')", "over")]:
            with self.subTest(end):
                child = self.start(
                    "import cv2, sys\ncv2.VideoCapture(0).read()\n"
                    f"print('first', flush=False); {end}"
                )
                self.show(child, 0)
                self.error(child)
                self.assertEqual(child.status, 2)
                self.assertIn(f"first\n{last}", child.output)
                self.assertLess(child.output.index(last), child.output.index("retake: "))

    def test_a_loop_without_a_wait_is_named_when_retake_ends_the_script(self):
        start = (
            "import cv2, os, signal, threading\ncapture = cv2.VideoCapture(0)\n"
            "def poll():\n    os.kill(os.getpid(), signal.SIGTERM)\n    while True: pass\n"
            "thread = threading.Thread(target=poll, name='printer')\n"
        )
        others = ", and no other thread has a turn until it waits: a loop that polls needs a"
        for script, said in [
            ("capture.read(); poll()", "'MainThread' runs line [45] of script.py at frame 0\n"),
            (
                "capture.read(); thread.start(); capture.read()",
                f"the thread 'printer' runs line [45] of script.py at frame 0{others}",
            ),
            (
                "capture.read(); threading.Thread(target=capture.read).start(); poll()",
                f"the thread 'MainThread' runs line [45] of script.py at frame 0{others}",
            ),
        ]:
            with self.subTest(script):
                child = self.start(start + script)
                self.show(child, 0)
                self.assertEqual(child.status, -signal.SIGTERM)
                self.assertRegex(child.output, said)

    def test_a_script_that_has_reported_an_error_is_ended_without_words(self):
        child = self.start(
            "import cv2, os, signal\nfrom retake.loop import _current\n"
            "capture = cv2.VideoCapture(0)\ncapture.read()\n"
            "_current.host.report('loop.test', 'an error')\nos.kill(os.getpid(), signal.SIGTERM)\n"
        )
        self.show(child, 0)
        self.assertEqual(self.error(child), ("loop.test", "an error"))
        self.assertEqual(child.status, -signal.SIGTERM)
        self.assertEqual(child.output, "retake: an error\n")

    def test_a_process_of_the_script_is_ended_without_words(self):
        child = self.start(
            "import cv2, os, signal\ncapture = cv2.VideoCapture(0)\ncapture.read()\n"
            "pipe = os.pipe()\n"
            "if (own := os.fork()) == 0: os.read(pipe[0], 1)\n"
            "os.kill(own, signal.SIGTERM)\n"
            "print('ended by', -os.waitstatus_to_exitcode(os.waitpid(own, 0)[1]))\n"
        )
        self.show(child, 0, count=1)
        self.assertEqual(self.results(child), {"stdout: ended by {}": signal.SIGTERM})
        child.reset(2)
        child.host.bye()
        self.assertEqual(child.status, 0)
        self.assertNotIn("runs", child.output)

    def test_an_exception_of_a_thread_ends_the_run(self):
        self.check(
            "import cv2, threading\ndef work():\n    cv2.VideoCapture(0).read()\n    1 / 0\n"
            "threading.Thread(target=work, name='own').start()", "python.exception",
            "its thread 'own' was ended at frame 0 by an exception: ZeroDivisionError",
        )  # fmt: skip

    def test_a_process_that_fails_or_waits_after_the_end_of_the_script(self):
        for body, code, text in [
            (
                "time.sleep(1); raise OSError('disk')", "python.exception",
                "its thread 'Process-1' was ended at frame 0 by an exception: OSError: disk",
            ),
            (
                "multiprocessing.Queue().get()", "loop.deadlock",
                "is over, and Python waits for its process 'Process-1', which waits without an end",
            ),
        ]:
            with self.subTest(code):
                child = self.start(
                    f"import cv2, multiprocessing, time\ndef work(): {body}\n"
                    "multiprocessing.Process(target=work).start()\n"
                    "capture = cv2.VideoCapture(0)\nwhile capture.read()[0]: pass\n"
                )
                self.show(child, 0, count=1)
                self.results(child)
                child.host.send({"timer": 0, "nowNs": LAST_NS})
                found, message = self.error(child)
                self.assertEqual((found, child.status), (code, 2))
                self.assertIn(text, message)

    def test_ends_that_are_mistakes(self):
        start = "import cv2\ncapture = cv2.VideoCapture(0)\ncapture.read()\n"
        for script, code, text in [
            ("import sys; sys.exit(3)", "loop.status", "ended with status 3 at frame 0"),
            (
                "cv2.VideoCapture('b.mp4').read()", "loop.secondCapture",
                "reads 'b.mp4' after 0, and a program gets the frames of one track: run",
            ),
            (
                "from multiprocessing.managers import BaseManager; BaseManager().start()",
                "loop.manager", "use multiprocessing.Manager(), or queues",
            ),
            (
                "import threading\nlock = threading.Lock(); lock.acquire(); lock.acquire()",
                "loop.deadlock", "wait for one another",
            ),
            ("import signal; signal.pause()", "loop.deadlock", "or for a signal"),
            (
                SMALL_PYAV + "av.open('a.mp4').bit_rate", "python.exception",
                "its container of PyAV has no 'bit_rate': write the value into the script",
            ),
            (
                SMALL_PYAV + "av.open('a.mp4').streams.video[0].codec_context.extradata",
                "python.exception", "its stream of PyAV has no 'extradata'",
            ),
            (
                SMALL_PYAV + "av.open('a.mp4').decode(audio=0)", "python.exception",
                "IndexError: the script reads audio, and Retake sends",
            ),
            (
                SMALL_PYAV + "av.open('a.mp4').streams.video[0].skip_frame = 'NONINTRA'",
                "loop.property", "sets skip_frame to NONINTRA, and Retake knows only",
            ),
        ]:  # fmt: skip
            with self.subTest(code):
                self.check(start + script, code, text)

    def test_two_threads_that_open_a_capture_are_a_mistake_before_the_first_frame(self):
        for start, way in (("'a.mp4'", "python3 -m retake.loop --real FILE"), ("1", "the track)")):
            self.check(
                "import cv2, threading\n"
                "def read(source): cv2.VideoCapture(source).read()\n"
                f"for each in (0, {start}): threading.Thread(target=read, args=(each,)).start()\n",
                "loop.secondCapture", way,
            )

    def test_an_exception_while_a_thread_waits_for_the_first_frame_is_an_error(self):
        self.check(
            "import cv2, threading\n"
            "thread = threading.Thread(target=cv2.VideoCapture(0).read); thread.start()\n"
            "thread.join(timeout=0); raise ValueError('broken')\n",
            "python.exception", "ValueError: broken",
        )

    def test_threads_that_wait_for_the_first_frame_know_the_track_together(self):
        child = self.start(
            "import cv2, queue, threading\ncapture, sizes = cv2.VideoCapture(0), queue.Queue()\n"
            "threading.Thread(target=lambda: sizes.put(capture.get(3))).start()\n"
            "capture.read(); print('width', sizes.get())\nwhile capture.read()[0]: pass\n"
        )
        self.show(child, 0, count=1)
        self.assertEqual(self.results(child), {"stdout: width {}": 2})

    def test_a_file_that_belongs_to_the_script_is_read_as_it_is(self):
        self.opencv = SMALL_OPENCV + (
            "class VideoCapture:\n"
            "    def __init__(self, path): self.path = path\n"
            "    def read(self): return True, self.path[-8:]\n"
        )
        child = self.start(
            "import cv2, pathlib\n"
            "print(cv2.VideoCapture('clip.mp4').read()[1])\n"
            "print(cv2.VideoCapture('./clip.mp4').read()[1])\n"
            "capture = cv2.VideoCapture('yard.mp4')\n"
            "while (found := capture.read())[0]: print('level', found[1][0, 0, 0])\n",
            "--real=clip.mp4",
        )
        self.show(child, 0, level=9, count=1)
        expected = {"stdout: level {}": 9, "stdout: clip.mp4": 1, "stdout: clip.mp4#2": 2}
        self.assertEqual(self.results(child), expected)

    def test_a_file_that_is_read_again_is_a_mistake(self):
        start = "import cv2\ncapture = cv2.VideoCapture('a.mp4'); capture.get(5)\n"
        twice = "capture.read(); capture.read()\n"
        for script, code, text, count in [
            (twice + "capture.set(1, 0)", "loop.seek", "from frame 2 to 0, and Retake sends", 3),
            (
                twice + "cv2.VideoCapture('./a.mp4').read()", "loop.secondCapture",
                "reads 'a.mp4' again after 2 frames, and Retake sends each frame once: let", 3,
            ),
            (twice + "capture.set(0, 40)", "loop.seek", "from frame 2 to 1, and Retake sends", 3),
            (
                "capture.set(16, 0)", "loop.property",
                "sets CAP_PROP_CONVERT_RGB to 0, and Retake's frames are always BGR", 3,
            ),
            (
                "cv2.VideoCapture('a.mp4', 0, [16, 1, 8, -1])", "loop.property",
                "sets CAP_PROP_FORMAT to -1, and", 3,
            ),
            (twice + "capture.set(1, 0)", "loop.seek", "there: python3 -m retake.loop --may-end", 2),
            (
                "other = cv2.VideoCapture('a.mp4'); capture.read(); other.read(); capture.read()",
                "loop.secondCapture", "again after 1 frames", 2,
            ),
        ]:  # fmt: skip
            with self.subTest(script):
                child = self.start(start + script)
                for sequence in range(2 if twice in script else 1):
                    self.show(child, sequence, count=count)
                    if twice in script and sequence == 0:
                        self.results(child)
                found, message = self.error(child)
                self.assertEqual((found, child.status), (code, 2))
                self.assertIn(text, message)

    def test_a_process_that_the_script_started_gets_no_frames(self):
        start = (
            "import cv2, os, sys\ncapture = cv2.VideoCapture(0)\n{}"
            "if os.fork() == 0: capture.read()\nos.wait()\n{}"
        )
        text = "script.py started reads frames"
        self.check(start.format("capture.read()\n", "sys.exit(3)"), "loop.childProcess", text)
        # The script waits for the process, and Retake does not wait for the script.
        child = self.start(start.format("", "os.read(os.pipe()[0], 1)"), greets=False)
        self.assertTrue(child.host.is_at_end())
        os.kill(child.id, signal.SIGKILL)
        self.assertIn(text, child.output)

    def test_results_that_were_not_seen_are_an_error(self):
        script = (
            "import cv2, os, pathlib\npath = os.environ['HERE'] + '/o.csv'\n"
            "capture = cv2.VideoCapture(0)\nwhile capture.read()[0]: pass\n"
        )
        raw = "number = os.open(path, os.O_CREAT | os.O_WRONLY); os.write(number, {})"
        text = "o.csv was written, and Retake has not seen how"
        for name, write, is_error, is_noted in [
            ("by a number", raw.format("b'1'"), True, True),
            ("without a content", raw.format("b''"), False, False),
            ("by another process", "os.system('echo 1 > ' + path)", False, True),
            ("after a touch", "pathlib.Path(path).touch(); open(path, 'w').write('1')", False, False),
            ("to read", "os.system('echo 1 > ' + path); os.open(path, os.O_RDONLY)", False, True),
        ]:
            with self.subTest(name):
                child = self.start(script + write, "--results", f"{tempfile.gettempdir()}/*/o.csv")
                self.show(child, 0)
                self.results(child)
                child.host.send({"timer": 0, "nowNs": LAST_NS})
                if is_error:
                    code, message = self.error(child)
                    self.assertEqual((code, child.status), ("loop.results", 2))
                    self.assertIn(f"{text} (os.open)", message)
                else:
                    self.results(child)
                    child.reset(2)
                    child.host.bye()
                    self.assertEqual(child.status, 0)
                self.assertEqual(text in child.output, is_noted)
                self.assertEqual("move it there with os.replace" in child.output, is_noted)

    def test_a_file_of_another_process_is_a_result_once_it_is_moved_to_its_name(self):
        child = self.start(
            "import cv2, os\nos.chdir(os.environ['HERE'])\ncapture = cv2.VideoCapture(0)\n"
            "while True:\n    ok, frame = capture.read()\n    if not ok: break\n"
            "    os.system(f'echo level {frame[0, 0, 0]} > part')\n    os.replace('part', 'o.txt')\n",
            "--results", f"{tempfile.gettempdir()}/*/o.txt",
        )  # fmt: skip
        for level in (3, 9):
            self.show(child, level, level=level)
            self.assertEqual(self.results(child), {"o: level {}": level})

    def test_half_of_a_character_is_no_name(self):
        printed = '"blue", frame[0, 0, 0], "of", frame.shape[0]'
        child = self.start(LOOP.replace(printed, r"""'{"\\ud800": 1}'"""))
        self.show(child, 0)
        self.assertEqual(
            self.error(child), ("python.value", "a result of 'stdout' has half of a character")
        )

    def test_a_file_that_python_does_not_write_is_no_result(self):
        import subprocess

        found = subprocess.run(
            python("-m", "retake.loop", "--results=o.MP4", "counter.py"),
            capture_output=True, text=True,
            env={
                "PYTHONPATH": str(support.PACKAGE), "PATH": os.environ["PATH"],
                "RETAKE_PROTOCOL": "1",
            },
        )  # fmt: skip
        self.assertEqual(found.returncode, 2)
        self.assertIn("--results o.MP4: results cannot be read from a .mp4 file", found.stderr)
        self.assertIn("images by a pattern ('masks/*.png')", found.stderr)

    def test_a_script_that_reads_no_frame_does_not_begin(self):
        child = self.start("print('hello')", greets=False)
        self.assertEqual(child.status, 2)
        self.assertIn("script.py ended and read no frame: it has to open a cv2", child.output)

    def test_without_retake_it_says_what_to_type(self):
        import subprocess

        found = subprocess.run(
            python("-m", "retake.loop", "counter.py"), capture_output=True, text=True,
            env={"PYTHONPATH": str(support.PACKAGE), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        self.assertEqual(found.returncode, 64)
        self.assertIn("--program 'python3 -m retake.loop counter.py'", found.stderr)


@unittest.skipUnless(HAS_OPENCV, NO_OPENCV)
class OpenCVTests(LoopCase):
    opencv = None

    def test_the_loop_is_the_same_with_opencv(self):
        child = self.start(
            LOOP.replace("    print(", "    cv2.imshow('w', frame)\n    cv2.waitKey(30)\n    print(")
        )
        for sequence in range(3):
            self.show(child, sequence, level=sequence)
            self.assertEqual(
                self.results(child), {"stdout: blue {}": sequence, "stdout: of {}": 2}
            )
        self.assertEqual(self.finish(child), {"stdout: the end": 1})

    def rotated(self, opening):
        """The results of a script that prints the first row of a frame of a rotated track."""
        child = self.start(
            f"import cv2\n{opening}\n"
            "while (found := capture.read())[0]: print('corner', found[1][0, :, 0].tolist())"
        )
        child.host.show(
            bytes(range(12)), 0, format="RGB24", planes=[[0, 6]], nowNs=0, rotation=90
        )
        return list(self.results(child).values())

    def test_a_rotated_track_is_upright(self):
        opening = "capture = cv2.VideoCapture(0)\nprint(capture.get(3), capture.get(4))"
        self.assertEqual(self.rotated(opening), [2, 2, 8, 2])

    def test_a_track_whose_rotation_is_refused_is_not_rotated(self):
        opening = "capture = cv2.VideoCapture('a.mp4', 0, [cv2.CAP_PROP_ORIENTATION_AUTO, 0])"
        self.assertEqual(self.rotated(opening), [2, 5])


del LoopCase

if __name__ == "__main__":
    unittest.main()

"""Examples/Engines: the shards of a plan on Dask and on Ray, and the page that shows the files."""

import ast
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from test_pytest import BINARY, NO_BINARY, Project, motion

ENGINES = support.REPOSITORY / "Examples/Engines"
PAGE = support.REPOSITORY / "docs/engines.md"
SHARDS = 3
# Keys of a report that differ between two runs of the same cases.
DIFFERENT = {"cache", "framesPerSecond", "generatedAt", "wallSeconds", "workers"}

# In the place of retake: notes its arguments, and says once that a disk failed.
FAILS_ONCE = """#!/bin/sh
echo "$*" >> '{folder}/calls'
if {chosen} && mkdir '{folder}/failed' 2> '{folder}/mkdir'; then exit 75; fi
exec '{binary}' "$@"
"""

# In the place of retake: runs until a signal, whose name it sends.
UNTIL_SIGNAL = """#!{python}
import signal, socket, sys
signals = {{signal.SIGINT, signal.SIGTERM}}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
test = socket.socket(socket.AF_UNIX)
test.connect("{folder}/socket")
test.sendall(" ".join(sys.argv[1:]).encode() + b"\\n")
test.sendall(signal.sigwait(signals).name.encode())
sys.exit(130)
"""

# A cluster of Ray until the end of standard input. Ray's limit of 30 seconds for its start may be
# too short on a busy machine.
CLUSTER = """
import sys
import ray
for attempts in reversed(range(5)):
    try:
        context = ray.init(num_cpus=2)
        break
    except Exception:
        ray.shutdown()
        if not attempts:
            raise
print("cluster", context.address_info["address"], flush=True)
sys.stdin.read()
"""


def without(report, keys=DIFFERENT):
    """A report without the keys that differ between runs."""
    match report:
        case dict():
            return {key: without(value) for key, value in report.items() if key not in keys}
        case list():
            return [without(value) for value in report]
    return report


def blocks(page):
    """The fenced blocks of a page."""
    return [block.split("\n", 1)[1] for block in page.read_text().split("```")[1::2]]


@unittest.skipUnless(BINARY.exists(), NO_BINARY)
class ShardTests(unittest.TestCase):
    """A project with three cases, of which one has changed, for the tests of an engine."""

    maxDiff = 3000

    @classmethod
    def setUpClass(cls):
        # Processes of Ray still write there when their script has ended.
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.folder = Path(cls.enterClassContext(folder))
        cls.project = Project(cls.folder / "project")
        cls.project.folder.mkdir()
        for name, frames in [("yard", 12), ("gate", 8)]:
            cls.project.retake(
                "record", "synthetic:figures", "--name", name, "--speed", "max",
                "--frames", str(frames), "--size", "160x120",
            )  # fmt: skip
        for name, threshold in [("motion", 24), ("other", 20)]:
            cls.project.write(f"Pipelines/{name}.json", motion(threshold))
        cls.project.write(
            "retake.yml",
            """v: 1
cases:
  motion: {pipeline: Pipelines/motion.json}
  other: {pipeline: Pipelines/other.json}
suites:
  default:
    - {sessions: [yard], cases: [motion, other]}
    - {sessions: [gate], cases: [motion]}
""",
        )
        cls.project.retake("test", expects=3)
        cls.project.retake("accept", "--reason", "first golden")
        cls.project.write("Pipelines/other.json", motion(60))
        plan = cls.project.retake("plan", "--shards", str(SHARDS), "--json")
        cls.project.write("plan.json", plan)

        # Finds the program of a test as retake, and the packages that this process finds.
        engine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        cls.tools = cls.folder / "tools"
        cls.environment = engine | cls.project.environment(
            PATH=f"{cls.tools}:{os.environ['PATH']}", HOME=str(cls.folder), CI="true",
            PYTHONPATH=os.environ.get("PYTHONPATH", ""), PYTHONDONTWRITEBYTECODE="1",
            RAY_TMPDIR=str(cls.folder), RAY_USAGE_STATS_ENABLED="0",
            RAY_memory_monitor_refresh_ms="0", RAY_AUTH_MODE="token",
        )  # fmt: skip

    def install(self, program, chosen='[ "$4" = 2 ]'):
        """Puts a program in the place of retake."""
        shutil.rmtree(self.tools, ignore_errors=True)
        self.tools.mkdir()
        file = self.tools / "retake"
        names = {"binary": BINARY, "python": sys.executable, "chosen": chosen}
        file.write_text(program.format(folder=self.tools, **names))
        file.chmod(0o755)

    def check_report(self):
        """Compares the merged report with the report of one process."""
        alone = [BINARY, "test", "--cache", "none", "--report", "alone"]
        done = subprocess.run(
            alone, cwd=self.project.folder, env=self.environment, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        merged, alone = (
            without(json.loads((self.project.folder / name / "report.json").read_text()))
            for name in ("report", "alone")
        )
        verdicts = [case["verdict"] for case in alone["cases"]]
        self.assertEqual(sorted(verdicts), ["changed", "passed", "passed"])
        self.assertEqual(merged, alone)


class EngineTests:
    """The tests of an engine over `retake run-shard`, whose class names its `command`."""

    command: list[str]
    # The signal that ends a shard, and the exit code of an interrupted engine.
    ended_by = "SIGTERM"
    interrupted = 130

    def start(self):
        """In a group of processes, as a shell does."""
        for name in ("results", "shards"):
            shutil.rmtree(self.project.folder / name, ignore_errors=True)
        (self.project.folder / "results").mkdir()
        self.output = self.enterContext(tempfile.TemporaryFile("w+"))
        return subprocess.Popen(
            self.command, cwd=self.project.folder, env=self.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def test_a_failed_disk_is_tried_again_and_the_report_is_that_of_one_process(self):
        self.install(FAILS_ONCE)
        status = self.start().wait(support.LIMIT_SECONDS)
        # A changed result, or an engine that has not started a shard.
        self.assertEqual(status, 1, self.said())
        self.assertTrue((self.tools / "calls").exists(), self.said())
        calls = (self.tools / "calls").read_text().splitlines()
        shards = sorted(call.split()[3] for call in calls if call.startswith("run-shard"))
        self.assertEqual(shards, ["1", "2", "2", "3"])
        self.assertEqual(calls[4:], ["merge plan.json --store results --report report"])
        self.check_report()

    def test_an_interrupt_ends_the_shards_with_one_signal(self):
        self.install(UNTIL_SIGNAL)
        server = self.enterContext(socket.socket(socket.AF_UNIX))
        server.bind(str(self.tools / "socket"))
        server.listen()
        server.settimeout(1)
        engine = self.start()
        started = []
        while not started:
            with contextlib.suppress(TimeoutError):
                started.append(self.enterContext(server.accept()[0]))
            self.assertTrue(started or engine.poll() is None, self.said())
        os.killpg(engine.pid, signal.SIGINT)
        self.assertEqual(engine.wait(support.LIMIT_SECONDS), self.interrupted, self.said())
        server.setblocking(False)
        while True:
            try:
                started.append(self.enterContext(server.accept()[0]))
            except BlockingIOError:
                break
        for shard in started:
            shard.settimeout(support.LIMIT_SECONDS)
            with shard.makefile() as words:
                call, *end = words.read().split("\n")
            self.assertTrue(call.startswith("run-shard plan.json"), call)
            self.assertEqual(end, [self.ended_by])


def script(name):
    return [sys.executable, "-B", str(ENGINES / name), "plan.json", "results"]


def has(module):
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(has("distributed"), "dask is not installed")
class DaskTests(EngineTests, ShardTests):
    command = script("dask_shards.py")


@unittest.skipUnless(has("ray"), "ray is not installed")
class RayTests(EngineTests, ShardTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = cls.enterClassContext(
            subprocess.Popen(
                [sys.executable, "-B", "-c", CLUSTER], cwd=cls.folder, env=cls.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        )
        for line in cluster.stdout:
            if line.startswith("cluster "):
                cls.command = [*script("ray_shards.py"), line.split()[1]]
                return
        raise AssertionError("Ray has not started")


class BazelTests(ShardTests):
    """The script of Bazel's test, with the variables and symbolic links of Bazel."""

    def run_shard(self, index):
        package = Path(self.enterContext(tempfile.TemporaryDirectory()))
        outputs, scratch, links = (package / name for name in ("outputs", "scratch", "links"))
        for folder in (outputs, scratch):
            folder.mkdir()
        shutil.copytree(self.project.folder, links, copy_function=os.symlink)
        (links / "shard.sh").symlink_to(ENGINES / "shard.sh")
        variables = {
            "TEST_SHARD_INDEX": str(index), "TEST_TOTAL_SHARDS": "2",
            "TEST_SHARD_STATUS_FILE": str(package / "status"), "TEST_TMPDIR": str(scratch),
            "TEST_UNDECLARED_OUTPUTS_DIR": str(outputs), "XML_OUTPUT_FILE": str(package / "xml"),
        }  # fmt: skip
        done = subprocess.run(
            ["./shard.sh"], cwd=links, env=self.environment | variables,
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertTrue((package / "status").exists(), "Bazel reports a test without shards")
        self.assertIn("<testsuites", (package / "xml").read_text())
        return done.returncode, outputs / "shard.blob"

    def test_shards_have_the_verdicts_of_their_cases_and_a_failed_disk_is_tried_again(self):
        self.install(FAILS_ONCE, chosen="true")
        statuses, blobs = zip(*map(self.run_shard, (0, 1)))
        self.assertEqual(sorted(statuses), [0, 1])
        self.assertEqual(len((self.tools / "calls").read_text().splitlines()), 3)
        self.project.retake("merge", *map(str, blobs), "--report", "report", expects=1)
        self.check_report()

    def test_the_rule_names_the_script_and_the_folders_of_a_project(self):
        rule = ast.parse((ENGINES / "BUILD.bazel").read_text()).body[1].value
        named = {each.arg: ast.unparse(each.value) for each in rule.keywords}
        self.assertEqual(named["srcs"], "['shard.sh']")
        # The maximum of Bazel.
        self.assertLessEqual(int(named["shard_count"]), 50)
        for name in ("retake.yml", "Goldens/**", "Pipelines/**", "Recordings/**"):
            self.assertIn(repr(name), named["data"])


class PageTests(unittest.TestCase):
    def test_the_page_has_each_file(self):
        names = ["dask_shards.py", "ray_shards.py", "Snakefile", "BUILD.bazel", "shard.sh"]
        self.assertEqual(sorted(names + ["README.md"]), sorted(os.listdir(ENGINES)))
        shown = blocks(PAGE)
        for name in names:
            self.assertIn((ENGINES / name).read_text(), shown)


if __name__ == "__main__":
    unittest.main()

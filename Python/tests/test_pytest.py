"""The plugin of pytest, as a process that replays with the built command."""

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from dataclasses import dataclass
from pathlib import Path

import support

BINARY = Path(os.environ.get("RETAKE") or support.REPOSITORY / ".build/release/retake")
NO_BINARY = "retake is not built"
NO_PYTEST = "pytest is not installed"
NO_XDIST = "pytest-xdist is not installed"
PIPELINE = "Pipelines/{}.json"
STAGE = """
import os
import retake

@retake.stage(output="scalars", formats=["GRAY8"], name="level")
def level(frame):
    if frame.sequence == int(os.environ.get("RAISES", -1)):
        raise ValueError("wrong")
    return {"level": frame.planes[0].data[0] + int(os.environ.get("MORE", 0))}

if __name__ == "__main__":
    retake.main(level)
"""
CHECKS = r"""
import os
import pathlib
import threading

import level
import pytest
import retake as package

def test_in_process(retake, monkeypatch):
    threads = set()

    @package.stage(output="scalars", formats=["GRAY8"], name="level")
    def here(frame):
        threads.add((os.getpid(), threading.current_thread()))
        return level.level(frame)

    retake.check("yard/level", stage=here)
    assert threads == {(os.getpid(), threading.main_thread())}

def test_by_its_program(retake):
    file = pathlib.Path("level.py")
    text = file.read_text()
    file.write_text(text.replace("MORE", "LESS").replace("LESS\", 0", "LESS\", 9"))
    with pytest.raises(pytest.fail.Exception, match="changed  yard/level .*stage level"):
        retake.check("yard/level")
    file.write_text(text)

def test_another_pipeline(retake):
    retake.check("yard", pipeline="Pipelines/level.json", stage=[level.level])

def test_raises(retake, monkeypatch):
    monkeypatch.setenv("RAISES", "3")
    retake.check("yard/level", stage=level.level)

def test_no_such_case(retake):
    retake.check("yard/levl", stage=level.level)

def test_several_cases(retake):
    retake.check("yard", stage=level.level)

def test_no_such_program(retake):
    @package.stage(output="scalars")
    def other(frame):
        return {}

    retake.check("yard/level", stage=other)

def test_skips_inside(retake):
    @package.stage(output="scalars", name="level")
    def skips(frame):
        pytest.skip("inside")

    retake.check("yard/level", stage=skips)

def test_all_of_a_session(retake):
    retake.check("gate")

def test_tidy(retake):
    assert "RETAKE_STAGE_SOCKET" not in os.environ
"""


@functools.cache
def interpreter():
    """A Python with pytest and, if there is one, with xdist: this one, or the system's."""
    found = None
    for path in (sys.executable, "/usr/bin/python3"):
        for modules in ("pytest, xdist", "pytest"):
            command = [path, "-c", f"import sys, {modules}; sys.exit(sys.version_info < (3, 11))"]
            if os.path.exists(path) and not subprocess.run(command, stderr=-3).returncode:
                if "xdist" in modules:
                    return path, True
                found = found or (path, False)
    return found


def motion(threshold):
    """A pipeline with a motion detector."""
    return json.dumps({
        "v": 1, "name": "motion",
        "nodes": [
            {"id": "camera", "kind": "session"},
            {"id": "motion", "kind": "motion", "options": {"threshold": threshold}},
            {"id": "boxes", "kind": "results", "precision": {"box": 0.1, "score": 0.01}},
        ],
        "edges": [{"from": "camera", "to": "motion"}, {"from": "motion", "to": "boxes"}],
    })  # fmt: skip


LEVEL = json.dumps({
    "v": 1, "name": "level",
    "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "level", "kind": "process",
         "options": {"command": ["python3", "level.py"], "output": "scalars", "instances": 2}},
        {"id": "values", "kind": "results", "precision": {"scalar": 0.1}},
    ],
    "edges": [{"from": "camera", "to": "level"}, {"from": "level", "to": "values"}],
})  # fmt: skip


@dataclass
class Result:
    """A run of pytest."""

    status: int
    output: str
    outcomes: dict[str, str]
    """`passed`, `failed`, `error`, `skipped` or `xfailed`, by the test's name."""
    messages: dict[str, str]
    properties: dict[str, dict[str, str]]


class Project:
    """A folder with a retake.yml."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def environment(self, **changes):
        kept = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("RETAKE_", "PYTEST_", "PYTHON", "GITHUB_")) and name != "CI"
        }  # fmt: skip
        return kept | {
            "PYTHONPATH": str(support.PACKAGE), "RETAKE": str(BINARY),
            "RETAKE_CACHE_KEY": "the key of all projects of tests",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "400",
        } | changes  # fmt: skip

    def retake(self, *arguments, expects=0):
        done = subprocess.run(
            [BINARY, *arguments], cwd=self.folder, env=self.environment(),
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != expects:
            raise AssertionError(f"{done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def verdicts(self, expects=0):
        """The verdicts of `retake test` in this folder."""
        report = json.loads(self.retake("test", "--json", expects=expects))
        return {f"{case['session']}/{case['case']}": case["verdict"] for case in report["cases"]}

    def pytest(self, *arguments, folder="", typed="", **changes):
        file = self.folder / "junit.xml"
        file.unlink(missing_ok=True)
        python, _ = interpreter()
        environment = self.environment(**changes)
        environment = {name: value for name, value in environment.items() if value is not None}
        done = subprocess.run(
            [python, "-m", "pytest", "-p", "retake.pytest_plugin", f"--junitxml={file}",
             *map(str, arguments)],
            cwd=self.folder / folder, env=environment, input=typed,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        result = Result(done.returncode, done.stdout, {}, {}, {})
        for case in xml.etree.ElementTree.parse(file).iter("testcase") if file.exists() else []:
            name = case.get("name")
            told = [child for child in case if child.tag in ("failure", "error", "skipped")]
            result.outcomes[name] = _outcome(told)
            result.messages[name] = "\n".join(f"{e.get('message')}\n{e.text}" for e in told)
            result.properties[name] = {e.get("name"): e.get("value") for e in case.iter("property")}
        return result


def _outcome(told):
    if not told:
        return "passed"
    if told[0].get("type") == "pytest.xfail":
        return "xfailed"
    return {"failure": "failed", "error": "error", "skipped": "skipped"}[told[0].tag]


@unittest.skipUnless(interpreter(), NO_PYTEST)
@unittest.skipUnless(BINARY.exists(), NO_BINARY)
class PytestTests(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Two sessions, cases of both kinds, and their goldens."""
        cls.base = Project(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for name, frames in [("yard", 12), ("gate", 8)]:
            cls.base.retake(
                "record", "synthetic:figures", "--name", name, "--speed", "max",
                "--frames", str(frames), "--size", "160x120",
            )  # fmt: skip
        cls.base.write("level.py", STAGE)
        cls.base.write(PIPELINE.format("level"), LEVEL)
        cls.base.write(PIPELINE.format("motion"), motion(24))
        cls.base.write(PIPELINE.format("other"), motion(20))
        cls.base.write(
            "retake.yml",
            """v: 1
allow: {processes: [python3]}
cases:
  motion: {pipeline: Pipelines/motion.json}
  other: {pipeline: Pipelines/other.json}
  level: {pipeline: Pipelines/level.json}
suites:
  default:
    - {sessions: [yard], cases: [motion, other, level]}
    - {sessions: [gate], cases: [motion]}
  small:
    - {sessions: [gate], cases: [motion]}
""",
        )
        cls.base.retake("test", expects=3)
        cls.base.retake("accept", "--reason", "first golden")

    def project(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        return Project(shutil.copytree(self.base.folder, folder, dirs_exist_ok=True))

    def test_each_verdict_has_an_outcome_and_the_next_command(self):
        project = self.project()
        golden = project.folder / "Goldens/yard"
        shutil.copytree(golden / "other", golden / "old")
        shutil.rmtree(golden / "level")
        project.write(PIPELINE.format("motion"), motion(200))
        known = project.folder / "Goldens/gate/motion/golden.yml"
        known.write_text(known.read_text() + "expected:\n  - {id: darker, frames: 0..100}\n")
        project.write(PIPELINE.format("other"), "{")
        verdicts = project.verdicts(expects=2)
        self.assertEqual(
            verdicts,
            {
                "yard/motion": "changed", "yard/other": "errored", "yard/level": "missing",
                "yard/old": "stale", "gate/motion": "changed",
            },
        )  # fmt: skip
        result = project.pytest(GITHUB_ACTIONS="true")
        self.assertEqual(result.status, 1)
        self.assertEqual(
            result.outcomes,
            {
                "yard/motion": "failed", "yard/other": "error", "yard/level": "failed",
                "yard/old": "skipped", "gate/motion": "xfailed",
            },
            result.output,
        )  # fmt: skip
        changed = result.messages["yard/motion"]
        self.assertRegex(changed, r"changed  yard/motion  first divergence at frame 0:\d+ ")
        self.assertIn("stage motion: output differs while its inputs are equal", changed)
        self.assertIn("motion.threshold: 24 → 200", changed)
        self.assertIn("retake replay yard --pipeline motion\n", changed)
        self.assertIn('retake accept yard/motion --reason "why it is right"', changed)
        self.assertIn("report: .pytest_cache/d/retake/", changed)
        self.assertIn('retake accept yard/level --reason "', result.messages["yard/level"])
        self.assertIn("Pipelines/other.json", result.messages["yard/other"])
        self.assertIn("known as darker", result.messages["gate/motion"])
        self.assertIn("retake golden list --stale --remove", result.messages["yard/old"])
        self.assertNotIn("Traceback", result.output)
        self.check_report(project, result.properties["yard/motion"])
        in_ci = project.pytest("-k", "old or motion", CI="true")
        self.assertEqual(
            in_ci.outcomes,
            {"yard/motion": "failed", "yard/old": "failed", "gate/motion": "xfailed"},
        )
        self.assertIn("Then accept it there", in_ci.messages["yard/motion"])

    def check_report(self, project, properties):
        page = Path(properties["retake_report"])
        self.assertTrue(page.is_relative_to(project.folder.resolve() / ".pytest_cache"), page)
        self.assertIn("yard/motion", page.read_text())
        self.assertTrue((project.folder / ".pytest_cache/.gitignore").exists())
        self.assertEqual(Path(properties["retake_frame"]).read_bytes()[:4], b"\x89PNG")
        self.assertEqual(Path(properties["retake_frame"]).parent, page.parent)

    def test_a_case_that_passes_again_has_no_report(self):
        project = self.project()
        project.write(PIPELINE.format("motion"), motion(200))
        failed = project.pytest("-k", "yard/motion")
        page = Path(failed.properties["yard/motion"]["retake_report"])
        self.assertTrue(page.exists())
        project.write(PIPELINE.format("motion"), motion(24))
        self.assertEqual(project.pytest("--lf").outcomes, {"yard/motion": "passed"})
        self.assertFalse(page.parent.exists())
        project.write(PIPELINE.format("motion"), motion(200))
        without = project.pytest("-k", "yard/motion", "-p", "no:cacheprovider")
        self.assertEqual(without.outcomes, {"yard/motion": "failed"})
        self.assertEqual(without.properties, {"yard/motion": {}})

    def test_accepting_makes_the_run_pass(self):
        project = self.project()
        project.write(PIPELINE.format("motion"), motion(200))
        refused = project.pytest("--retake-accept", "darker", CI="true")
        self.assertEqual(set(refused.outcomes.values()), {"passed", "failed"})
        self.assertIn("no golden can be accepted in CI", refused.messages["yard/motion"])
        accepted = project.pytest("--retake-accept", "darker scenes")
        self.assertEqual(set(accepted.outcomes.values()), {"passed"}, accepted.output)
        self.assertEqual(len(accepted.outcomes), 4)
        self.assertIn("accepted  yard/motion  changed", accepted.output)
        golden = (project.folder / "Goldens/yard/motion/golden.yml").read_text()
        self.assertIn("darker scenes", golden)
        self.assertEqual(set(project.verdicts().values()), {"passed"})

    def test_cases_are_chosen_as_other_tests_are(self):
        project = self.project()
        project.write(PIPELINE.format("motion"), motion(200))
        first = project.pytest("-x")
        self.assertEqual(first.outcomes, {"yard/motion": "failed"})
        one = project.pytest("retake.yml::gate/motion")
        self.assertEqual(one.outcomes, {"gate/motion": "failed"})
        small = project.pytest("--retake-suite", "small")
        self.assertEqual(set(small.outcomes), {"gate/motion"})
        self.assertEqual(project.pytest("-m", "not retake").status, 5)
        misspelt = project.pytest("--retake-suite", "smal")
        self.assertEqual(misspelt.status, 2)
        self.assertIn("Did you mean 'small'?", misspelt.output)

    def test_the_project_may_be_in_another_folder(self):
        project = self.project()
        project.write("unit/test_one.py", "def test_one(retake): retake.check('gate/motion')\n")
        for folder, arguments in [("unit", ["--retake-project", ".."]), ("", [])]:
            result = project.pytest(*arguments, folder=folder)
            self.assertEqual(
                set(result.outcomes),
                {"test_one", "yard/motion", "yard/other", "yard/level", "gate/motion"},
            )
            self.assertEqual(set(result.outcomes.values()), {"passed"}, result.output)
        both = project.pytest("--retake-project", ".", "-k", "one or gate")
        self.assertEqual(both.outcomes, {"test_one": "passed", "gate/motion": "passed"})
        self.assertIn("2 passed, 3 deselected", both.output)
        wrong = project.pytest("--retake-project", "unit")
        self.assertEqual(wrong.status, 4)
        self.assertIn("retake init", wrong.output)
        project.write("retake.yml", "v: 1\n")
        self.assertEqual(project.pytest("--co").status, 0)

    def test_the_command_is_found_or_the_way_to_it_is_told(self):
        project = self.project()
        missing = project.pytest(RETAKE=None, PATH="/nowhere")
        self.assertEqual(missing.status, 2)
        self.assertIn("the command 'retake' is not in PATH", missing.output)
        self.assertIn("RETAKE=/path/to/retake pytest", missing.output)
        self.assertNotIn("Traceback", missing.output)
        wrong = project.pytest(RETAKE="./nothing")
        self.assertIn("cannot run './nothing'", wrong.output)
        (project.folder / "bin").mkdir()
        (project.folder / "bin/own").symlink_to(BINARY.resolve())
        project.write("pytest.ini", "[pytest]\nretake_program = bin/own\n")
        project.write("unit/test_one.py", "def test_one(retake): retake.check('gate/motion')\n")
        named = project.pytest(RETAKE=None, folder="unit")
        self.assertEqual(named.outcomes, {"test_one": "passed"}, named.output)

    def test_a_stage_is_computed_in_the_process_of_the_test(self):
        project = self.project()
        project.write("test_level.py", CHECKS)
        result = project.pytest("test_level.py")
        failed = {"test_raises", "test_no_such_case", "test_several_cases", "test_no_such_program"}
        self.assertEqual(
            {name for name, outcome in result.outcomes.items() if outcome == "failed"},
            failed,
            result.output,
        )
        self.assertEqual(result.outcomes.pop("test_skips_inside"), "skipped")
        self.assertEqual(len(result.outcomes) - len(failed), 5)
        raised = result.messages["test_raises"]
        self.assertIn("stage level: output differs", raised)
        self.assertIn("a stage raised at frame 0:3:\nTraceback", raised)
        self.assertIn('raise ValueError("wrong")\nValueError: wrong\n', raised)
        self.assertNotIn("retake/_", raised)
        self.assertIn("retake accept yard/level", raised)
        self.assertIn("there is no case 'levl'", result.messages["test_no_such_case"])
        self.assertIn("Did you mean 'level'?", result.messages["test_no_such_case"])
        self.assertIn(
            'retake.check("yard/motion", stage=…), retake.check("yard/other", stage=…)',
            result.messages["test_several_cases"],
        )
        self.assertIn(
            "no program for the stage 'other' (for other stages: 'level')",
            result.messages["test_no_such_program"],
        )

    def test_breakpoints_in_a_stage_stop_in_the_test(self):
        project = self.project()
        project.write(
            "test_level.py",
            """
import level
import retake as package

def test_level(retake):
    @package.stage(output="scalars", formats=["GRAY8"], name="level")
    def stops(frame):
        if frame.sequence == 2:
            breakpoint()
        return level.level(frame)

    retake.check("yard/level", stage=stops)
""",
        )
        result = project.pytest("test_level.py", typed='p f"frame {frame.sequence} here"\nc\n')
        self.assertEqual(result.outcomes, {"test_level": "passed"}, result.output)
        self.assertIn("'frame 2 here'", result.output)

    def test_pytest_html_is_given_the_report_and_the_frame(self):
        project = self.project()
        project.write(PIPELINE.format("motion"), motion(200))
        project.write(
            "conftest.py",
            """
import sys, types
import pytest

html = types.ModuleType("pytest_html")
html.extras = types.SimpleNamespace(
    url=lambda content, name: ("url", name, content), png=lambda content, name: ("png", name))
sys.modules["pytest_html"] = html

class Html:
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        for extra in getattr(report, "extras", []):
            print("EXTRA", *extra)

def pytest_configure(config):
    config.pluginmanager.register(Html(), "html")
""",
        )
        result = project.pytest("-s", "-k", "yard/motion")
        lines = [line for line in result.output.splitlines() if "EXTRA" in line]
        self.assertEqual(len(lines), 2, result.output)
        self.assertRegex(lines[0], r"EXTRA url Retake report file:///.*/report.html$")
        self.assertIn("EXTRA png Frame", lines[1])


@unittest.skipUnless(interpreter(), NO_PYTEST)
@unittest.skipUnless(interpreter() is None or interpreter()[1], NO_XDIST)
@unittest.skipUnless(BINARY.exists(), NO_BINARY)
class ParallelTests(unittest.TestCase):
    """Thirty cases on the beginning of two of the repository's recordings, with xdist."""

    def test_two_processes_find_the_one_regression_that_retake_test_finds(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        project = Project(folder)
        (project.folder / "Recordings").mkdir()
        for name in ["finder", "pulse"]:
            session = str(support.REPOSITORY / "Recordings" / name)
            project.retake(
                "session", "trim", session, "--to", "600ms", "--into", "Recordings", "--name", name
            )
        names = [f"motion-{number:02}" for number in range(16)]
        for number, name in enumerate(names):
            project.write(PIPELINE.format(name), motion(16 + number))
        cases = "".join(f"  {name}: {{pipeline: Pipelines/{name}.json}}\n" for name in names)
        project.write(
            "retake.yml",
            f"v: 1\ncases:\n{cases}suites:\n  default:\n"
            f"    - {{sessions: [finder, pulse], cases: [{', '.join(names[:14])}]}}\n"
            f"    - {{sessions: [finder], cases: [{', '.join(names[14:])}]}}\n",
        )
        project.retake("test", expects=3)
        project.retake("accept", "--reason", "first golden")
        project.write(PIPELINE.format(names[15]), motion(160))
        verdicts = project.verdicts(expects=1)
        self.assertEqual(len(verdicts), 30)
        result = project.pytest("-p", "xdist", "-n", "2")
        self.assertIn("gw1", result.output)
        expected = {
            key: {"passed": "passed", "changed": "failed"}[verdict]
            for key, verdict in verdicts.items()
        }
        self.assertEqual(result.outcomes, expected, result.output)
        red = [key for key, outcome in result.outcomes.items() if outcome == "failed"]
        self.assertEqual(red, ["finder/motion-15"])
        self.assertIn("stage motion", result.messages[red[0]])
        accepted = project.pytest("-p", "xdist", "-n", "2", "--lf", "--retake-accept", "better")
        self.assertEqual(accepted.outcomes, {red[0]: "passed"}, accepted.output)
        self.assertIn("accepted  finder/motion-15", accepted.output)


if __name__ == "__main__":
    unittest.main()

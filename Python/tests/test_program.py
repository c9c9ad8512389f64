"""Stages as programs, started as Retake starts them: files 3 and 4, and what they print."""

import pathlib
import signal
import subprocess
import tempfile
import unittest

import support
from support import Child, python

PROGRAM = """
import os, subprocess, sys
import retake

print("starting")

@retake.stage(output="scalars")
def stage(frame, options):
    match frame.sequence:
        case 1: print("printed")
        case 3: os.write(1, b"raw\\n"); os.write(2, b"to errors\\n")
        case 4: raise ValueError("wrong")
        case 5: sys.exit(3)
        case 6: os.abort()
        case 7: raise MemoryError
        case 8: subprocess.run(["echo", "a child"]); assert sys.stdin.read() == ""
        case 9: return {"open": sum(is_open(n) for n in (3, 4))}
    return {"first": frame.planes[0].data[0]}

def is_open(number):
    code = "import os, sys; os.fstat(int(sys.argv[1]))"
    return subprocess.run(
        [sys.executable, "-c", code, str(number)], stderr=subprocess.DEVNULL, close_fds=False
    ).returncode == 0

if __name__ == "__main__":
    retake.main(stage)
    print("ended")
"""


@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class ProgramTests(unittest.TestCase):
    def start(self, source=PROGRAM, **keys):
        child = Child(python("-c", source), **keys)
        self.enterContext(child)
        child.host.hello(output="scalars")
        return child

    def started(self, **keys):
        child = self.start(**keys)
        self.assertEqual(child.host.receive()["ready"]["name"], "stage")
        return child

    STAGE = (
        "import helper, retake\n"
        "@retake.stage(output='scalars', fingerprint='mine')\n"
        "def stage(frame): return {}\n"
        "retake.main(stage)\n"
    )

    def said(self, command, **keys):
        """The fingerprint and the modules that a program declares."""
        with Child(command, **keys) as child:
            child.host.hello(output="scalars")
            ready = child.host.receive()["ready"]
        return ready["fingerprint"], ready.get("modules", {})

    def test_a_changed_module_changes_the_fingerprint_wherever_it_is(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        other = folder / "other"
        other.mkdir()
        for place in [folder, other]:
            (folder / "stage.py").write_text(f"import sys\nsys.path.append({str(other)!r})\n" + self.STAGE)
            found = []
            for text in ["VALUE = 1\n", "VALUE = 7\n", "VALUE = 1\n"]:
                (place / "helper.py").write_text(text)
                found.append(self.said(python(str(folder / "stage.py"))))
            self.assertRegex(found[0][0], r"^mine modules:[0-9a-f]{64}$")
            self.assertEqual(found[0], found[2])
            self.assertNotEqual(found[0], found[1])
            self.assertEqual(set(found[0][1]), {str(place / "helper.py"), str(folder / "stage.py")})
            (place / "helper.py").unlink()

    def test_modules_have_their_real_paths(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        for name in ("real", "kept"):
            (folder / name).mkdir()
        (folder / "kept" / "own.py").write_text("VALUE = 1\n")
        (folder / "real" / "helper.py").symlink_to("../kept/own.py")
        (folder / "real" / "stage.py").write_text(self.STAGE)
        (folder / "link").symlink_to("real")
        _, modules = self.said(python(str(folder / "link" / "stage.py")))
        self.assertEqual(
            set(modules), {str(folder / "kept" / "own.py"), str(folder / "real" / "stage.py")}
        )

    def test_a_changed_module_that_is_imported_later_changes_the_fingerprint(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        (folder / "parts" / "deep").mkdir(parents=True)
        for name in ["parts/__init__.py", "parts/deep/__init__.py", "parts/deep/two.py"]:
            (folder / name).write_text("raise RuntimeError('imported too early')\n")
        (folder / "helper.py").write_text("def late():\n    from parts import one\n")
        (folder / "parts" / "one.py").write_text("from .deep import two\nimport missing, json\n")
        (folder / "stage.py").write_text(self.STAGE)
        first, modules = self.said(python(str(folder / "stage.py")))
        self.assertEqual(
            {str(pathlib.Path(path).relative_to(folder)) for path in modules},
            {
                *("stage.py", "helper.py", "parts/__init__.py", "parts/one.py"),
                *("parts/deep/__init__.py", "parts/deep/two.py"),
            },
        )
        (folder / "parts" / "deep" / "two.py").write_text("VALUE = 2\n")
        self.assertNotEqual(self.said(python(str(folder / "stage.py")))[0], first)

    def test_a_changed_script_changes_the_fingerprint_however_it_is_started(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "helper.py").write_text("")
        script = folder / "stage.py"
        for command in [["/bin/bash", "-c", f"exec {python()[0]} {script}"], python(str(script))]:
            found = []
            for text in ["", "# changed\n"]:
                script.write_text(self.STAGE + text)
                found.append(self.said(command)[0])
            self.assertNotEqual(found[0], found[1])

    def test_a_module_without_a_file_and_installed_modules_change_nothing(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        installed = folder / "site-packages"
        installed.mkdir()
        (installed / "helper.py").write_text("")
        source = (
            "import sys, types\n"
            f"sys.path.append({str(installed)!r})\n"
            "sys.modules['made'] = types.ModuleType('made')\n"
            "sys.modules['made'].__file__ = '<made.in.memory>'\n"
        )
        # Code of the command line is no file.
        self.assertEqual(self.said(python("-c", source + self.STAGE)), ("mine", {}))

    def test_a_program_computes_until_bye(self):
        child = self.started(slots=2)
        for sequence in range(10, 300):
            child.host.show(bytes([sequence % 256]) * 4, sequence, slot=sequence % 2)
            self.assertEqual(
                child.host.receive(),
                {
                    "sequence": sequence,
                    "value": {"scalars": [{"name": "first", "value": sequence % 256}]},
                },
            )
        child.host.bye()
        self.assertTrue(child.host.is_at_end())
        self.assertEqual(child.status, 0)
        self.assertEqual(child.output, "starting\nended\n")

    def test_the_end_of_the_stream_is_a_bye(self):
        child = self.started()
        child.host.socket.close()
        self.assertEqual(child.status, 0)

    def test_what_is_printed_is_no_part_of_the_conversation(self):
        child = self.started()
        for sequence in [1, 3, 8]:
            self.assertEqual(child.host.ask(sequence=sequence)["sequence"], sequence)
        child.host.bye()
        self.assertEqual(child.status, 0)
        self.assertEqual(child.output, "starting\nprinted\nraw\nto errors\na child\nended\n")

    def test_programs_that_the_stage_starts_do_not_get_the_files(self):
        child = self.started()
        self.assertEqual(
            child.host.ask(sequence=9)["value"], {"scalars": [{"name": "open", "value": 0}]}
        )

    def test_an_exception_is_printed_and_answered(self):
        child = self.started()
        error = child.host.ask(sequence=4)["error"]
        self.assertRegex(error["message"], r"^ValueError: wrong \(<string>:\d+ in stage\)$")
        self.assertIn("value", child.host.ask(sequence=10))
        child.host.bye()
        self.assertIn("Traceback (most recent call last)", child.output)

    def test_an_exit_is_not_answered(self):
        for sequence, status in [(5, 3), (6, -signal.SIGABRT), (7, 1)]:
            with self.subTest(sequence):
                child = self.started()
                child.host.show(b"\0\0\0\0", sequence)
                self.assertTrue(child.host.is_at_end())
                self.assertEqual(child.status, status)
                self.assertIn("starting\n", child.output)

    def test_the_output_must_be_that_of_the_stage(self):
        child = Child(python("-c", PROGRAM))
        self.enterContext(child)
        child.host.hello(output="classes")
        self.assertTrue(child.host.is_at_end())
        self.assertEqual(child.status, 2)
        self.assertIn(
            "retake: the stage 'stage' returns scalars, and the output of the node is classes",
            child.output,
        )

    def test_a_class_that_cannot_be_made_ends_the_program(self):
        child = self.start(
            "import retake\n"
            "@retake.stage(output='scalars')\n"
            "class Model:\n"
            "    def __init__(self): raise OSError('no model here')\n"
            "    def process(self, frame): return {}\n"
            "retake.main(Model)\n"
        )
        self.assertTrue(child.host.is_at_end())
        self.assertNotEqual(child.status, 0)
        self.assertIn("no model here", child.output)

    def test_memory_that_is_too_small_is_refused(self):
        child = Child(python("-c", PROGRAM))
        self.enterContext(child)
        child.host.hello(output="scalars", slotBytes=1 << 40)
        self.assertTrue(child.host.is_at_end())
        self.assertEqual(child.status, 2)
        self.assertIn("do not fit", child.output)

    def test_numpy_is_not_needed(self):
        hidden = "import sys\nsys.modules['numpy'] = None\n"
        child = self.start(hidden + PROGRAM)
        child.host.receive()
        self.assertEqual(child.host.ask(b"\5\0\0\0")["value"]["scalars"][0]["value"], 5)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_arrays_read_the_memory_of_the_host(self):
        child = self.start(
            "import retake\n"
            "@retake.stage(output='scalars', formats=['RGB24'])\n"
            "def stage(frame):\n"
            "    assert not frame.array.flags.writeable\n"
            "    return {'sum': frame.array[1:, :, 2].sum()}\n"
            "retake.main(stage)\n"
        )
        child.host.receive()
        pixels = bytes(range(2 * 2 * 3))
        reply = child.host.ask(pixels, format="RGB24", planes=[[0, 6]])
        self.assertEqual(reply["value"]["scalars"], [{"name": "sum", "value": 8 + 11}])

    def test_without_a_host_the_program_says_what_it_is(self):
        environment = {"PYTHONPATH": str(support.PACKAGE)}
        result = subprocess.run(
            python("-c", PROGRAM), env=environment, capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 64)
        self.assertIn("computes the stage 'stage' for Retake", result.stderr)
        self.assertIn('"kind": "process"', result.stderr)

    def test_files_that_are_not_those_of_a_host(self):
        environment = {"PYTHONPATH": str(support.PACKAGE), "RETAKE_PROTOCOL": "1"}
        result = subprocess.run(
            python("-c", PROGRAM), env=environment, capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("retake: ", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()

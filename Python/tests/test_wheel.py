"""The wheel that Scripts/wheel writes."""

import base64
import hashlib
import json
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

import support
from support import python

INSIDE = """
import importlib.metadata, json, sys
sys.path.insert(0, sys.argv[1])
import retake
found = importlib.metadata.distribution("retake-harness")
(plugin,) = found.entry_points.select(group="pytest11")
print(json.dumps([retake.__file__, found.version, plugin.value, found.requires,
                  found.metadata["Requires-Python"], found.metadata.get_payload()]))
"""


class WheelTests(unittest.TestCase):
    def wheel(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        made = subprocess.run(
            python(str(support.REPOSITORY / "Scripts/wheel"), folder),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        path = Path(made.stdout.strip())
        self.assertEqual(list(Path(folder).iterdir()), [path])
        return path

    def test_a_python_without_the_sources_finds_the_package_and_the_plugin(self):
        wheel = self.wheel()
        self.assertRegex(wheel.name, r"^retake_harness-[0-9.]+-py3-none-any\.whl$")
        told = subprocess.run(
            python("-I", "-c", INSIDE, str(wheel)), capture_output=True, text=True, check=True
        )
        file, version, plugin, needs, oldest, readme = json.loads(told.stdout)
        self.assertTrue(file.startswith(str(wheel)))
        self.assertEqual(wheel.name, f"retake_harness-{version}-py3-none-any.whl")
        self.assertEqual(plugin, "retake.pytest_plugin")
        self.assertEqual(needs, ['numpy; extra == "numpy"'])
        self.assertEqual(oldest, ">=3.11")
        self.assertEqual(readme, (support.PACKAGE / "README.md").read_text())

    def test_it_has_every_module_and_records_every_file(self):
        with zipfile.ZipFile(self.wheel()) as archive:
            names = archive.namelist()
            (record,) = [name for name in names if name.endswith("/RECORD")]
            lines = archive.read(record).decode().splitlines()
            for line in lines:
                name, digest, size = line.split(",")
                if name == record:
                    continue
                data = archive.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                self.assertEqual(digest, "sha256=" + expected.decode().rstrip("="))
                self.assertEqual(int(size), len(data))
        self.assertEqual([line.split(",")[0] for line in lines], names)
        files = (support.PACKAGE / "retake").rglob("*.py")
        modules = {str(file.relative_to(support.PACKAGE)) for file in files}
        self.assertGreater(len(modules), 10)
        packaged = {name for name in names if name.startswith("retake/")}
        self.assertEqual(packaged, modules | {"retake/py.typed"})

    def test_the_same_sources_give_the_same_bytes(self):
        self.assertEqual(self.wheel().read_bytes(), self.wheel().read_bytes())


if __name__ == "__main__":
    unittest.main()

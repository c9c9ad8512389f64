"""What the documentation shows: Examples/PythonStage, and the Python blocks of the pages."""

import ast
import json
import random
import re
import unittest

import support
from support import Child, python, served

EXAMPLE = support.REPOSITORY / "Examples/PythonStage"
PROTOCOL = "docs/formats/stage-protocol.md"
PROTOCOL_EXAMPLE = "docs/formats/stage-example.md"
PROGRAMS = "docs/formats/program-protocol.md"
PAGES = [
    "docs/python.md",
    "docs/pytest.md",
    "docs/programs.md",
    "docs/loops.md",
    PROTOCOL_EXAMPLE,
    PROGRAMS,
    "Python/README.md",
]


def blocks(page, language):
    """The fenced blocks of a page in that language; "" is the output of programs."""
    found, block = [], None
    for line in (support.REPOSITORY / page).read_text().splitlines(keepends=True):
        if not line.startswith("```"):
            if block is not None:
                block[1].append(line)
        elif block is None:
            block = (line[3:].strip(), [])
        else:
            found.append(block)
            block = None
    return ["".join(lines) for name, lines in found if name == language]


def flooded(rows, above, least):
    """The boxes of bright areas, found pixel by pixel."""
    bright = {
        (x, y) for y, row in enumerate(rows) for x, level in enumerate(row) if level > above
    }
    found = []
    while bright:
        area, waiting = set(), [bright.pop()]
        while waiting:
            x, y = waiting.pop()
            area.add((x, y))
            near = {(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & bright
            bright -= near
            waiting += near
        if len(area) >= least:
            left, top = min(x for x, _ in area), min(y for _, y in area)
            width = max(x for x, _ in area) + 1 - left
            height = max(y for _, y in area) + 1 - top
            found.append((left, top, width, height, len(area) / (width * height)))
    return sorted(found)


@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class PythonStageTests(unittest.TestCase):
    def test_bright_areas_are_those_of_a_flood(self):
        draw = random.Random(7)
        options = {"above": 150, "least": 3}
        with Child(python(str(EXAMPLE / "bright.py"))) as child:
            ready = child.host.greet(options=options)
            self.assertEqual((ready["formats"], ready["classNames"]), (["GRAY8"], ["bright"]))
            count = 0
            for sequence in range(60):
                width, height = draw.randint(1, 40), draw.randint(1, 30)
                stride = width + draw.randint(0, 3)
                share = draw.random()
                pixels = bytes(
                    draw.randint(151, 255) if draw.random() < share else draw.randint(0, 150)
                    for _ in range(stride * height)
                )
                reply = child.host.ask(
                    pixels, sequence, width=width, height=height, planes=[[0, stride]]
                )
                rows = [pixels[y * stride : y * stride + width] for y in range(height)]
                expected = flooded(rows, **options)
                found = [(*e["box"], e["score"]) for e in reply["value"]["detections"]]
                self.assertEqual(sorted(found), expected)
                count += len(found)
            child.host.bye()
            self.assertEqual((child.status, child.output), (0, ""))
        self.assertGreater(count, 60)

    def test_the_document_starts_what_the_folder_has(self):
        document = json.loads((EXAMPLE / "pipeline.json").read_text())
        (node,) = [node for node in document["nodes"] if node["kind"] == "process"]
        program, script = node["options"]["command"]
        self.assertTrue((EXAMPLE / script).is_file())
        project = (EXAMPLE / "retake.yml").read_text()
        self.assertIn(f"allow: {{processes: [{program}]}}", project)
        self.assertEqual(node["options"]["output"], "detections")


class PageTests(unittest.TestCase):
    def test_python_on_the_pages_is_python(self):
        for page in PAGES:
            found = blocks(page, "python")
            self.assertGreater(len(found), 0, page)
            for block in found:
                with self.subTest(page):
                    ast.parse(block)

    def test_the_test_on_the_page_is_that_of_the_example(self):
        (block,) = blocks("docs/pytest.md", "python")
        file = support.REPOSITORY / "Examples/PythonFaces/test_faces.py"
        self.assertEqual(block, file.read_text())

    def test_options_of_pytest_on_the_page_are_those_of_the_plugin(self):
        plugin = (support.PACKAGE / "retake/pytest_plugin.py").read_text()
        options = set(re.findall(r'"(--retake-[a-z-]+)"', plugin))
        self.assertGreater(len(options), 2)
        page = (support.REPOSITORY / "docs/pytest.md").read_text()
        self.assertEqual(set(re.findall(r"--retake-[a-z-]+", page)), options)
        (settings,) = blocks("docs/pytest.md", "ini")
        (key,) = re.findall(r"^(\w+) =", settings, re.MULTILINE)
        self.assertIn(f'"{key}",', plugin)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_the_stage_that_remembers_is_one(self):
        (source,) = [b for b in blocks("docs/python.md", "python") if "class Change" in b]
        names = {}
        exec(source, names)
        with served(names["Change"]) as host:
            host.greet(output="scalars", options={"step": 2})
            for run in (1, 2):
                host.send({"reset": run})
                host.receive()
                values = [
                    host.ask(bytes([level, 0, 0, 0]), sequence)["value"]["scalars"]
                    for sequence, level in enumerate([250, 50, 80])
                ]
                found = [[(e["name"], e["value"]) for e in value] for value in values]
                self.assertEqual(found, [[("change", 0)], [("change", 200)], [("change", 30)]])

    def test_every_value_of_the_protocol_is_in_the_package(self):
        import retake._frame
        import retake._values

        text = (support.REPOSITORY / PROTOCOL).read_text()
        formats = re.findall(r"`([A-Z0-9]+)`", text.split("## Pixels")[1].split("##")[0])
        # The page names all formats with 8 bits of the first table, and examples of the others.
        self.assertGreater(len(set(formats)), 8)
        self.assertEqual(set(formats) - set(retake._frame.FORMATS), set())
        outputs = re.findall(r"^\| `(\w+)` \| `\{", text, re.MULTILINE)
        self.assertEqual(outputs, list(retake._values.OUTPUTS))

    @unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
    def test_the_conversation_of_the_protocol_is_that_of_its_program(self):
        (program,) = blocks(PROTOCOL_EXAMPLE, "python")
        (conversation,) = [b for b in blocks(PROTOCOL_EXAMPLE, "") if "→" in b]
        with Child(python("-c", program)) as child:
            count = 0
            for line in conversation.splitlines():
                arrow, message = line[0], json.loads(line[2:])
                count += 1
                if arrow == "→":
                    child.host.send(message)
                elif "log" in message:
                    expected = message["log"]
                else:
                    self.assertEqual(child.host.receive(), message)
            self.assertEqual(child.status, 0)
            self.assertEqual(child.host.logs, [expected])
        self.assertEqual(count, 10)

    def test_the_program_on_the_page_settles(self):
        source, _ = blocks("docs/programs.md", "python")
        names = {"__name__": "page"}
        exec(source, names)
        with served(names["Watch"]) as host:
            host.greet(output="program")
            host.send({"reset": 1})
            host.receive()
            host.show(b"\1\0\0\0", 0, nowNs=0)
            self.assertEqual(host.receive(), {"timer": {"id": 1, "atNs": 50_000_000}})
            self.assertEqual(host.receive(), {"done": 0})
            host.send({"timer": 1, "nowNs": 50_000_000})
            value = {"scalars": [{"name": "seconds", "value": 0.05}]}
            self.assertEqual(
                host.receive(), {"out": {"sink": "moved", "sequence": 0, "value": value}}
            )
            self.assertEqual(host.receive(), {"done": {"timer": 1, "nowNs": 50_000_000}})

    def test_the_program_with_threads_on_the_page_waits_for_them(self):
        _, source = blocks("docs/programs.md", "python")
        names = {"__name__": "page"}
        exec(source, names)
        with served(names["Means"]) as host:
            host.greet(output="program")
            host.send({"reset": 1})
            host.receive()
            for sequence in range(20):
                host.show(bytes([sequence, 0, sequence, 2]), sequence, nowNs=0)
                value = {"scalars": [{"name": "mean", "value": (2 * sequence + 2) / 4}]}
                self.assertEqual(
                    host.receive(), {"out": {"sink": "mean", "sequence": sequence, "value": value}}
                )
                self.assertEqual(host.receive(), {"done": sequence})

    def test_the_table_of_the_page_has_what_a_program_has(self):
        import retake

        page = (support.REPOSITORY / "docs/programs.md").read_text()
        table = page.split("| attribute of the program |")[1].split("\n\n")[0]
        words = {
            word.split("(")[0]
            for row in table.splitlines()[2:]
            for word in re.findall(r"`([a-z_]+(?:\([^`]*\))?)`", row.split("|")[1])
        }
        public = {name for name in vars(retake.Program) if not name.startswith("_")}
        self.assertEqual(words, public)

    @unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
    def test_the_conversation_with_a_program_is_that_of_its_program(self):
        (program,) = blocks(PROGRAMS, "python")
        (conversation,) = [b for b in blocks(PROGRAMS, "") if "→" in b]
        with Child(python("-c", program)) as child:
            count = 0
            for line in conversation.splitlines():
                arrow, message = line[0], json.loads(line[2:])
                count += 1
                if arrow == "→":
                    child.host.send(message)
                else:
                    self.assertEqual(child.host.receive(), message)
            self.assertEqual(child.status, 0)
        self.assertEqual(count, 14)


if __name__ == "__main__":
    unittest.main()

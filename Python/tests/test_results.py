"""Readers of golden results, of runs, and of result lines."""

import math
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

import support

import retake

GOLDENS = support.REPOSITORY / "Goldens"
DIGEST = "0123456789abcdef" * 2

EVERYTHING = f"""\
#retake 1 chunk=1024 key=yard/all tb=0:1/30,2:1001/30000 sinks=a,b/c classes=a:car,a:big%20bus,b/c:%
F 0:0 0
O a
D -:1 1.0 -2.5 3.0 4.0 0.5000
C 0 red%2C=0.2500
C 0 blue=nan
D 12:0 0.0 0.0 0.0 0.0 inf
C - day=1.0000
Z later 1
O b/c
V light%3D=-12.500
T note "a\\u00e4\\"b"
W wave 250.000 3 1.000 nan -inf
P 160x120 I420 limited bt601 {DIGEST}
N f32 2x3 {DIGEST}
N f32 - {DIGEST}
U lanes@1 {DIGEST}
F 2:7 -
O a
X fail model.shape detect
O b/c
X supersede - latest
B 2 {DIGEST}
"""

LINES = (
    '{"pts":2,"sequence":2,"sinks":{"boxes":{"ageMilliseconds":68.3,"detections":[{"box":'
    '[31,6,18,19],"class":"motion","classIndex":0,"identity":4,"labels":[{"label":"x","score":1}],'
    '"score":0.4386}],"fate":"deliver"}},"timeNanoseconds":66666667,"track":0}\n'
    '{"pts":null,"sequence":12,"sinks":{"boxes":{"fate":"fail","message":"oh","node":"m","reason":'
    '"m.s"},"rest":{"fate":"deliver","labels":[{"label":"y","score":0.5}],"pictures":[{"digest":'
    '"d","format":"GRAY8","height":1,"matrix":"identity","range":"full","width":2}],"scalars":'
    '[{"name":"n","value":null}],"tensors":[{"digest":"d","shape":[1,2],"type":"f32"}],"texts":'
    '[{"name":"t","text":"u"}],"values":[{"digest":"d","kind":"k@1"}],"waveforms":[{"name":"w",'
    '"rate":250,"samples":[1,null]}]}},"timeNanoseconds":400000000,"track":1}\n'
    '{"summary":{"case":"motion-boxes","workers":2}}\n'
)


class ResultTests(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, content, name="results-00000.gold"):
        file = self.folder / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def refused(self, content, name="results-00000.gold"):
        with self.assertRaises(retake.ResultsError) as caught:
            list(retake.read_results(self.write(content, name)))
        return str(caught.exception)


class GoldenTests(ResultTests):
    def test_every_kind_of_line(self):
        first, second = retake.read_results(self.write(EVERYTHING))
        self.assertEqual((first.track, first.sequence, first.pts), (0, 0, 0))
        self.assertEqual((second.track, second.sequence, second.pts), (2, 7, None))
        self.assertEqual(second.time_base, Fraction(1001, 30000))
        a, b = first.sinks["a"], first.sinks["b/c"]
        self.assertEqual(list(first.sinks), ["a", "b/c"])
        bus, car = a.detections
        self.assertEqual(bus.box, (1, -2.5, 3, 4))
        self.assertEqual((bus.label, bus.class_index, bus.identity), ("big bus", 1, None))
        self.assertEqual(bus.labels[0], retake.Label("red,", 0.25))
        self.assertTrue(math.isnan(bus.labels[1].score))
        self.assertEqual((car.label, car.identity, car.score), ("car", 12, math.inf))
        self.assertEqual(a.labels, [retake.Label("day", 1)])
        self.assertEqual(b.scalars, [retake.Scalar("light=", -12.5)])
        self.assertEqual(b.texts, [retake.Text("note", 'aä"b')])
        self.assertEqual((b.waveforms[0].name, b.waveforms[0].rate), ("wave", 250))
        self.assertEqual(b.waveforms[0].samples[::2], (1, -math.inf))
        picture = retake.Picture(160, 120, "I420", "limited", "bt601", DIGEST)
        self.assertEqual(b.pictures, [picture])
        self.assertEqual([t.shape for t in b.tensors], [(2, 3), ()])
        self.assertEqual(b.values, [retake.Opaque("lanes@1", DIGEST)])
        ended = second.sinks["a"]
        self.assertEqual(
            (ended.fate, ended.reason, ended.node, ended.is_delivered),
            ("fail", "model.shape", "detect", False),
        )
        self.assertIsNone(second.sinks["b/c"].reason)

    def test_the_goldens_of_the_repository(self):
        goldens = sorted(GOLDENS.glob("*/*/golden.yml"))
        self.assertGreater(len(goldens), 5)
        for golden in goldens:
            with self.subTest(golden.parent.name):
                summary = golden.read_text().split("summary: {")[1]
                frames = list(retake.read_results(golden.parent))
                self.assertIn(f"captured: {len(frames)},", summary)
                facts = sum(self.facts(sink) for f in frames for sink in f.sinks.values())
                self.assertIn(f"facts: {facts},", summary)

    def facts(self, sink):
        lists = [
            sink.detections, sink.labels, sink.scalars, sink.texts, sink.waveforms, sink.pictures,
            sink.tensors, sink.values, *(d.labels for d in sink.detections),
        ]  # fmt: skip
        return sum(map(len, lists))

    def test_the_example_of_the_documentation(self):
        frames = {f.sequence: f for f in retake.read_results(GOLDENS / "figures/motion-slow")}
        self.assertEqual(frames[0].sinks["boxes"], retake.SinkResult())
        box = frames[1].sinks["boxes"].detections[0]
        self.assertEqual(
            box, retake.Detection((236, 49, 40, 43), 0.3291, label="motion", class_index=0)
        )
        end = frames[12].sinks["boxes"]
        self.assertEqual((end.fate, end.reason, end.node), ("drop", "queue", "motion"))

    def test_a_folder_has_all_its_files_in_their_order(self):
        self.write("", "golden.yml")
        header = "#retake 1 chunk=2 key=a/b tb=0:1/30 sinks=s classes=\n"
        for index in range(3):
            self.write(
                f"{header}F {2 * index} 0\nF {2 * index + 1} 0\nB 2 {DIGEST}\n",
                f"results-{index:05}.gold",
            )
        self.write("later", "results-00003.gold.new")
        frames = retake.read_results(self.folder)
        self.assertEqual([frame.sequence for frame in frames], list(range(6)))
        (self.folder / "results-00001.gold").unlink()
        with self.assertRaisesRegex(retake.ResultsError, "results-00001.gold is missing"):
            list(retake.read_results(self.folder))

    def test_a_golden_without_frames_is_a_header(self):
        header = "#retake 1 chunk=1024 key=a/b tb=0:1/30 sinks= classes=\n"
        self.assertEqual(list(retake.read_results(self.write(header))), [])

    def test_an_interrupted_acceptance_is_read(self):
        accepted = self.folder / ".accepting.new"
        accepted.mkdir()
        for name in ["COMMIT", "golden.yml"]:
            (accepted / name).touch()
        (accepted / "results-00000.gold").write_text(EVERYTHING)
        self.assertEqual(len(list(retake.read_results(self.folder))), 2)

    def test_what_is_no_golden(self):
        for read, message in [
            (self.folder, "no golden.yml"),
            (self.folder / "results-00009.gold", "No such file"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(retake.ResultsError, message):
                list(retake.read_results(read))

    def test_results_that_cannot_be_read_are_named_with_their_line(self):
        header, *lines = EVERYTHING.splitlines(keepends=True)
        for content, message in [
            ("", "empty"),
            ("F 0 0\n", "does not begin with '#retake 1'"),
            (EVERYTHING.replace("#retake 1", "#retake 2"), "of version 2; this reader knows 1"),
            (EVERYTHING[:-1], "end with LF"),
            (EVERYTHING.replace("\n", "\r\n"), "end with LF"),
            (EVERYTHING.replace("red", "röd"), "in ASCII"),
            ("".join([header, *lines[:-1]]), "cut off"),
            (EVERYTHING.replace("B 2", "B 3"), ":23: a block of 3 frames has 2"),
            (EVERYTHING.replace("F 0:0 0", "F 0:00 0"), ":2: '00' is not an integer"),
            (EVERYTHING.replace("F 0:0 0", "F 5:0 0"), ":2: the header has no track 5"),
            (EVERYTHING.replace("O b/c", "O d"), "no sink 'd'"),
            (EVERYTHING.replace("O a\nD", "D"), ":3: this line belongs to no frame"),
            (EVERYTHING.replace("0.5000", "0,5"), "'0,5' is not a number"),
            (EVERYTHING.replace("C 0 red", "C 1 red"), ":5: "),
            (EVERYTHING.replace(" 3 1.000", " 4 1.000"), "4 samples has 3"),
            (EVERYTHING.replace("%2C", "%ff"), ":5: "),
            (EVERYTHING.replace("tb=", "base="), ":1: there is no 'tb'"),
        ]:
            with self.subTest(message):
                self.assertIn(message, self.refused(content))


class LineTests(ResultTests):
    def test_result_lines(self):
        first, second = retake.read_results(self.write(LINES, "lines.jsonl"))
        self.assertEqual((first.track, first.sequence, first.pts), (0, 2, 2))
        self.assertEqual((first.time_ns, first.time_base), (66666667, None))
        boxes = first.sinks["boxes"]
        self.assertEqual((boxes.age_milliseconds, boxes.is_delivered), (68.3, True))
        self.assertEqual(
            boxes.detections,
            [
                retake.Detection(
                    (31, 6, 18, 19), 0.4386, "motion", 0, 4, (retake.Label("x", 1),)
                )
            ],
        )
        failed, rest = second.sinks["boxes"], second.sinks["rest"]
        self.assertEqual(
            (failed.fate, failed.node, failed.reason, failed.message), ("fail", "m", "m.s", "oh")
        )
        self.assertIsNone(second.pts)
        self.assertEqual(rest.labels, [retake.Label("y", 0.5)])
        self.assertTrue(math.isnan(rest.scalars[0].value))
        self.assertTrue(math.isnan(rest.waveforms[0].samples[1]))
        self.assertEqual(rest.texts, [retake.Text("t", "u")])
        self.assertEqual(rest.tensors, [retake.Tensor("f32", (1, 2), "d")])
        self.assertEqual(rest.values, [retake.Opaque("k@1", "d")])
        picture = retake.Picture(2, 1, "GRAY8", "full", "identity", "d")
        self.assertEqual(rest.pictures, [picture])

    def test_the_last_line_of_a_recording_is_no_result(self):
        file = self.write('{"closed":true,"commit":4}\n', "lines.jsonl")
        self.assertEqual(list(retake.read_results(file)), [])

    def test_lines_that_cannot_be_read_are_named(self):
        line = LINES.splitlines()[0]
        for content, message in [
            (line, ":1: this is not a result line: the line is cut off"),
            (f"{line}\n{{}}\n", ":2: this is not a result line: there is no 'track'"),
            ("[]\n", ":1: "),
            ("nothing\n", ":1: "),
            (f"{line}\n".replace('"fate":"deliver"', '"a":1'), "'fate'"),
            (f"{line}\n".replace("[31,6,18,19]", "[31]"), ":1: "),
        ]:
            with self.subTest(message):
                self.assertIn(message, self.refused(content, "lines.jsonl"))


if __name__ == "__main__":
    unittest.main()

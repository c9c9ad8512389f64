"""Masks, key points, embeddings and JSON: as a stage returns them, and as results have them."""

import math
import tempfile
import unittest
from pathlib import Path

import support  # noqa: F401
from support import served

import retake

try:
    import numpy
except ImportError:
    numpy = None

# An object of three columns in an image of 5 x 4, as pycocotools writes it.
ROWS = [[0] * 5, *[[0, 1, 1, 1, 0]] * 3]
COUNTS = "5310003"

GOLDEN = f"""\
#retake 1 chunk=1024 key=yard/all tb=0:1/30 sinks=a classes=
F 0 0
M -4 a%20person 0.9132 5x4 {COUNTS}
K - face 1.0000 0-1,1-0 left%2Ceye=1.0,-2.5,0.5000 nose=nan,3.0,1.0000
K - %25 1.0000 -
E 0 id 1.0000 AACAP83MzL0AAIB/
E - empty 1.0000 -
J - meta 0.2500 {{"a":"\\u00E9 \\"x\\"\\n","b":[1,2.5,null]}}
B 1 {"0" * 32}
"""

LINE = (
    '{"pts":0,"sequence":0,"sinks":{"a":{"fate":"deliver","observations":[{"identity":-4,'
    '"label":"a person","mask":{"counts":"5310003","size":[4,5]},"score":0.9132},{"bones":[[0,1],'
    '[1,0]],"label":"face","points":[{"name":"left,eye","score":0.5,"x":1,"y":-2.5},{"name":"nose",'
    '"score":1,"x":null,"y":3}],"score":1},{"label":"%","points":[],"score":1},{"embedding":[1,'
    '-0.1,null],"identity":0,"label":"id","score":1},{"embedding":[],"label":"empty","score":1},'
    '{"json":{"a":"é \\"x\\"\\n","b":[1,2.5,null]},"label":"meta","score":0.25}]}},'
    '"timeNanoseconds":0,"track":0}\n'
)


def stage_of(value):
    @retake.stage(output="observations", name="seen")
    def seen(frame):
        return value

    return seen


class MaskTests(unittest.TestCase):
    def test_rows_have_cocos_runs(self):
        mask = retake.Mask.of(ROWS, "person", 0.5, identity=3)
        self.assertEqual(mask, retake.Mask((4, 5), COUNTS, "person", 0.5, 3))
        self.assertEqual(mask.runs, [5, 3, 1, 3, 1, 3, 4])
        self.assertEqual(retake.Mask((4, 5), COUNTS.encode(), "person").runs, mask.runs)

    def test_masks_without_and_full_of_pixels(self):
        self.assertEqual(retake.Mask.of([[0, 0]] * 3, "a").counts, "6")
        self.assertEqual(retake.Mask.of([[1, 1]] * 3, "a").counts, "06")

    def test_what_is_no_mask_is_refused(self):
        for rows in ([], [[]], [[1], [1, 2]]):
            with self.subTest(rows), self.assertRaisesRegex(ValueError, "same length"):
                retake.Mask.of(rows, "a")
        for counts in ("", "5", "o", "531000", "5310004", "é"):
            with self.subTest(counts), self.assertRaises(ValueError):
                retake.Mask((4, 5), counts, "a").runs
        with self.assertRaisesRegex(ValueError, "at least one pixel, and its size is 0 x 5"):
            retake.Mask((0, 5), "", "a").runs

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays_are_the_same_as_rows(self):
        random = numpy.random.default_rng(4)
        for share in (0.0, 0.1, 0.5, 0.9, 1.0):
            array = random.random((23, 37)) < share
            mask = retake.Mask.of(array, "a")
            self.assertEqual(mask, retake.Mask.of(array.tolist(), "a"))
            self.assertTrue((mask.array() == array).all())
        with self.assertRaisesRegex(ValueError, "not of the shape"):
            retake.Mask.of(numpy.zeros((2, 2, 2)), "a")


class StageTests(unittest.TestCase):
    def value(self, *items):
        with served(stage_of(list(items))) as host:
            host.greet(output="observations")
            return host.ask()["value"]

    def problem(self, item):
        with served(stage_of([item])) as host:
            host.greet(output="observations")
            return host.ask()["error"]["message"]

    def test_each_kind_has_its_form(self):
        points = [retake.KeyPoint("nose", 1, 2.5), retake.KeyPoint("tail", 0, 0, 0.25)]
        self.assertEqual(
            self.value(
                retake.Mask.of(ROWS, "person", 0.5, identity=3),
                retake.KeyPoints(points, "dog", bones=[(0, 1)]),
                retake.Embedding((0.5, -1), "id"),
                retake.JSON({"a": [1, None, "é"]}, "meta", 0.75),
            ),
            {
                "observations": [
                    {
                        "mask": {"size": [4, 5], "counts": COUNTS},
                        "label": "person",
                        "score": 0.5,
                        "identity": 3,
                    },
                    {
                        "points": [
                            {"name": "nose", "x": 1.0, "y": 2.5, "score": 1.0},
                            {"name": "tail", "x": 0.0, "y": 0.0, "score": 0.25},
                        ],
                        "bones": [[0, 1]],
                        "label": "dog",
                        "score": 1.0,
                    },
                    {"embedding": [0.5, -1.0], "label": "id", "score": 1.0},
                    {"json": {"a": [1, None, "é"]}, "label": "meta", "score": 0.75},
                ]
            },
        )

    def test_numbers_of_numpy_are_numbers_in_json(self):
        class Scalar:
            def item(self):
                return 1.5

        value = self.value(retake.JSON({"a": [Scalar()]}, "meta"))
        self.assertEqual(value["observations"][0]["json"], {"a": [1.5]})

    def test_mistakes_are_named(self):
        nose = retake.KeyPoint("nose", 1, 2)
        for item, message in (
            (retake.Detection((0, 0, 1, 1), 1), "not a retake.Mask, KeyPoints, Embedding or JSON"),
            (retake.Mask((0, 5), "5", "a"), "a side of a mask is 1 to 65536 pixels, not 0"),
            (retake.Mask((4,), "5", "a"), "the size of a mask is .height, width."),
            (retake.KeyPoints([(1, 2)], "a"), "not a retake.KeyPoint"),
            (retake.KeyPoints([nose], "a", bones=[(0, 1)]), "a pair of indices"),
            (retake.KeyPoints([retake.KeyPoint("x", math.nan, 0)], "a"), "must be finite"),
            (retake.Embedding([math.inf], "a"), "must be finite"),
            (retake.Embedding("ab", "a"), "a vector is a list of numbers"),
            (retake.JSON({"a": math.nan}, "meta"), "the value 'meta' is not JSON"),
            (retake.JSON(object(), "meta"), "the value 'meta' is not JSON"),
            (retake.JSON({"a": "\ud800"}, "meta"), "the value 'meta' is not JSON"),
            (retake.JSON([2**63], "meta"), "an integer in JSON must be from"),
            (retake.JSON(1, "meta", identity=0.5), "an identity must be an integer"),
        ):
            with self.subTest(message):
                self.assertRegex(self.problem(item), message)

    def test_a_dict_is_no_list(self):
        with served(stage_of({"mask": 1})) as host:
            host.greet(output="observations")
            self.assertRegex(
                host.ask()["error"]["message"],
                "of the type dict; return a list of retake.Mask, KeyPoints, Embedding or JSON",
            )


class ResultTests(unittest.TestCase):
    def read(self, content, name):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(content, "utf-8")
            (frame,) = retake.read_results(file)
            return frame.sinks["a"].observations

    def check(self, mask, face, empty, vector, none, meta):
        self.assertEqual(mask, retake.Mask((4, 5), COUNTS, "a person", 0.9132, -4))
        self.assertEqual(face.bones, ((0, 1), (1, 0)))
        self.assertEqual(face.points[0], retake.KeyPoint("left,eye", 1, -2.5, 0.5))
        self.assertEqual((face.points[1].name, face.points[1].y), ("nose", 3))
        self.assertTrue(math.isnan(face.points[1].x))
        self.assertEqual(empty, retake.KeyPoints((), "%"))
        self.assertEqual((vector.label, vector.identity), ("id", 0))
        self.assertAlmostEqual(vector.vector[1], -0.1, 7)
        self.assertFalse(math.isfinite(vector.vector[2]))
        self.assertEqual(none, retake.Embedding((), "empty"))
        self.assertEqual(meta, retake.JSON({"a": 'é "x"\n', "b": [1, 2.5, None]}, "meta", 0.25))

    def test_a_golden_has_them(self):
        self.check(*self.read(GOLDEN, "results-00000.gold"))

    def test_result_lines_have_them(self):
        self.check(*self.read(LINE, "lines.jsonl"))

    def test_another_form_is_refused(self):
        for line in ("M - a 1.0000 5x4", "K - a 1.0000 0", "E - a 1.0000 A", "J - a 1.0000 {"):
            with self.subTest(line), self.assertRaises(retake.ResultsError):
                self.read(GOLDEN.replace("E - empty 1.0000 -", line), "results-00000.gold")


if __name__ == "__main__":
    unittest.main()

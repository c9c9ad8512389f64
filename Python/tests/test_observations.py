"""Observations: as a stage returns them, and as results have them."""

import base64
import contextlib
import io
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
L 7 lane 0.9000 open 1.0,2.5 nan,-4.0
L - car%201 1.0000 closed 0.0,0.0 4.0,0.0 4.0,3.0
I - depth 1.0000 640x480x1 f32 00112233445566778899aabbccddeeff
E 0 id 1.0000 AACAP83MzL0AAIB/
E - empty 1.0000 -
J - meta 0.2500 {{"a":"\\u00E9 \\"x\\"\\n","b":[1,2.5,null]}}
B 1 {"0" * 32}
"""

LINE = (
    '{"pts":0,"sequence":0,"sinks":{"a":{"fate":"deliver","observations":[{"identity":-4,'
    '"label":"a person","mask":{"counts":"5310003","size":[4,5]},"score":0.9132},{"bones":[[0,1],'
    '[1,0]],"label":"face","points":[{"name":"left,eye","score":0.5,"x":1,"y":-2.5},{"name":"nose",'
    '"score":1,"x":null,"y":3}],"score":1},{"label":"%","points":[],"score":1},{"identity":7,'
    '"label":"lane","polyline":[[1,2.5],[null,-4]],"score":0.9},{"label":"car 1","polygon":[[0,0],[4,0],[4,3]],'
    '"score":1},{"image":{"digest":"00112233445566778899aabbccddeeff","size":[480,640,1],'
    '"type":"f32"},"label":"depth","score":1},{"embedding":[1,'
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
    def test_probabilities_are_no_mask(self):
        for pixels in ([[0.4, 0.6]], [[1, math.nan]]):
            with self.assertRaisesRegex(ValueError, "pixels > 0.5"):
                retake.Mask.of(numpy.array(pixels), "a")
        mask = retake.Mask.of(numpy.array([[0.0, 255.0]]), "a")
        self.assertEqual(mask.runs, [1, 1])

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
            (retake.Detection((0, 0, 1, 1), 1), "not a retake.Mask, KeyPoints, Polyline, "),
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

    def test_lines_and_images_are_checked_where_they_are_made(self):
        for kind, value, message in (
            (retake.Polyline, [(1, 2), (3,)], r"a point of a line is .x, y., not .3,"),
            (retake.Polyline, [1, 2], "a point of a line is .x, y., not 1"),
            (retake.Polyline, "ab", "points are an array or a list of pairs"),
            (retake.Polyline, [], "at least one point: leave a line without points out"),
            (retake.Polygon, iter([]), "at least one point"),
            (retake.Polygon, {(1, 2), (3, 4)}, "points are an array or a list of pairs"),
            (retake.Polygon, [(1, math.nan)], "x or y of a point must be finite"),
            (retake.Image, [[1, 2]], "the image 'a' is an array of numpy, not a list"),
            (retake.Image, None, "the image 'a' is an array of numpy, not a NoneType"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                kind(value, "a")
        with self.assertRaisesRegex(ValueError, "the order of an image is 'rgb' or 'bgr'"):
            retake.Image([[1]], "map", order="gbr")

    def test_a_mistake_names_the_line_that_made_it(self):
        @retake.stage(output="observations")
        def lanes(frame):
            return [retake.Polyline([(0, math.inf)], "lane")]

        with served(lanes) as host, contextlib.redirect_stderr(io.StringIO()) as printed:
            host.greet(output="observations")
            error = host.ask()["error"]
        self.assertEqual((error["code"], error["severity"]), ("python.value", "unrecoverable"))
        self.assertRegex(
            error["message"],
            r"^x or y of a point must be finite, is inf \(test_observations.py:\d+ in lanes\)$",
        )
        self.assertIn('return [retake.Polyline([(0, math.inf)], "lane")]', printed.getvalue())

    def test_points_that_change_later_are_checked_when_they_are_sent(self):
        points = [[0, 1]]
        line = retake.Polyline(points, "lane")
        points[0][1] = math.nan
        self.assertEqual(self.problem(line), "x or y of a point must be finite, is nan")

    def test_a_dict_is_no_list(self):
        with served(stage_of({"mask": 1})) as host:
            host.greet(output="observations")
            self.assertRegex(
                host.ask()["error"]["message"],
                "of the type dict; return a list of retake.Mask, KeyPoints, Polyline, Polygon, "
                "Image, Embedding or JSON",
            )

    def test_lines_are_lists_of_points(self):
        lane = retake.Polyline([(1, 2.5), [3, 4]], "lane", 0.5, identity=7)
        dot = retake.Polygon(iter([(0, 1)]), "car")
        (polyline, polygon) = self.value(lane, dot)["observations"]
        self.assertEqual(
            polyline,
            {"polyline": [[1.0, 2.5], [3.0, 4.0]], "label": "lane", "score": 0.5, "identity": 7},
        )
        self.assertEqual(polygon, {"polygon": [[0.0, 1.0]], "label": "car", "score": 1.0})

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_contours_of_opencv_are_lines(self):
        box = numpy.array([[0.25, 1], [2, 1], [2, 3], [0.25, 3]], numpy.float32)
        contour = numpy.array([[[5, 6]], [[7, 8]]], numpy.int32)
        form = self.value(
            retake.Polygon(box, "car"),
            retake.Polyline(contour, "edge"),
            retake.Polyline(list(contour[:, 0]), "rows"),
            retake.Polyline(contour[:1], "dot"),
        )["observations"]
        self.assertEqual(form[0]["polygon"], [[0.25, 1.0], [2.0, 1.0], [2.0, 3.0], [0.25, 3.0]])
        self.assertEqual(form[1]["polyline"], [[5.0, 6.0], [7.0, 8.0]])
        self.assertEqual(form[2]["polyline"], form[1]["polyline"])
        self.assertEqual(form[3]["polyline"], [[5.0, 6.0]])
        for shape, message in (
            ((2, 3), "a point of a line is .x, y., not .0"),
            ((2,), "a point of a line is .x, y., not 0"),
            ((2, 2, 2), "x or y of a point must be a number"),
        ):
            with self.subTest(shape):
                with self.assertRaisesRegex(ValueError, message):
                    retake.Polygon(numpy.zeros(shape), "a")


@unittest.skipIf(numpy is None, "numpy is not installed")
class ImageTests(unittest.TestCase):
    value, problem = StageTests.value, StageTests.problem

    def check(self, array, size, type, data, **keys):
        (form,) = self.value(retake.Image(array, "map", 0.5, 3, **keys))["observations"]
        image = form.pop("image")
        self.assertEqual(form, {"label": "map", "score": 0.5, "identity": 3})
        self.assertEqual((image["size"], image["type"]), (size, type))
        self.assertEqual(base64.b64decode(image["data"], validate=True), data)

    def test_numbers_are_little_endian_rows(self):
        rows = numpy.array([[1, 2, 3], [4, 5, 600]])
        self.check(rows.astype("uint8"), [2, 3, 1], "u8", bytes([1, 2, 3, 4, 5, 88]))
        words = b"\1\0\2\0\3\0\4\0\5\0\x58\2"
        self.check(rows.astype("uint16"), [2, 3, 1], "u16", words)
        self.check(rows.astype(">u2"), [2, 3, 1], "u16", words)
        floats = rows.astype("float32")
        self.check(floats, [2, 3, 1], "f32", floats.astype("<f4").tobytes())
        # Rows that are not next to each other in memory, and columns first.
        self.check(floats[:, ::2], [2, 2, 1], "f32", floats[:, ::2].astype("<f4").tobytes())
        self.check(floats.T, [3, 2, 1], "f32", floats.T.astype("<f4").tobytes())

    def test_types_without_loss_are_converted(self):
        self.check(numpy.array([[True, False]]), [1, 2, 1], "u8", b"\1\0")
        for type in ("int8", "int16", "float16"):
            with self.subTest(type):
                numbers = numpy.array([[-3, 7]], "<f4").tobytes()
                self.check(numpy.array([[-3, 7]], type), [1, 2, 1], "f32", numbers)

    def test_a_map_may_have_holes(self):
        holes = numpy.array([[math.nan, math.inf, 1]], numpy.float32)
        self.check(holes, [1, 3, 1], "f32", holes.astype("<f4").tobytes())

    def test_channels_become_rgb(self):
        pixels = bytes(range(8))
        for count, data in (
            (1, pixels),
            (2, pixels),
            (3, bytes([2, 1, 0, 5, 4, 3])),
            (4, bytes([2, 1, 0, 3, 6, 5, 4, 7])),
        ):
            with self.subTest(count):
                array = numpy.frombuffer(pixels[: len(data)], numpy.uint8).reshape(1, -1, count)
                size = list(array.shape)
                self.check(array, size, "u8", data, order="bgr")
                self.check(array, size, "u8", pixels[: len(data)])

    def test_mistakes_are_named(self):
        for array, message in (
            (numpy.zeros((2, 2)), "'map' has float64: convert .* array.astype.numpy.float32."),
            (numpy.zeros((2, 2), "int32"), "'map' has int32: convert"),
            (numpy.zeros((2, 2), "complex64"), "'map' has complex64: convert"),
            (numpy.zeros(4, "uint8"), r"height x width x channels: .* has the shape .4,"),
            (numpy.zeros((2, 2, 5), "uint8"), "1 to 4 channels; 'map' has the shape .2, 2, 5"),
            (numpy.zeros((0, 2), "uint8"), "has the shape .0, 2"),
            (numpy.zeros((1, 65_537), "uint8"), "sides of 1 to 65536 .* has the shape .1, 65537"),
            (numpy.zeros((1, 2, 2, 1), "uint8"), "has the shape .1, 2, 2, 1"),
            (numpy.ma.masked_equal(numpy.zeros((2, 2), "float32"), 0), "is a masked array"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                retake.Image(array, "map")

    def test_an_array_that_changes_its_shape_later_is_checked_when_it_is_sent(self):
        array = numpy.zeros((2, 2), "uint8")
        image = retake.Image(array, "map")
        array.shape = (4,)
        self.assertRegex(self.problem(image), "'map' has the shape .4,")

    def test_the_largest_image_is_named(self):
        # One number that is repeated: no memory for the rest.
        for type, width in (("u1", 3072), ("f4", 768)):
            array = numpy.broadcast_to(numpy.zeros(1, type), (8193, width))
            pattern = f"at most 25165824 bytes .24 MiB., and .map. of 8193 x {width} x 1 "
            with self.assertRaisesRegex(ValueError, pattern):
                retake.Image(array, "map")

    def test_a_value_of_several_images_has_one_limit(self):
        array = numpy.zeros((4096, 3072), numpy.uint8)
        images = [retake.Image(array, "map")] * 3
        with served(stage_of(images)) as host:
            host.greet(output="observations")
            error = host.ask()["error"]
        self.assertEqual((error["code"], error["severity"]), ("python.value", "unrecoverable"))
        self.assertRegex(error["message"], "the message has 503.* bytes; at most 33554432 are")
        with served(stage_of(images[:1])) as host:
            host.greet(output="observations")
            (item,) = host.ask()["value"]["observations"]
        self.assertEqual(len(item["image"]["data"]), 4096 * 3072 * 4 // 3)


class ResultTests(unittest.TestCase):
    def read(self, content, name):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(content, "utf-8")
            (frame,) = retake.read_results(file)
            return frame.sinks["a"].observations

    def check(self, mask, face, empty, lane, car, depth, vector, none, meta):
        self.assertEqual(mask, retake.Mask((4, 5), COUNTS, "a person", 0.9132, -4))
        self.assertEqual(face.bones, ((0, 1), (1, 0)))
        self.assertEqual(face.points[0], retake.KeyPoint("left,eye", 1, -2.5, 0.5))
        self.assertEqual((face.points[1].name, face.points[1].y), ("nose", 3))
        self.assertTrue(math.isnan(face.points[1].x))
        self.assertEqual(empty, retake.KeyPoints((), "%"))
        self.assertIs(type(lane), retake.Polyline)
        self.assertEqual((lane.label, lane.score, lane.identity), ("lane", 0.9, 7))
        self.assertEqual((lane.points[0], lane.points[1][1]), ((1, 2.5), -4))
        self.assertTrue(math.isnan(lane.points[1][0]))
        self.assertEqual(car, retake.Polygon(((0, 0), (4, 0), (4, 3)), "car 1"))
        digest = "00112233445566778899aabbccddeeff"
        self.assertEqual(
            depth, retake.Image(None, "depth", digest=digest, size=(480, 640, 1), type="f32")
        )
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
        lines = ["M - a 1.0000 5x4", "K - a 1.0000 0", "E - a 1.0000 A", "J - a 1.0000 {"]
        lines += ["L - a 1.0000 ajar 1.0,2.0", "L - a 1.0000 open 1.0", "L - a 1.0000"]
        lines += ["I - a 1.0000 5x4 u8 00", "I - a 1.0000 5x4x1 u8"]
        for line in lines:
            with self.subTest(line), self.assertRaises(retake.ResultsError):
                self.read(GOLDEN.replace("E - empty 1.0000 -", line), "results-00000.gold")


if __name__ == "__main__":
    unittest.main()

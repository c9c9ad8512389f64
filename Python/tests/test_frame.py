"""Pixels in shared memory, with numpy and without."""

import sys
import unittest
import unittest.mock

import support
from support import served

import retake

# Of a frame with 3 x 3 pixels: columns, rows and samples of each plane.
SHAPES = {
    "GRAY8": [(3, 3, 1)],
    "RGB24": [(3, 3, 3)],
    "BGR24": [(3, 3, 3)],
    "BGRA": [(3, 3, 4)],
    "RGBA": [(3, 3, 4)],
    "I420": [(3, 3, 1), (2, 2, 1), (2, 2, 1)],
    "I422": [(3, 3, 1), (2, 3, 1), (2, 3, 1)],
    "I444": [(3, 3, 1), (3, 3, 1), (3, 3, 1)],
    "NV12": [(3, 3, 1), (2, 2, 2)],
    "I440": [(3, 3, 1), (3, 2, 1), (3, 2, 1)],
    "I411": [(3, 3, 1), (1, 3, 1), (1, 3, 1)],
    "I420A": [(3, 3, 1), (2, 2, 1), (2, 2, 1), (3, 3, 1)],
}


def layout(format, gap=0, lead=0):
    """The bytes of a frame and its planes: each visible byte is its index in its plane."""
    pixels, planes, visible = b"\xee" * lead, [], []
    for columns, rows, channels in SHAPES[format]:
        width = columns * channels
        planes.append([len(pixels), width + gap])
        plane = bytes(range(width * rows))
        visible.append(plane)
        for row in range(rows):
            pixels += plane[row * width : (row + 1) * width] + b"\xee" * gap
    return pixels, planes, visible


def inspect(format, look, gap=0, lead=0, slot=0):
    """What `look` finds in a frame of that format."""
    found = []

    @retake.stage(output="scalars")
    def stage(frame):
        found.append(look(frame))
        return {}

    pixels, planes, _ = layout(format, gap, lead)
    with served(stage, slots=2, slot_bytes=1024) as host:
        host.greet(output="scalars")
        host.show(pixels, 7, slot, format=format, width=3, height=3, planes=planes)
        assert host.receive() == {"sequence": 7, "value": {"scalars": []}}
    return found[0]


class PlaneTests(unittest.TestCase):
    def test_planes_have_the_visible_bytes_of_each_format(self):
        for format, shapes in SHAPES.items():
            for gap, lead, slot in [(0, 0, 0), (5, 0, 0), (2, 9, 1)]:
                with self.subTest(format, gap=gap, slot=slot):
                    planes = inspect(
                        format,
                        lambda frame: [
                            ((p.width, p.height, p.channels), p.tobytes()) for p in frame.planes
                        ],
                        gap,
                        lead,
                        slot,
                    )
                    self.assertEqual([shape for shape, _ in planes], shapes)
                    self.assertEqual([b for _, b in planes], layout(format)[2])

    def test_rows(self):
        def look(frame):
            plane = frame.planes[0]
            for index in (-1, 3):
                with self.assertRaises(IndexError):
                    plane.row(index)
            return [bytes(row) for row in plane.rows()], bytes(plane.row(1)), plane.stride

        rows, middle, stride = inspect("GRAY8", look, gap=4)
        self.assertEqual(rows, [b"\0\1\2", b"\3\4\5", b"\6\7\10"])
        self.assertEqual((middle, stride), (b"\3\4\5", 7))

    def test_planes_cannot_be_written(self):
        def look(frame):
            with self.assertRaises(TypeError):
                frame.planes[0].data[0] = 1
            return frame.planes[0].data.readonly

        self.assertTrue(inspect("RGB24", look))

    def test_a_frame_says_what_the_message_says(self):
        found = inspect("NV12", lambda f: (f.track, f.sequence, f.item, f.pts_ns, f.pts, f.format))
        self.assertEqual(found, (0, 7, None, 233_333_331, 0.233333331, "NV12"))
        found = inspect("NV12", lambda f: (f.width, f.height, f.range, f.matrix))
        self.assertEqual(found, (3, 3, "full", "identity"))


class MadeFrameTests(unittest.TestCase):
    def test_frames_for_tests_of_stages(self):
        for format, shapes in SHAPES.items():
            with self.subTest(format):
                pixels, _, visible = layout(format)
                frame = retake.Frame.of(pixels, format, 3, 3, sequence=4, pts_ns=5)
                self.assertEqual([p.tobytes() for p in frame.planes], visible)
                self.assertEqual((frame.sequence, frame.pts_ns, len(shapes)), (4, 5, len(visible)))
                with self.assertRaisesRegex(ValueError, f"not {len(pixels) + 1}"):
                    retake.Frame.of(pixels + b"\0", format, 3, 3)


class DeepFrameTests(unittest.TestCase):
    """Formats of more than 8 bits: words, the lower byte first."""

    def test_planes_have_two_bytes_a_sample(self):
        for format, count, sides in [
            ("I420P10", 3, (2, 2)),
            ("I440P12", 3, (3, 2)),
            ("GRAY16", 1, (3, 3)),
            ("GBRAP12", 4, (3, 3)),
            ("I422AP10", 4, (2, 3)),
        ]:
            with self.subTest(format):
                planes = [(3, 3)] + [sides] * min(2, count - 1) + [(3, 3)] * (count == 4)
                pixels = bytes(range(2 * sum(w * h for w, h in planes)))
                frame = retake.Frame.of(pixels, format, 3, 3)
                self.assertEqual([(p.width, p.height) for p in frame.planes], planes)
                self.assertEqual({p.sample_bytes for p in frame.planes}, {2})
                self.assertEqual(b"".join(p.tobytes() for p in frame.planes), pixels)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_arrays_have_words(self):
        frame = retake.Frame.of(bytes([1, 2, 3, 0]), "GRAY10", 2, 1)
        self.assertEqual(frame.array.tolist(), [[513, 3]])
        self.assertEqual(frame.array.dtype.str, "<u2")


class ArrayTests(unittest.TestCase):
    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_arrays_have_the_visible_bytes_of_each_format(self):
        for format, shapes in SHAPES.items():
            for gap, lead, slot in [(0, 0, 0), (5, 0, 0), (2, 9, 1)]:
                with self.subTest(format, gap=gap, slot=slot):
                    arrays = inspect(
                        format,
                        lambda f: [(a.shape, a.dtype.str, a.tobytes()) for a in f.arrays],
                        gap,
                        lead,
                        slot,
                    )
                    expected = [
                        ((rows, columns) if channels == 1 else (rows, columns, channels), "|u1", b)
                        for (columns, rows, channels), b in zip(shapes, layout(format)[2])
                    ]
                    self.assertEqual(arrays, expected)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_the_array_of_a_packed_format_reads_the_memory_itself(self):
        def look(frame):
            array = frame.array
            with self.assertRaises(ValueError):
                array[0, 0] = 1
            with self.assertRaises(ValueError):
                array.flags.writeable = True
            return array.flags.owndata, array[2, 1].tolist()

        self.assertEqual(inspect("RGB24", look, gap=1), (False, [21, 22, 23]))

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_a_format_with_several_planes_is_not_one_array(self):
        def look(frame):
            with self.assertRaisesRegex(TypeError, r'I420 has 3 planes; use frame\.arrays'):
                _ = frame.array
            return len(frame.arrays)

        self.assertEqual(inspect("I420", look), 3)

    def test_without_numpy_the_planes_can_be_read(self):
        def look(frame):
            with self.assertRaises(ImportError):
                _ = frame.array
            return frame.planes[0].tobytes()

        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            self.assertEqual(inspect("GRAY8", look), bytes(range(9)))


if __name__ == "__main__":
    unittest.main()

"""Pipelines in Python's words, as documents: without libretake."""

import json
import subprocess
import sys
import unittest

import support

import retake
from retake import _live


class Words(unittest.TestCase):
    def test_a_chain_is_a_document(self) -> None:
        pipeline = (
            retake.source(name="yard")
            .gray()
            .motion(threshold=30)
            .queue(3, "dropNewest")
            .cost(fixed="45ms")
            .results("boxes", precision={"box": 0.1})
        )
        self.assertEqual(
            json.loads(pipeline.json()),
            {
                "v": 1,
                "name": "yard",
                "nodes": [
                    {"id": "camera", "kind": "session"},
                    {"id": "grey", "kind": "grey"},
                    {
                        "id": "motion",
                        "kind": "motion",
                        "options": {"threshold": 30},
                        "cost": {"fixed": "45ms"},
                    },
                    {"id": "boxes", "kind": "results", "primary": True, "precision": {"box": 0.1}},
                ],
                "edges": [
                    {"from": "camera", "to": "grey"},
                    {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
                    {"from": "motion", "to": "boxes"},
                ],
            },
        )

    def test_each_word_leaves_the_pipeline_before_as_it_is(self) -> None:
        frames = retake.source(track=2).gray()
        before = frames.json()
        frames.motion().queue(1, "replace").results()
        frames.document["nodes"].clear()
        self.assertEqual(frames.json(), before)
        self.assertEqual(frames.document["nodes"][0]["options"], {"track": 2})

    def test_nodes_of_a_kind_are_numbered(self) -> None:
        chain = retake.source().gray().stage("copy").stage("copy", id="mine").stage("copy")
        ids = [node["id"] for node in chain.document["nodes"]]
        self.assertEqual(ids, ["camera", "grey", "copy", "mine", "copy-2"])

    def test_classify_names_each_detection(self) -> None:
        chain = retake.source().gray().detect("a.onnx", classes=["face"]).classify("b.onnx")
        nodes = {node["id"]: node for node in chain.document["nodes"]}
        self.assertEqual(nodes["detect"]["options"]["output"], {"classes": ["face"]})
        self.assertEqual(nodes["forEach"]["body"]["output"], "classify")
        edges = [(edge["from"], edge["to"]) for edge in chain.document["edges"]]
        self.assertIn(("grey", "forEach-input.frame"), edges)
        self.assertIn(("detect", "forEach-input.detections"), edges)
        # A second model names the same regions, in the same frames.
        again = chain.classify("c.onnx").document["edges"]
        self.assertIn({"from": "grey", "to": "forEach-2-input.frame"}, again)

    def test_classify_of_a_frame_is_a_stage(self) -> None:
        chain = retake.source().resize().classify("b.onnx")
        self.assertEqual([n["kind"] for n in chain.document["nodes"]][-1], "classify")

    def test_a_document_is_a_pipeline(self) -> None:
        pipeline = retake.source().gray().results()
        self.assertEqual(retake.Pipeline.from_json(pipeline.json()).document, pipeline.document)
        self.assertIn("session → grey → results", repr(pipeline))
        with self.assertRaises(ValueError):
            retake.Pipeline.from_json("[]")

    def test_the_package_does_without_ctypes(self) -> None:
        program = "import sys, retake; retake.source().gray(); print('ctypes' in sys.modules)"
        result = subprocess.run(
            [sys.executable, "-B", "-c", program],
            capture_output=True, text=True, check=True, env={"PYTHONPATH": str(support.PACKAGE)},
        )
        self.assertEqual(result.stdout, "False\n")


class Planes(unittest.TestCase):
    def sizes(self, format: str, width: int, height: int) -> list[tuple[int, int]]:
        return _live._shapes(format, width, height)

    def test_odd_sides_have_a_chroma_sample_more(self) -> None:
        self.assertEqual(self.sizes("I420", 5, 3), [(5, 3), (3, 2), (3, 2)])
        self.assertEqual(self.sizes("NV12", 5, 3), [(5, 3), (6, 2)])
        self.assertEqual(self.sizes("I422", 5, 3), [(5, 3), (3, 3), (3, 3)])
        self.assertEqual(self.sizes("BGRA", 5, 3), [(20, 3)])
        self.assertEqual(self.sizes("I420P10", 5, 3), [(10, 3), (6, 2), (6, 2)])
        self.assertEqual(self.sizes("GRAY16", 5, 3), [(10, 3)])

    def test_one_buffer_or_one_for_each_plane(self) -> None:
        whole = bytes(range(24))
        planes, kept = _live._planes(whole, "I420", 4, 4)
        self.assertEqual([plane.length for plane in planes], [16, 4, 4])
        self.assertEqual(planes[1].data - planes[0].data, 16)
        parts = [bytearray(whole[:16]), memoryview(whole)[16:20], memoryview(whole)[::-1][:4]]
        planes, kept = _live._planes(parts, "I420", 4, 4)
        self.assertEqual([plane.stride for plane in planes], [4, 2, 2])
        self.assertEqual(len(kept), 3)

    def test_wrong_sizes_are_errors(self) -> None:
        for pixels in (b"", bytes(23), bytes(25), [bytes(16), bytes(4)], [bytes(16)] * 3):
            with self.assertRaises(ValueError):
                _live._planes(pixels, "I420", 4, 4)

    @unittest.skipUnless(support.HAS_NUMPY, support.NO_NUMPY)
    def test_a_slice_of_an_array_is_copied(self) -> None:
        import numpy

        image = numpy.arange(4 * 6 * 3, dtype=numpy.uint8).reshape(4, 6, 3)
        planes, kept = _live._planes(image[:, :4], "RGB24", 4, 4)
        self.assertEqual(planes[0].stride, 12)
        with self.assertRaises(ValueError):
            _live._planes(image, "RGB24", 4, 4)


if __name__ == "__main__":
    unittest.main()

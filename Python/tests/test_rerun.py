"""Examples/Rerun, read back with the package rerun-sdk."""

import importlib.util
import json
import tempfile
import unittest
from pathlib import Path

import support
from support import Child, python

PROGRAM = support.REPOSITORY / "Examples/Rerun/show.py"
HAS_RERUN = importlib.util.find_spec("rerun_bindings") is not None
NO_RERUN = "rerun-sdk is not installed"
TIMES = [7, 33_333_341, 66_666_675]


@unittest.skipUnless(HAS_RERUN, NO_RERUN)
@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class RerunTests(unittest.TestCase):
    def test_images_and_boxes_have_the_times_of_the_session(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, left in [("golden", 1), ("actual", 9)]:
            (folder / f"{name}.jsonl").write_text("".join(map(line, [(0, [left]), (2, [left, 3])])))
        named = [f"{name}={folder / name}.jsonl" for name in ("golden", "actual")]
        child = self.enterContext(Child(python(str(PROGRAM), *named, str(folder / "yard.rrd"))))
        child.host.greet(output="program")
        child.host.send({"reset": 1})
        self.assertEqual(child.host.receive(), {"reset": 1})
        counts = []
        for sequence, time in enumerate(TIMES):
            child.host.show(
                bytes(12), sequence, format="RGB24", planes=[[0, 6]], ptsNs=time, nowNs=time
            )
            scalars = child.host.receive()["out"]["value"]["scalars"]
            counts.append([each["value"] for each in scalars])
            self.assertEqual(child.host.receive(), {"done": sequence})
        self.assertEqual(counts, [[1, 1], [0, 0], [2, 2]])
        child.host.bye()
        self.assertEqual(child.status, 0, child.output)
        found = contents(folder / "yard.rrd")
        self.assertEqual(found["/camera/0"], [(time, None) for time in TIMES])
        for name, left in [("golden", 1), ("actual", 9)]:
            boxes = [(TIMES[0], [(left + 2.0, 4.0)]), (TIMES[2], [(left + 2.0, 4.0), (5.0, 4.0)])]
            self.assertEqual(found[f"/camera/0/{name}/boxes"], boxes)


def line(frame):
    """A result line, with boxes of 4 x 6 pixels."""
    sequence, lefts = frame
    boxes = [
        {"box": [left, 1, 4, 6], "class": "car", "classIndex": 0, "score": 0.5} for left in lefts
    ]
    sinks = {"boxes": {"fate": "deliver", "detections": boxes}}
    place = {"track": 0, "sequence": sequence, "pts": sequence, "timeNanoseconds": sequence}
    return json.dumps(place | {"sinks": sinks}) + "\n"


def contents(file):
    """By entity, the times in nanoseconds and the centers of boxes."""
    from rerun.chunk import RrdReader

    found = {}
    for chunk in RrdReader(str(file)).stream():
        rows = chunk.to_record_batch()
        if "session" not in rows.schema.names:
            continue
        times = rows.column("session").cast("int64").to_pylist()
        centers = [None] * len(times)
        if "Boxes2D:centers" in rows.schema.names:
            centers = [
                [tuple(center) for center in row]
                for row in rows.column("Boxes2D:centers").to_pylist()
            ]
        found.setdefault(chunk.entity_path, []).extend(zip(times, centers))
    return {entity: sorted(rows) for entity, rows in found.items()}


if __name__ == "__main__":
    unittest.main()

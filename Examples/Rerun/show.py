"""A session in Rerun: images, and the boxes of a golden and of a run under two entities.

    retake replay yard --program 'python3 show.py golden=Goldens/yard/motion actual=run yard.rrd'

This is a program of Retake: it gets every frame of the session, decoded, with its time.
"""

import sys

import numpy
import rerun

import retake


class Show(retake.Program):
    sinks = {"shown": "scalars"}
    formats = ["RGB24"]

    def __init__(self):
        *named, file = sys.argv[1:]
        self.results = {}
        for argument in named:
            name, _, folder = argument.partition("=")
            frames = retake.read_results(folder)
            self.results[name] = {(each.track, each.sequence): each.sinks for each in frames}
        self.recording = rerun.RecordingStream("retake")
        self.recording.save(file)

    def on_frame(self, frame):
        recording, counts = self.recording, {}
        # The session's presentation time, to the nanosecond.
        recording.set_time("session", duration=numpy.timedelta64(frame.pts_ns, "ns"))
        recording.set_time("frame", sequence=frame.sequence)
        image = rerun.Image(frame.array.copy()).compress(jpeg_quality=90)
        recording.log(f"camera/{frame.track}", image)
        for name, frames in self.results.items():
            counts[name] = 0
            for sink, result in frames.get((frame.track, frame.sequence), {}).items():
                boxes = rerun.Boxes2D(
                    array=[each.box for each in result.detections],
                    array_format=rerun.Box2DFormat.XYWH,
                    labels=[f"{each.label or ''} {each.score:.2f}" for each in result.detections],
                )
                recording.log(f"camera/{frame.track}/{name}/{sink}", boxes)
                counts[name] += len(result.detections)
        self.out("shown", counts)


if __name__ == "__main__":
    retake.main(Show)

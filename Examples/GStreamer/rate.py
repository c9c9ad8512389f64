"""Runs a GStreamer pipeline as a stage: half of the frames, as small grey images, and how bright they are."""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402

import retake  # noqa: E402

PIPELINE = """
  identity name=input
  ! videorate drop-only=true ! video/x-raw,framerate=15/1
  ! videoscale ! video/x-raw,width=32,height=24,pixel-aspect-ratio=1/1
  ! appsink name=output sync=false
"""


@retake.stage(output="scalars", formats=["GRAY8"], state="stateful", version=1)
class Rate:
    def __init__(self):
        Gst.init(None)
        self.fingerprint = Gst.version_string()
        self.pipeline = None

    def reset(self):
        if self.pipeline is not None:
            self.pipeline.set_state(Gst.State.NULL)
        self.pipeline = None

    def process(self, frame):
        if self.pipeline is None:
            self.start(frame)
        buffer = Gst.Buffer.new_wrapped(frame.planes[0].tobytes())
        buffer.pts = buffer.dts = frame.pts_ns
        # The pipeline has no queue, so this returns when its elements have done all that they do with the frame: a
        # program behind `appsrc` would have to guess when that is.
        result = self.source.push(buffer)
        if result != Gst.FlowReturn.OK:
            raise retake.StageError("gstreamer.flow", f"the pipeline answered {result.value_nick}")
        return self.passed()

    def start(self, frame):
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.output = self.pipeline.get_by_name("output")
        self.source = Gst.Pad.new("source", Gst.PadDirection.SRC)
        self.source.link(self.pipeline.get_by_name("input").get_static_pad("sink"))
        self.pipeline.set_state(Gst.State.PLAYING)
        self.source.set_active(True)
        caps = f"video/x-raw,format=GRAY8,width={frame.width},height={frame.height},framerate=30/1"
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        for event in (
            Gst.Event.new_stream_start("frames"),
            Gst.Event.new_caps(Gst.Caps.from_string(caps)),
            Gst.Event.new_segment(segment),
        ):
            self.source.push_event(event)

    def passed(self):
        """What came out of the pipeline for this frame; nothing for a frame that it drops."""
        values = {}
        # Ends: without a queue at most one image waits.
        while (sample := self.output.try_pull_sample(0)) is not None:
            buffer = sample.get_buffer()
            pixels = buffer.extract_dup(0, buffer.get_size())
            values = {"light": sum(pixels) / len(pixels), "at": buffer.pts / 1e9}
        return values


if __name__ == "__main__":
    retake.main(Rate)

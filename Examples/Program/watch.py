"""Watches the light of a camera: a whole program, with a debounce of 50 ms and a throttle of 15 a second."""

import retake

CHANGE = 0.05
"""Levels by which the mean of a frame differs from the one before if something happens."""
QUIET = 0.050
"""Seconds without a change, after which the light has settled."""
INTERVAL_NS = 66_666_667
"""At least so much time is between two numbers of the sink `light`."""


class Watch(retake.Program):
    sinks = {"light": "scalars", "settled": "scalars"}
    formats = ["GRAY8"]

    def reset(self):
        self.last = None
        self.quiet = None
        self.newest = None
        self.is_waiting = False

    def on_frame(self, frame):
        plane = frame.planes[0]
        mean = sum(map(sum, plane.rows())) / (plane.width * plane.height)
        self.throttle(mean)
        if self.last is not None and abs(mean - self.last) > CHANGE:
            self.debounce(mean)
        self.last = mean

    def debounce(self, mean):
        self.cancel(self.quiet)
        self.quiet = self.after(QUIET, lambda: self.out("settled", {"mean": mean, "ms": self.now_ns / 1e6}))

    def throttle(self, mean):
        self.newest = mean
        if not self.is_waiting:
            self.show()

    def show(self):
        self.is_waiting = self.newest is not None
        if self.is_waiting:
            self.out("light", {"mean": self.newest, "ms": self.now_ns / 1e6})
            self.newest = None
            self.at(self.now_ns + INTERVAL_NS, self.show)


if __name__ == "__main__":
    retake.main(Watch)

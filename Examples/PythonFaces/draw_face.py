"""Draws the clip of Recordings/face: `python3 draw_face.py face.mkv`. Needs numpy and ffmpeg."""

import subprocess
import sys

import numpy

WIDTH, HEIGHT, FRAMES, RATE = 320, 240, 90, 30


class Canvas:
    """A grey image, painted with soft ellipses in the coordinates of a face."""

    def __init__(self, x, y, size, turn):
        rows, columns = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        u, v = (columns - x) / size, (rows - y) / size
        self.u = numpy.cos(turn) * u + numpy.sin(turn) * v
        self.v = numpy.cos(turn) * v - numpy.sin(turn) * u
        self.pixels = 120 + 12 * numpy.sin(columns / 37) * numpy.cos(rows / 29)

    def paint(self, x, y, width, height, level, softness, opacity=1.0):
        distance = numpy.hypot((self.u - x) / width, (self.v - y) / height)
        mask = opacity * numpy.clip((1 + softness - distance) / softness, 0, 1)
        self.pixels = self.pixels * (1 - mask) + level * mask

    def face(self):
        self.paint(0, -0.15, 0.98, 1.25, 45, 0.1)  # hair
        self.paint(0, 0.05, 0.8, 1.1, 185, 0.12)  # skin
        self.paint(0, -0.55, 0.55, 0.3, 205, 0.9, 0.7)  # forehead
        for side in (-1, 1):
            self.paint(side * 0.36, -0.18, 0.27, 0.17, 105, 0.6, 0.8)  # eye socket
            self.paint(side * 0.36, -0.36, 0.25, 0.06, 60, 0.6)  # brow
            self.paint(side * 0.36, -0.14, 0.17, 0.08, 225, 0.4)  # eye
            self.paint(side * 0.36, -0.14, 0.075, 0.08, 25, 0.4)  # pupil
            self.paint(side * 0.42, 0.3, 0.25, 0.22, 205, 1, 0.7)  # cheek
        self.paint(0, 0.08, 0.1, 0.35, 215, 0.8, 0.7)  # nose
        self.paint(0, 0.36, 0.2, 0.06, 110, 0.8, 0.8)
        self.paint(0, 0.64, 0.34, 0.09, 85, 0.5)  # mouth
        self.paint(0, 0.85, 0.3, 0.06, 150, 1, 0.6)


def frame(index, noise):
    """The face comes from the left, turns, and leaves at the right."""
    time = index / RATE
    canvas = Canvas(
        -60 + 150 * time, 120 + 20 * numpy.sin(2 * time), 45 + 8 * numpy.sin(1.5 * time),
        0.12 * numpy.sin(4 * time),
    )  # fmt: skip
    canvas.face()
    pixels = canvas.pixels + noise.normal(0, 3, canvas.pixels.shape)
    return numpy.clip(pixels, 0, 255).astype(numpy.uint8)


def main():
    noise = numpy.random.default_rng(7)
    pixels = b"".join(frame(index, noise).tobytes() for index in range(FRAMES))
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray",
         "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-", "-pix_fmt", "yuv420p",
         "-c:v", "mpeg4", "-q:v", "3", "-bitexact", sys.argv[1]],
        input=pixels, check=True,
    )  # fmt: skip


if __name__ == "__main__":
    main()

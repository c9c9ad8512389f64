"""Finds bright areas: pixels that touch, also at corners, and are brighter than `above`."""

import re

import retake

RUN = re.compile(b"\x01+")


@retake.stage(output="detections", formats=["GRAY8"], class_names=["bright"], version=1)
class Bright:
    def __init__(self, options):
        above = options.get("above", 200)
        self.least = options.get("least", 20)
        self.marks = bytes(level > above for level in range(256))

    def process(self, frame):
        areas = joined(list(self.runs(frame)))
        return [detection(area) for area in areas if pixels(area) >= self.least]

    def runs(self, frame):
        """Bright pixels next to each other in a row: (y, start, end)."""
        for y, row in enumerate(frame.planes[0].rows()):
            for run in RUN.finditer(row.tobytes().translate(self.marks)):
                yield y, *run.span()


def joined(runs):
    """The runs of each area: those that touch in the next row, or at a corner."""
    earlier = list(range(len(runs)))  # by index: itself, or an earlier run of the same area

    def first(index):
        while earlier[index] != index:
            index = earlier[index]
        return index

    above = 0
    for index, (y, start, end) in enumerate(runs):
        while runs[above][0] < y - 1:
            above += 1
        for other in range(above, index):
            if runs[other][0] == y - 1 and runs[other][1] <= end and start <= runs[other][2]:
                one, two = sorted((first(index), first(other)))
                earlier[two] = one
    areas = {}
    for index, run in enumerate(runs):
        areas.setdefault(first(index), []).append(run)
    return areas.values()


def pixels(area):
    return sum(end - start for _, start, end in area)


def detection(area):
    left, right = min(start for _, start, _ in area), max(end for _, _, end in area)
    top, bottom = area[0][0], area[-1][0] + 1
    size = (right - left) * (bottom - top)
    return retake.Detection(
        (left, top, right - left, bottom - top), pixels(area) / size, label="bright"
    )


if __name__ == "__main__":
    retake.main(Bright)

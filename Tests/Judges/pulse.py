"""Judges of Sources/Engine/RetakeCore/Signal, for Tests/RetakeCoreTests/Signal/JudgeTests.swift.

POS and CHROM are written from the formulas of their papers, with NumPy and SciPy:
  Wang, den Brinker, Stuijk, de Haan: Algorithmic principles of remote PPG. IEEE TBME 64, 2017.
  de Haan, Jeanne: Robust pulse rate from chrominance-based rPPG. IEEE TBME 60, 2013.
"""
import json
import math
import sys

import numpy as np
from scipy import signal


def pos(colors, rate):
    """Algorithm 1: C is 3 x N; l is 1.6 seconds."""
    count = colors.shape[1]
    length = math.ceil(1.6 * rate - 1e-3)
    projection = np.array([[0, 1, -1], [-2, 1, 1]])
    pulse = np.zeros(count)
    for n in range(length - 1, count):
        m = n - length + 1
        interval = colors[:, m : n + 1]
        normalized = np.diag(1 / interval.mean(axis=1)) @ interval
        s = projection @ normalized
        h = s[0] + s[0].std() / s[1].std() * s[1]
        pulse[m : n + 1] += h - h.mean()
    return pulse


def chrom(colors, rate):
    """Equations 9 to 13, in intervals that overlap by half, weighted with Hann's window."""
    count = colors.shape[1]
    half = math.ceil(math.ceil(1.6 * rate - 1e-3) / 2)
    window = signal.windows.hann(2 * half, sym=False)
    pulse = np.zeros(count)
    for start in range(0, count - 2 * half + 1, half):
        interval = colors[:, start : start + 2 * half]
        r, g, b = interval / interval.mean(axis=1, keepdims=True)
        x = band(3 * r - 2 * g, rate)
        y = band(1.5 * r + g - 1.5 * b, rate)
        pulse[start : start + 2 * half] += window * (x - x.std() / y.std() * y)
    return pulse


def band(samples, rate, order=2):
    """0.5 to 4 Hz without delay; both ends are extended by a period of the lower edge."""
    sections = signal.butter(order, [0.5, 4], "bandpass", fs=rate, output="sos")
    reach = min(math.ceil(rate / 0.5), len(samples) - 1)
    return signal.sosfiltfilt(sections, samples, padtype="odd", padlen=reach)


def dense(samples, penalty):
    """The detrending of Tarvainen and others, with the matrix of the paper."""
    count = len(samples)
    second = np.diff(np.eye(count), n=2, axis=0)
    return samples - np.linalg.solve(np.eye(count) + penalty**2 * second.T @ second, samples)


def worst(cases, judge):
    return max(float(np.abs(judge(case) - np.array(case["found"])).max()) for case in cases)


def colors(case):
    return np.array([case["red"], case["green"], case["blue"]])


def recordings():
    """The three recordings of HeartPy: samples, their times in seconds, and HeartPy's own rate."""
    import heartpy

    result = []
    for index in range(3):
        samples, timer = heartpy.load_exampledata(index)
        if index == 0:
            rate = 100.0
        elif index == 1:
            rate = heartpy.get_samplerate_mstimer(timer)
        else:
            rate = heartpy.get_samplerate_datetime(timer, timeformat="%Y-%m-%d %H:%M:%S.%f")
        _, measures = heartpy.process(np.asarray(samples, dtype=float), rate)
        result.append(
            {
                "rate": float(rate),
                "samples": [float(sample) for sample in samples],
                "beatsPerMinute": float(measures["bpm"]),
            }
        )
    return result


if __name__ == "__main__":
    if sys.argv[1] == "heartpy":
        print(json.dumps(recordings()))
    else:
        given = json.load(sys.stdin)
        print(
            json.dumps(
                {
                    "pos": worst(given["pos"], lambda case: pos(colors(case), case["rate"])),
                    "chrom": worst(given["chrom"], lambda case: chrom(colors(case), case["rate"])),
                    "band": worst(
                        given["band"],
                        lambda case: band(np.array(case["red"]), case["rate"], case["order"]),
                    ),
                    "detrend": worst(
                        given["detrend"], lambda case: dense(np.array(case["red"]), 100)
                    ),
                }
            )
        )

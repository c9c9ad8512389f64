"""Counts bright figures in a video, as such a script is usually written: Retake is not mentioned."""

import csv
import threading
import time
from queue import Queue

import cv2


def read(path, frames):
    capture = cv2.VideoCapture(path)
    while capture.isOpened():
        ok, frame = capture.read()
        if not ok:
            break
        frames.put((time.monotonic(), frame))
    capture.release()
    frames.put(None)


frames = Queue(maxsize=8)
threading.Thread(target=read, args=("figures.mp4", frames)).start()

with open("figures.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["bright", "areas", "seconds"])
    while (item := frames.get()) is not None:
        seconds, frame = item
        gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        _, bright = cv2.threshold(gray, 150, 255, cv2.THRESH_BINARY)
        areas, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        rows.writerow([cv2.countNonZero(bright), len(areas), round(seconds, 3)])
        cv2.imshow("bright", bright)
        if cv2.waitKey(1) == ord("q"):
            break

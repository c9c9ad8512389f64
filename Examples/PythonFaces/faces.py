"""Finds faces with OpenCV's cascade of Haar features."""

import os

import cv2
import retake

cv2.setNumThreads(1)

MODEL = "haarcascade_frontalface_default.xml"


def model_file():
    """The model that comes with opencv-python, or with Debian's opencv-data."""
    data = getattr(cv2, "data", None)
    folder = data.haarcascades if data else "/usr/share/opencv4/haarcascades"
    return os.path.join(folder, MODEL)


@retake.stage(output="detections", formats=["GRAY8"], class_names=["face"], version=1)
class Faces:
    def __init__(self):
        self.model = cv2.CascadeClassifier(model_file())
        self.fingerprint = f"OpenCV {cv2.__version__}"

    def process(self, frame):
        boxes, _, weights = self.model.detectMultiScale3(
            frame.array, scaleFactor=1.2, minSize=(60, 60), outputRejectLevels=True
        )
        return [
            retake.Detection(box, score, label="face") for box, score in zip(boxes, weights)
        ]


if __name__ == "__main__":
    retake.main(Faces)

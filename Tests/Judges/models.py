"""Judges of the stages with a model, for Tests/RetakeStagesTests/ModelReferenceTests.swift.

They compute what a user computes in Python, with onnxruntime, OpenCV and NumPy:
  boxes    the boxes of CenterFace and of PP-OCR's detector, from a clip or from raw RGB pictures
  levels   how far RGB pictures are from those of cv2.VideoCapture
  strings  draws strings, so that a model can read them

Clips are decoded by the ffmpeg command without a conversion. Their colors are converted by the
formula of ITU-R BT.601 or BT.709 in 64-bit floats, with each chroma sample for the pixels that it
covers. cv2.VideoCapture cannot be the reference of boxes: it converts with libswscale, whose
results differ between processors by up to two levels, and the boxes with them.
"""
import json
import os
import subprocess
import sys

import cv2
import numpy as np


def probe(clip):
    """Width, height, matrix and range of the first video stream."""
    text = subprocess.check_output(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "json", "-show_entries",
         "stream=width,height,pix_fmt,color_range,color_space", clip])
    stream = json.loads(text)["streams"][0]
    if stream["pix_fmt"] not in ("yuv420p", "yuvj420p"):
        raise SystemExit("models.py: the clip is not 4:2:0 with 8 bits")
    matrix = "bt709" if stream.get("color_space") == "bt709" else "bt601"
    return stream["width"], stream["height"], matrix, stream.get("color_range") == "pc"


def converted(planes, width, height, matrix, is_full):
    """One frame of 4:2:0 planes as RGB."""
    across, down = width // 2, height // 2
    luma = planes[: width * height].reshape(height, width).astype(np.float64)
    u, v = planes[width * height :].reshape(2, down, across).astype(np.float64) - 128
    u, v = (plane.repeat(2, 0).repeat(2, 1) for plane in (u, v))
    if not is_full:
        luma = (luma - 16) * 255 / 219
        u, v = u * 255 / 224, v * 255 / 224
    # The weights of red and blue in luma.
    red, blue = (0.2126, 0.0722) if matrix == "bt709" else (0.299, 0.114)
    r = luma + 2 * (1 - red) * v
    b = luma + 2 * (1 - blue) * u
    g = (luma - red * r - blue * b) / (1 - red - blue)
    return np.clip(np.rint(np.stack([r, g, b], axis=2)), 0, 255).astype(np.uint8)


def clip_frames(clip, count):
    width, height, matrix, is_full = probe(clip)
    if width % 2 or height % 2:
        raise SystemExit("models.py: the clip's sides are odd")
    raw = subprocess.check_output(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-map", "0:v:0", "-fps_mode",
         "passthrough", "-frames:v", str(count), "-f", "rawvideo", "-"])
    for planes in np.frombuffer(raw, np.uint8).reshape(-1, width * height * 3 // 2):
        yield converted(planes, width, height, matrix, is_full)


def frames(source):
    if "clip" in source:
        yield from clip_frames(source["clip"], source["frames"])
    else:
        shape = (-1, source["height"], source["width"], 3)
        yield from np.fromfile(source["rgb"], np.uint8).reshape(shape)


def session(path, shape):
    """The model for an input of the given shape, whatever shape it declares."""
    import onnx
    import onnxruntime

    model = onnx.load(path)
    constants = {tensor.name for tensor in model.graph.initializer}
    (port,) = [port for port in model.graph.input if port.name not in constants]
    for dimension, length in zip(port.type.tensor_type.shape.dim, shape):
        dimension.dim_value = length
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    made = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda blob: made.run(None, {port.name: blob})


def letterboxed(image, settings):
    """The model's input, and the way back: the scales of x and y, and the corner."""
    height, width = image.shape[:2]
    new_width, new_height = settings["size"]
    scale = min(new_width / width, new_height / height)
    inner_width, inner_height = round(width * scale), round(height * scale)
    scaled = cv2.resize(image, (inner_width, inner_height), interpolation=cv2.INTER_LINEAR)
    x, y = (new_width - inner_width) // 2, (new_height - inner_height) // 2
    padded = cv2.copyMakeBorder(
        scaled, y, new_height - inner_height - y, x, new_width - inner_width - x,
        cv2.BORDER_CONSTANT, value=(0, 0, 0))
    if settings["color_space"] == "BGR":
        padded = padded[:, :, ::-1]
    mean = np.float32(settings.get("mean_values", [0])[0])
    divisor = np.float32(settings.get("scale_values", [1])[0])
    blob = ((padded.astype(np.float32) - mean) / divisor).transpose(2, 0, 1)[None]
    return np.ascontiguousarray(blob), (inner_width / width, inner_height / height, x, y)


def overlap(a, b):
    """Intersection over union of boxes of left, top, width, height."""
    across = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    down = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if across <= 0 or down <= 0:
        return 0
    return across * down / (a[2] * a[3] + b[2] * b[3] - across * down)


def center_face(outputs, settings):
    """Xu and others: CenterFace, 2019: heat map, log sizes and offsets on a grid of 4 pixels."""
    heat, sizes, offsets = (output[0].astype(np.float64) for output in outputs[:3])
    found = []
    for row, column in zip(*np.where(heat[0] > settings["confidence_threshold"])):
        height, width = np.exp(sizes[:, row, column]) * 4
        down, across = offsets[:, row, column]
        box = [(column + across + 0.5) * 4 - width / 2, (row + down + 0.5) * 4 - height / 2,
               width, height]
        found.append((heat[0, row, column], box))
    found.sort(key=lambda one: -one[0])
    kept = []
    for score, box in found:
        if all(overlap(box, other) <= settings["iou_threshold"] for _, other in kept):
            kept.append((score, box))
    return kept


def db_text(outputs, settings):
    """Liao and others: Differentiable Binarization, 2020, with boxes parallel to the axes."""
    heat = outputs[0][0, 0]
    mask = (heat > settings["pixel_threshold"]).astype(np.uint8)
    if settings["use_dilation"]:
        mask = cv2.dilate(mask, np.ones((2, 2), np.uint8))
    _, _, areas, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = []
    for x, y, across, down, _ in areas[1:].tolist():
        score = heat[y : y + down, x : x + across].mean(dtype=np.float64)
        # Contours are measured between the middles of pixels.
        width, height = across - 1, down - 1
        if min(width, height) < 3 or score <= settings["confidence_threshold"]:
            continue
        growth = width * height * settings["unclip_ratio"] / (2 * (width + height))
        if min(width, height) + 2 * growth >= 5:
            box = [x - growth, y - growth, width + 2 * growth, height + 2 * growth]
            found.append((score, box))
    return sorted(found, key=lambda one: -one[0])


DECODERS = {"centerface": center_face, "db-text": db_text}


def in_frame(box, way, width, height):
    """A box of the model's input in pixels of the frame, clipped at its edges."""
    across, down, x, y = way
    left, top = (box[0] - x) / across, (box[1] - y) / down
    right, bottom = left + box[2] / across, top + box[3] / down
    left, top, right, bottom = max(0, left), max(0, top), min(width, right), min(height, bottom)
    return [left, top, right - left, bottom - top]


def boxes(question):
    """For each source and each of its frames: score, left, top, width and height of each box."""
    with open(os.path.splitext(question["model"])[0] + ".model.json", encoding="utf-8") as file:
        sidecar = json.load(file)
    decode = DECODERS[sidecar["output"]["decoder"]]
    width, height = sidecar["input"]["size"]
    run = session(question["model"], [1, 3, height, width])
    answer = []
    for source in question["sources"]:
        answer.append([])
        for image in frames(source):
            blob, way = letterboxed(image, sidecar["input"])
            rows, columns = image.shape[:2]
            found = [
                [float(score)] + [float(side) for side in in_frame(box, way, columns, rows)]
                for score, box in decode(run(blob), sidecar["output"])
            ]
            answer[-1].append([one for one in found if one[3] > 0 and one[4] > 0])
    return answer


def levels(question):
    """The largest and the mean difference of RGB levels, and the number of frames."""
    width, height = probe(question["clip"])[:2]
    ours = np.fromfile(question["rgb"], np.uint8).reshape(-1, height, width, 3)
    capture = cv2.VideoCapture(question["clip"], cv2.CAP_FFMPEG)
    largest, sums = 0, []
    for picture in ours:
        is_read, image = capture.read()
        if not is_read:
            break
        difference = cv2.absdiff(np.ascontiguousarray(image[:, :, ::-1]), picture)
        largest = max(largest, int(difference.max()))
        sums.append(float(difference.mean()))
    return {"frames": len(sums), "largest": largest, "mean": sum(sums) / max(1, len(sums))}


WORDS = ["Camera", "frame", "replay", "Golden", "vision", "pulse", "model", "Signal", "latency"]
FONTS = [cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX]


def strings(question):
    """Draws strings into a file of raw RGB pictures, dark on bright and bright on dark."""
    width, height = 480, 160
    texts = []
    with open(question["rgb"], "wb") as file:
        for index in range(question["count"]):
            number = index * 7919 % 1000
            word = WORDS[index % len(WORDS)]
            text = f"{word} {number:03d}" if index % 2 else f"{word}-{number % 100}"
            paper, ink = (225, 30) if index % 4 else (40, 235)
            image = np.full((height, width, 3), paper, np.uint8)
            place = (40 + index, 60 + index)
            font = FONTS[index % len(FONTS)]
            cv2.putText(image, text, place, font, 1.3, (ink, ink, ink), 2, cv2.LINE_AA)
            file.write(image.tobytes())
            texts.append(text)
    return {"width": width, "height": height, "texts": texts}


if __name__ == "__main__":
    judges = {"boxes": boxes, "levels": levels, "strings": strings}
    print(json.dumps(judges[sys.argv[1]](json.load(sys.stdin))))

"""The headers of C/, for stages in C and C++ and loops in C++, driven by the host of these tests."""

import base64
import functools
import json
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from support import Child
from test_examples import blocks

import retake

C = support.REPOSITORY / "C"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"]
LANGUAGES = {"C99": ("cc", ["-std=c99"]), "C++17": ("c++", ["-std=c++17", "-x", "c++"])}
NO_COMPILER = "a C and a C++ compiler are not installed"
NO_SANITIZERS = "the C compiler has no sanitizers"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HAS_COMPILERS = all(shutil.which(compiler) for compiler, _ in LANGUAGES.values())


@functools.cache
def folder():
    """Of the compiled programs, until this process ends."""
    made = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(made.cleanup)
    return Path(made.name)


@functools.cache
def compiled(language, source, *options):
    """The path of the program."""
    compiler, standard = LANGUAGES[language]
    program = folder() / f"program-{len(os.listdir(folder()))}"
    command = [compiler, *standard, *WARNINGS, *options, f"-I{C}", "-o", program, source, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{language} {source}:\n{done.stderr}")
    return program


@functools.cache
def has_sanitizers():
    source = folder() / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    command = ["cc", *SANITIZERS, "-o", folder() / "empty", source]
    return subprocess.run(command, capture_output=True).returncode == 0


def scalars(reply):
    return {element["name"]: element["value"] for element in reply["value"]["scalars"]}


@unittest.skipUnless(HAS_COMPILERS, NO_COMPILER)
@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class ProbeTests(unittest.TestCase):
    """C/tests/probe.c, compiled as C and as C++."""

    def start(self, does, output="scalars", language="C99", stateful=False, slots=1, **options):
        defines = [f'-DOUTPUT="{output}"'] + ["-DSTATEFUL"] * stateful
        program = compiled(language, C / "tests/probe.c", *defines)
        child = self.enterContext(Child([str(program)], slots=slots))
        child.host.hello(output=output, options={"does": does} | options)
        return child

    def test_planes_of_every_format_are_read_with_their_strides(self):
        draw = random.Random(3)
        formats = {
            "GRAY8": [(1, 1, 1)], "RGB24": [(1, 1, 3)], "BGR24": [(1, 1, 3)],
            "BGRA": [(1, 1, 4)], "RGBA": [(1, 1, 4)],
            "I420": [(1, 1, 1), (2, 2, 1), (2, 2, 1)], "I422": [(1, 1, 1), (2, 1, 1), (2, 1, 1)],
            "I444": [(1, 1, 1)] * 3, "NV12": [(1, 1, 1), (2, 2, 2)],
            # Two bytes a sample: as many as two channels have.
            "I420P10": [(1, 1, 2), (2, 2, 2), (2, 2, 2)], "GRAY16": [(1, 1, 2)],
            "I440": [(1, 1, 1), (1, 2, 1), (1, 2, 1)], "GBRAP12": [(1, 1, 2)] * 4,
            "I422AP10": [(1, 1, 2), (2, 1, 2), (2, 1, 2), (1, 1, 2)],
        }  # fmt: skip
        for language in LANGUAGES:
            child = self.start("sum", language=language, slots=3)
            ready = child.host.receive()["ready"]
            self.assertEqual(
                ready,
                {
                    "v": 1, "name": "probe", "version": 7, "output": "scalars", "state": "pure",
                    "formats": ["GRAY8", "I420"], "classNames": [], "fingerprint": "model:1",
                },
            )  # fmt: skip
            for sequence, (name, shapes) in enumerate(formats.items()):
                width, height = draw.randint(1, 40), draw.randint(1, 30)
                places, expected, pixels = [], {}, bytearray()
                for index, (across, down, channels) in enumerate(shapes):
                    columns, rows = -(-width // across), -(-height // down)
                    stride = columns * channels + draw.randint(0, 5)
                    pixels += bytes(draw.randint(0, 7))
                    places.append([len(pixels), stride])
                    plane = draw.randbytes(stride * rows)
                    visible = (plane[y * stride :][: columns * channels] for y in range(rows))
                    expected[str(index)] = sum(map(sum, visible))
                    pixels += plane
                reply = child.host.ask(
                    bytes(pixels), sequence, slot=sequence % 3, format=name, width=width,
                    height=height, planes=places,
                )  # fmt: skip
                self.assertEqual(scalars(reply), expected, name)
            child.host.bye()
            self.assertEqual(child.status, 0)
            self.assertEqual(child.output, "".join(f"frame {n}\n" for n in range(len(formats))))

    def test_options_and_what_a_frame_says(self):
        for language in LANGUAGES:
            child = self.start("tell", language=language, count=15.0, number=-2.5e-3, flag=True)
            child.host.receive()
            reply = child.host.ask(
                sequence=3, item=2, track=9, ptsNs=-7, range="limited", matrix="bt709"
            )
            self.assertEqual((reply["sequence"], reply["item"]), (3, 2))
            self.assertEqual(
                scalars(reply),
                {
                    "count": 15, "number": -0.0025, "flag": 1, "track": 9, "item": 2, "pts": -7,
                    "GRAY8": 2, "limited": 2, "bt709": 0,
                },
            )  # fmt: skip
            self.assertNotIn("item", child.host.ask())
            child.host.bye()
            self.assertEqual(child.status, 0)

    def test_sensors_are_read_and_wrong_ones_end_the_program(self):
        imu = {
            "sensor": "imu", "unit": "rad/s", "channels": ["x", "y"], "latest": [9, [1.5, None]],
            "window": [[7, [1, 2]], [8, [0.25, None]]],
        }  # fmt: skip
        early = {"sensor": "gps", "unit": "", "channels": ["h"], "latest": None, "window": []}
        for language in LANGUAGES:
            child = self.start("sense", language=language)
            child.host.receive()
            reply = child.host.ask(sensors=[imu, early])
            self.assertEqual(
                scalars(reply),
                {
                    "imu.x": 1.25, "imu.x newest": 1.5, "imu.y": 2, "imu in rad/s": 8, "gps.h": 0,
                    "gps in ": -1,
                },
            )  # fmt: skip
            self.assertEqual(scalars(child.host.ask(sequence=1)), {})
            child.host.bye()
            self.assertEqual(child.status, 0)
        wrong = [
            7, [7], [{}], [imu | {"channels": 1}], [imu | {"latest": [1, [2]]}],
            [imu | {"window": [[1, [1, 2, 3]]]}], [imu | {"window": [[1.5, [1, 2]]]}],
            [imu | {"window": [[1, [1, "2"]]]}], [imu | {"window": [[1, [1, 2], 3]]}],
            [imu | {"unit": None}], [imu | {"latest": 4}],
        ]  # fmt: skip
        for sensors in wrong:
            with self.subTest(sensors=sensors):
                child = self.start("sense")
                child.host.receive()
                child.host.show(bytes(4), sensors=sensors)
                self.assertEqual(child.status, 2)

    def test_escapes_and_spaces_of_json_are_read(self):
        child = self.start("tell")
        child.host.receive()
        message = json.dumps(
            {"frame": {
                "track": 0, "sequence": 1, "item": None, "ptsNs": 0, "slot": 0, "format": "GRAY8",
                "width": 2, "height": 2, "range": "é😀\n", "matrix": "\t\"\\", "planes": [[0, 2]],
                "later": [{"a": [1.5e-7, None, True]}, "\ud83d\ude00"],
            }}, indent=2,
        ).replace('"frame"', '"\\u0066r\\u0061me"').replace("1,\n", "10e-1,\n", 1)  # fmt: skip
        child.host.send(message.encode())
        found = scalars(child.host.receive())
        self.assertEqual(found["é😀\n"], 2)
        self.assertIn('\t"\\', found)

    def test_numbers_have_the_shortest_form(self):
        draw = random.Random(11)
        edges = [0.0, -0.0, 1.0, -1.5, 0.1, 1e21, 1e-7, 5e-324, 2.2250738585072014e-308,
                 1.7976931348623157e308, 123456789.12345678, 2**53 + 2.0, 1 / 3, 4.35]  # fmt: skip
        values = edges + [draw.uniform(-1000, 1000) for _ in range(200)]
        while len(values) < 500:
            (value,) = struct.unpack("d", draw.randbytes(8))
            if math.isfinite(value):
                values.append(value)
        child = self.start("numbers")
        child.host.receive()
        width = 8 * len(values)
        child.host.show(
            struct.pack(f"{len(values)}d", *values), width=width, height=1, planes=[[0, width]]
        )
        header = child.host._take(4)
        body = child.host._take(int.from_bytes(header, "little")).decode()
        told = json.loads(body, parse_float=str, parse_int=str)["value"]["scalars"]
        for value, element in zip(values, told, strict=True):
            self.assertEqual(struct.pack("d", float(element["value"])), struct.pack("d", value))
            digits = len(element["value"].lstrip("-").split("e")[0].replace(".", "").strip("0"))
            shortest = len(repr(value).lstrip("-").split("e")[0].replace(".", "").strip("0"))
            # At a power of two, a shorter form is possible that is not the nearest one.
            self.assertLessEqual(digits, shortest + (math.frexp(value)[0] in (0.5, -0.5)), value)

    def test_detections_have_identities_and_labels(self):
        for language in LANGUAGES:
            child = self.start("detect", "detections", language, count=3, flag=True)
            ready = child.host.receive()["ready"]
            self.assertEqual(ready["classNames"], ["first", 'sec"ond'])
            labels = [{"label": 'red "\\\n', "score": 0.5}, {"label": "grün", "score": 1}]
            expected = [
                {
                    "box": [1.5, -2, 3, 0.1], "score": 0.25, "class": index % 2,
                    "identity": -(2**63), "classes": labels,
                }
                for index in range(3)
            ]  # fmt: skip
            self.assertEqual(child.host.ask()["value"], {"detections": expected})
        child = self.start("detect", "detections", count=0)
        child.host.receive()
        self.assertEqual(child.host.ask()["value"], {"detections": []})

    def test_labels_of_a_frame(self):
        child = self.start("classify", "classes")
        child.host.receive()
        self.assertEqual(
            child.host.ask()["value"],
            {"classes": [{"label": "cat", "score": 0.75}, {"label": "dog", "score": 0.25}]},
        )

    def test_observations_have_all_forms(self):
        draw = random.Random(5)
        images = [[[0] * 3] * 2, [[255] * 3] * 2]
        for width, height, share in [(1, 1, 2), (5, 4, 2), (60, 100, 40), (300, 200, 2)]:
            # Long and short runs.
            images += [
                [[255 * (draw.randrange(share) == 0) for _ in range(width)] for _ in range(height)],
                [[255 * (x * 3 > y) for x in range(width)] for y in range(height)],
            ]
        for language in LANGUAGES:
            child = self.start("observe", "observations", language)
            child.host.receive()
            for sequence, rows in enumerate(images):
                width, height = len(rows[0]), len(rows)
                # Bytes between the rows are not part of the mask.
                pixels = b"".join(bytes(row) + b"\xff\xff" for row in rows)
                value = child.host.ask(
                    pixels, sequence, width=width, height=height, planes=[[0, width + 2]]
                )["value"]["observations"]
                counts = retake.Mask.of(rows, "person").counts
                self.assertEqual(
                    value[0],
                    {
                        "label": "person", "score": 0.75, "identity": -4,
                        "mask": {"size": [height, width], "counts": counts},
                    },
                )  # fmt: skip
                image = value[5]["image"]
                self.assertEqual((image["size"], image["type"]), ([height, width, 1], "u8"))
                found = base64.b64decode(image["data"], validate=True)
                self.assertEqual(found, b"".join(map(bytes, rows)))
            points = [
                {"name": 'eye "l"', "x": 1.5, "y": -2, "score": 0.5},
                {"name": "nose", "x": 3, "y": 4, "score": 1},
            ]
            vector = [struct.unpack("f", struct.pack("f", number))[0] for number in (0.1, -2, 3e-9)]
            vertices = [[0.1, -2], [1e6, 3.25], [4, 5]]
            depth = base64.b64encode(struct.pack("<4H", 0x0102, 0xFFFF, 3, 4)).decode()
            flow = base64.b64encode(struct.pack("<4f", *vector, math.nan)).decode()
            self.assertEqual(
                value[1:5] + value[6:],
                [
                    {"label": "face", "score": 1, "points": points, "bones": [[1, 0]]},
                    {"label": "lane", "score": 0.5, "identity": 5, "polyline": vertices[:2]},
                    {"label": "car", "score": 1, "polygon": vertices},
                    {"label": "empty", "score": 1, "polygon": []},
                    {
                        "label": "depth", "score": 0.5,
                        "image": {"size": [2, 2, 1], "type": "u16", "data": depth},
                    },
                    {
                        "label": "flow", "score": 1, "identity": 6,
                        "image": {"size": [1, 2, 2], "type": "f32", "data": flow},
                    },
                    {"label": "clothés", "score": 1, "embedding": vector},
                    {"label": "scene", "score": 1, "json": {"light": ["day", None]}},
                ],
            )  # fmt: skip

    def test_the_largest_image_is_sent(self):
        child = self.start("largest", "observations")
        child.host.receive()
        (item,) = child.host.ask()["value"]["observations"]
        self.assertEqual(item["image"]["size"], [1024, 5000, 1])
        data = base64.b64decode(item["image"]["data"], validate=True)
        self.assertEqual(data, bytes(1024 * 5000 * 4 - 1) + b"\x80")

    def test_wrong_observations_halt(self):
        expected = {
            "noMask": "a mask has pixels, 1 to 65536 columns and rows, and a stride of at least "
            "its columns",
            "wideMask": "a mask has pixels, 1 to 65536 columns and rows, and a stride of at least "
            "its columns",
            "bone": "an end of a bone is the index of a point",
            "noLine": "the array of points is NULL",
            "nowhere": "a coordinate of a point must be finite",
            "bigImage": "an image has at most 24 MiB: a",
            "images": "the value is larger than a message can be",
            "infinite": "a number of an embedding must be finite",
            "json": "this is not a JSON value: {} {}",
            "labels": "the output of the stage is not detections",
        }
        for does in ("noImage", "flatImage", "deepImage", "wideImage", "noType"):
            expected[does] = (
                "an image has pixels, 1 to 65536 columns and rows, 1 to 4 channels, one of the "
                "types, and a stride of at least its row in bytes"
            )
        for does, message in expected.items():
            child = self.start(does, "observations")
            child.host.receive()
            self.assertEqual(
                child.host.ask()["error"],
                {"code": "c.value", "message": message, "severity": "unrecoverable"},
                does,
            )

    def test_errors_and_mistakes_are_answered(self):
        expected = {
            "error": ("probe.dark", "recoverable", "too dark?\n"),
            "halt": ("probe.broken", "unrecoverable", ""),
            "nan": ("c.value", "unrecoverable", "a side of a box must be finite"),
            "negative": (
                "c.value", "unrecoverable", "the width and height of a box are 0 or more"
            ),
            "class": ("c.value", "unrecoverable", "a detection has a class without a name"),
            "other": ("c.value", "unrecoverable", "the output of the stage is not scalars"),
            "identity": (
                "c.value", "unrecoverable", "an identity comes directly behind its detection"
            ),
            "label": ("c.value", "unrecoverable", "there is no detection for the label a"),
            "text": ("c.value", "unrecoverable", "a label is not UTF-8: ?"),
            "noText": ("c.value", "unrecoverable", "a label is NULL"),
            "noCode": ("c.value", "unrecoverable", "this is not a code, such as model.shape: "),
            "noMessage": ("probe.dark", "recoverable", ""),
            "code": (
                "c.value", "unrecoverable", "this is not a code, such as model.shape: two words"
            ),
        }  # fmt: skip
        for does, (code, severity, message) in expected.items():
            child = self.start(does, "detections")
            child.host.receive()
            reply = child.host.ask(sequence=4)
            self.assertEqual(
                reply,
                {
                    "sequence": 4,
                    "error": {"code": code, "message": message, "severity": severity},
                },
                does,
            )
            child.host.bye()
            self.assertEqual(child.status, 0)

    def test_a_value_larger_than_a_message_is_a_mistake(self):
        child = self.start("detect", "detections", count=1_000_000)
        child.host.receive()
        error = child.host.ask()["error"]
        self.assertEqual(error["code"], "c.value")
        self.assertIn("larger than a message", error["message"])

    def test_a_stage_that_remembers_is_reset(self):
        child = self.start("frames", stateful=True)
        self.assertEqual(child.host.receive()["ready"]["state"], "stateful")
        for run in (1, 2):
            child.host.send({"reset": run})
            self.assertEqual(child.host.receive(), {"reset": run})
            child.host.send(b'{"later":' + b"[" * 63 + b"]" * 63 + b"}")
            child.host.send({"later": {"reset": {}}})
            for count in (1, 2, 3):
                self.assertEqual(scalars(child.host.ask(sequence=count)), {"frames": count})
        child.host.socket.close()
        self.assertEqual(child.status, 0)

    def test_options_that_cannot_be_used_end_the_program(self):
        for options, told in [
            ({"treshold": 1}, "the stage has no option treshold"),
            ({"count": "7"}, "this option must be an integer: count"),
            ({"count": 7.5}, "this option must be an integer: count"),
            ({"number": None}, "this option must be a number: number"),
            ({"flag": 1}, "this option must be true or false: flag"),
            ({"does": "x" * 32}, "this option must be a string that is not too long: does"),
        ]:
            child = self.start(**{"does": "sum"} | options)
            self.assertTrue(child.host.is_at_end())
            self.assertEqual(child.status, 2)
            self.assertEqual(child.output, f"retake: {told}\n")

    def test_another_output_ends_the_program(self):
        program = compiled("C99", C / "tests/probe.c", '-DOUTPUT="scalars"')
        child = self.enterContext(Child([str(program)]))
        child.host.hello(output="classes")
        self.assertEqual(child.status, 2)
        self.assertEqual(
            child.output,
            "retake: the stage 'probe' returns scalars, and the output of the node is classes\n",
        )

    def test_what_breaks_the_protocol_ends_the_program(self):
        good = {"track": 0, "sequence": 0, "item": None, "ptsNs": 0, "slot": 0, "format": "GRAY8",
                "width": 2, "height": 2, "range": "full", "matrix": "identity",
                "planes": [[0, 2]]}  # fmt: skip
        changes = [
            {"slot": 1}, {"slot": -1}, {"width": 0}, {"height": 2**40}, {"sequence": -1},
            {"sequence": 0.5}, {"format": "GRAY16"}, {"range": 7}, {"planes": []},
            {"planes": [[0, 2], [0, 2]]}, {"planes": [[0, 1]]}, {"planes": [[65533, 2]]},
            {"planes": [[0, 65535]]}, {"planes": [[2**63 - 1, 2**63 - 1]]}, {"planes": [[0]]},
            {"planes": [7]}, {"item": "a"}, {"ptsNs": 2**63}, {"width": 2**31 - 1},
            {"height": 1, "planes": [[65535, 2]]},
            {"height": 1, "width": 65537, "planes": [[0, 65537]]},
        ]  # fmt: skip
        bodies = [json.dumps({"frame": good | change}).encode() for change in changes]
        bodies += [b"", b"{", b"[]", b"nul", b"{}x", b'{"a":01}', b'{"a":1.}', b'{"a":"\xff"}',
                   b'{"a":"\\x"}', b'{"a":"\\u12g4"}', b'{"a":' + b"[" * 64 + b"]" * 64 + b"}", b'{"frame":{},"frame":{}}',
                   b'{"a":tru}', b'{"a" 1}', b'{"a":"\n"}', b"\xef\xbb\xbf{}"]  # fmt: skip
        for body in bodies:
            with self.subTest(body):
                child = self.start("sum")
                child.host.receive()
                child.host.send(body)
                self.assertTrue(child.host.is_at_end())
                self.assertEqual(child.status, 2)
                self.assertTrue(child.output.startswith("retake: "), child.output)

    def test_lengths_that_are_not_possible_end_the_program(self):
        for data in [(5 << 20).to_bytes(4, "little"), b"\xff\xff\xff\xff", b"\x05\0\0\0{}"]:
            child = self.start("sum")
            child.host.receive()
            child.host.send_raw(data)
            child.host.socket.close()
            self.assertEqual(child.status, 2)

    def test_slots_that_do_not_fit_end_the_program(self):
        program = compiled("C99", C / "tests/probe.c", '-DOUTPUT="scalars"')
        for keys in [{"slots": 2**62, "slotBytes": 2**62}, {"slotBytes": 2**17}, {"slots": 0}]:
            child = self.enterContext(Child([str(program)]))
            child.host.hello(output="scalars", **keys)
            self.assertTrue(child.host.is_at_end())
            self.assertEqual(child.status, 2)

    def test_without_a_host_the_program_says_what_it_is(self):
        program = compiled("C99", C / "tests/probe.c", '-DOUTPUT="scalars"')
        done = subprocess.run([program], env={}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 64)
        self.assertIn("computes the stage 'probe' for Retake", done.stderr)


@unittest.skipUnless(HAS_COMPILERS, NO_COMPILER)
class HostileTests(unittest.TestCase):
    def test_messages_that_are_almost_right_break_nothing(self):
        if not has_sanitizers():
            self.skipTest(NO_SANITIZERS)
        program = compiled(
            "C99", C / "tests/fuzz.c", *SANITIZERS, "-g", "-Wno-unused-parameter"
        )
        done = subprocess.run([program, "20000", "1"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("20000 rounds, "))
        # Frames were computed.
        self.assertFalse(done.stdout.endswith(" 0\n"))


# Every name that both headers have.
BOTH = """
#include "retake_stage.h"

static void *open_stage(void *self, const retake_stage_options *options) {{
  (void)self;
  (void)retake_number(options, "above", 1);
  return NULL;
}}

static void process(void *self, const retake_stage_frame *frame, retake_reply *reply) {{
  (void)self;
  const retake_stage_plane *grey = &frame->planes[0];
  if (grey->width > 8) {{
    retake_stage_error(reply, "wide", "more than 8 columns");
    return;
  }}
  retake_stage_detection(reply, 0, 0, 1, 1, grey->pixels[0], 0);
}}

int main(void) {{
  {use}
  retake_stage stage = retake_stage_make("corner", "detections", process);
  stage.open = open_stage;
  return retake_main(&stage);
}}
"""
USE_OF_LIBRARY = """
  retake_frame frame;
  memset(&frame, 0, sizeof frame);
  frame.size = sizeof frame;
  retake_plane plane = frame.planes[0];
  const retake_error *error = NULL;
  const retake_options *options = NULL;
  const retake_detection *found = NULL;
  if (plane.data || error || options || found || frame.width) return 1;
"""


LOOP = """
#ifdef WITH_MAT
#include <cstddef>
#define OPENCV_CORE_HPP
#define CV_8U 0
#define CV_MAKETYPE(depth, channels) ((depth) + 8 * ((channels)-1))
namespace cv {
struct Mat {
  int rows = 0, cols = 0, type = 0;
  const void *data = nullptr;
  Mat() = default;
  Mat(int rows, int cols, int type, void *data, std::size_t)
      : rows(rows), cols(cols), type(type), data(data) {}
  void copyTo(Mat &other) const { other = *this; }
  void release() { *this = Mat(); }
};
}
#endif
#include <cstdio>

#include "retake_capture.hpp"

#ifdef WITH_MAT
using Picture = cv::Mat;
static int corner(const Picture &picture) {
  return *static_cast<const unsigned char *>(picture.data) + (picture.type == 16 ? 0 : 100);
}
#else
using Picture = retake::Image;
static int corner(const Picture &picture) { return picture.data[0]; }
#endif

int main(int argc, char **argv) {
  const std::string does = argc > 1 ? argv[1] : "";
  retake::Capture capture(0);
  capture.sink("light", "scalars").sink("boxes", "detections").classNames({"car"});
  if (does == "observe") capture.sink("seen", "observations");
  if (does == "may-end") capture.mayEnd();
  if (does == "twice") capture.sink("light", "classes");
  if (!capture.isOpened()) return std::puts("without Retake"), 5;
  const double rate = capture.get(retake::CAP_PROP_FPS);
  Picture picture;
  while (capture.read(picture)) {
    capture.scalar("light", "corner", corner(picture));
    capture.scalar("light", "rate", rate);
    capture.scalar("light", "ms", capture.get(retake::CAP_PROP_POS_MSEC));
    capture.detection("boxes", 1, 2, 3, 4, 0.5, does == "class" ? 1 : 0);
    capture.identity("boxes", 7);
    if (does == "observe") {
      const unsigned char mask[] = {0, 9, 0, 1};
      capture.mask("seen", "car", 1, mask, 2, 2, 2);
      capture.identity("seen", 3);
      capture.points("seen", "lamp", 0.5, {{"left", 1, 2, 1}});
      capture.polyline("seen", "lane", 1, {{1, 2}, {3.5, 4}});
      capture.polyline("seen", "box", 1, {{1, 2}}, true);
      capture.image("seen", "mask", 1, mask, 2, 2, 2, 1);
      const float depth[] = {1, -2};
      capture.image("seen", "depth", 1, depth, 4, 1, 2, 1, RETAKE_F32);
      capture.embedding("seen", "look", 1, {0.5f});
      capture.json("seen", "scene", 1, "7");
    }
    if (does == "sink") capture.scalar("lights", "a", 1);
    if (does == "second") {
      retake::Capture other(1);
      Picture second;
      other.sink("a", "scalars").read(second);
    }
    if (does == "early" || does == "may-end") break;
    if (does == "exit" && capture.get(retake::CAP_PROP_POS_FRAMES) == 2) std::exit(0);
  }
  capture.scalar("light", "frames", capture.get(retake::CAP_PROP_POS_FRAMES));
  if (does == "crash") std::abort();
  return does == "status" ? 3 : 0;
}
"""


@unittest.skipUnless(HAS_COMPILERS, NO_COMPILER)
@unittest.skipUnless(support.HAS_MEMFD, support.NO_MEMFD)
class CaptureTests(unittest.TestCase):
    """C/retake_capture.hpp."""

    def program(self, *options):
        source = folder() / "loop.cpp"
        source.write_text(LOOP)
        return str(compiled("C++17", source, *options))

    def start(self, does="", *options):
        child = self.enterContext(Child([self.program(*options), does], slot_bytes=64))
        child.host.hello(output="program")
        self.ready = child.host.receive()["ready"]
        child.reset(1)
        return child

    def show(self, child, sequence, count=2):
        child.host.show(
            bytes([sequence + 5] * 12), sequence, format="BGR24", planes=[[0, 6]],
            nowNs=sequence * 40_000_000, ptsNs=sequence * 40_000_000, frameCount=count,
            frameRate=25, rotation=0,
        )  # fmt: skip

    def results(self, child):
        """The values by sink, until `done`."""
        found = {}
        while "done" not in (message := child.host.receive()):
            if out := message.get("out"):
                found[out["sink"]] = (out["sequence"], out["value"])
            else:
                self.assertEqual(message, {"timer": {"id": 0, "atNs": 2**63 - 1}})
        return found, message["done"]

    def light(self, sequence, *more):
        values = [("corner", sequence + 5), ("rate", 25), ("ms", sequence * 40), *more]
        return (sequence, {"scalars": [{"name": name, "value": value} for name, value in values]})

    def test_a_loop_reads_frames_and_runs_again(self):
        for options in [(), ("-DWITH_MAT",)]:
            child = self.start("", *options)
            self.assertEqual(self.ready["sinks"], {"light": "scalars", "boxes": "detections"})
            self.assertEqual(self.ready["formats"], ["BGR24"])
            box = {"box": [1, 2, 3, 4], "score": 0.5, "class": 0, "identity": 7}
            for reset in (2, 4):
                for sequence in range(2):
                    self.show(child, sequence)
                    found, done = self.results(child)
                    self.assertEqual(found["light"], self.light(sequence))
                    self.assertEqual(found["boxes"], (sequence, {"detections": [box]}))
                    self.assertEqual(done, sequence)
                child.host.send({"timer": 0, "nowNs": 2**63 - 1})
                found, done = self.results(child)
                frames = {"scalars": [{"name": "frames", "value": 2}]}
                self.assertEqual(found, {"light": (1, frames)})
                self.assertEqual(done, {"timer": 0, "nowNs": 2**63 - 1})
                child.reset(reset)
                child.reset(reset + 1)
            child.host.bye()
            self.assertEqual(child.status, 0)

    def test_a_loop_reports_observations(self):
        child = self.start("observe")
        self.assertEqual(self.ready["sinks"]["seen"], "observations")
        self.show(child, 0)
        found, _ = self.results(child)
        self.assertEqual(
            found["seen"][1]["observations"],
            [
                {
                    "label": "car", "score": 1, "identity": 3,
                    "mask": {"size": [2, 2], "counts": retake.Mask.of([[0, 1]] * 2, "car").counts},
                },
                {
                    "label": "lamp", "score": 0.5, "bones": [],
                    "points": [{"name": "left", "x": 1, "y": 2, "score": 1}],
                },
                {"label": "lane", "score": 1, "polyline": [[1, 2], [3.5, 4]]},
                {"label": "box", "score": 1, "polygon": [[1, 2]]},
                {
                    "label": "mask", "score": 1,
                    "image": {"size": [2, 2, 1], "type": "u8", "data": "AAkAAQ=="},
                },
                {
                    "label": "depth", "score": 1,
                    "image": {"size": [2, 1, 1], "type": "f32", "data": "AACAPwAAAMA="},
                },
                {"label": "look", "score": 1, "embedding": [0.5]},
                {"label": "scene", "score": 1, "json": 7},
            ],
        )  # fmt: skip

    def test_mistakes_end_the_run(self):
        for does, code, text in [
            ("class", "c.value", "a class without a name"),
            ("sink", "c.value", "there is no sink 'lights': add it"),
            ("second", "loop.secondCapture", "one retake::Capture that reads"),
            ("early", "loop.ended", "the program ended at frame 0, and"),
            ("exit", "loop.ended", "the program ended at frame 1, and"),
        ]:
            with self.subTest(does):
                child = self.start(does)
                for sequence in range(3):
                    self.show(child, sequence, count=9)
                    while not {"done", "error"} & (message := child.host.receive()).keys():
                        pass
                    if "error" in message:
                        break
                self.assertEqual(message["error"]["code"], code)
                self.assertIn(text, message["error"]["message"])
                self.assertEqual(child.status, 2)

    def test_an_end_after_the_last_frame_is_reported(self):
        for does, status in [("status", 2), ("crash", -signal.SIGABRT)]:
            with self.subTest(does):
                child = self.start(does)
                for sequence in range(2):
                    self.show(child, sequence)
                    self.results(child)
                child.host.send({"timer": 0, "nowNs": 2**63 - 1})
                if does == "status":
                    error = child.host.receive()["error"]
                    self.assertEqual(error["code"], "loop.status")
                    self.assertEqual(
                        error["message"], "the program ended with status 3 at frame 1"
                    )
                self.assertEqual(child.status, status)

    def test_a_program_that_may_end_lets_the_rest_pass(self):
        child = self.start("may-end")
        self.show(child, 0)
        self.assertEqual(self.results(child), ({
            "light": self.light(0, ("frames", 1)),
            "boxes": (0, {"detections": [{
                "box": [1, 2, 3, 4], "score": 0.5, "class": 0, "identity": 7,
            }]}),
        }, 0))  # fmt: skip
        self.show(child, 1)
        self.assertEqual(self.results(child), ({}, 1))
        child.host.bye()
        self.assertEqual(child.status, 0)

    def test_a_sink_is_added_once(self):
        done = subprocess.run([self.program(), "twice"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a sink is added twice: light", done.stderr)

    def test_without_retake_it_is_not_open(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RETAKE_")}
        done = subprocess.run([self.program()], capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stdout), (5, "without Retake\n"))


@unittest.skipUnless(HAS_COMPILERS, NO_COMPILER)
class PageTests(unittest.TestCase):
    def test_programs_on_the_page_are_compiled(self):
        for name, language in [("c", "C99"), ("cpp", "C++17")]:
            found = blocks("docs/c.md", name)
            self.assertGreater(len(found), 0)
            for index, block in enumerate(found):
                source = folder() / f"page-{index}.{name}"
                source.write_text(block)
                # Which warnings there are depends on what the compiler makes of the functions.
                for level in ["-O0", "-O1", "-O2", "-O3", "-Os"]:
                    compiled(language, source, level)

    def test_a_file_may_include_the_header_of_the_library_too(self):
        source = folder() / "both.c"
        source.write_text('#include "retake.h"\n' + BOTH.format(use=USE_OF_LIBRARY))
        alone = folder() / "alone.c"
        alone.write_text(BOTH.format(use=""))
        library = f"-I{support.REPOSITORY / 'Sources/Headers/CRetake'}"
        for language in LANGUAGES:
            for level in ["-O0", "-O2"]:
                compiled(language, source, library, level)
                compiled(language, alone, level)

    def test_the_header_of_the_library_comes_first(self):
        source = folder() / "second.c"
        source.write_text('#include "retake_stage.h"\n#include "retake.h"\n')
        library = f"-I{support.REPOSITORY / 'Sources/Headers/CRetake'}"
        for language in LANGUAGES:
            with self.assertRaisesRegex(AssertionError, "include retake.h before retake_stage.h"):
                compiled(language, source, library)

    def test_the_program_in_the_header_is_compiled(self):
        lines = (C / "retake_stage.h").read_text().split(" */")[0].splitlines()
        source = folder() / "header.c"
        source.write_text("\n".join(line[5:] for line in lines if line.startswith(" *   ")))
        self.assertIn("int main(void)", source.read_text())
        compiled("C99", source)


if __name__ == "__main__":
    unittest.main()

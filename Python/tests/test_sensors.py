"""What a stage is given of sensors, and messages that are not what the protocol says."""

import math
import unittest

from support import Served, served

import retake

GYROSCOPE = {
    "sensor": "gyroscope",
    "unit": "rad/s",
    "channels": ["x", "y"],
    "latest": [40, [0.5, None]],
    "window": [[10, [1, 2]], [20, [3, 4.5]]],
}


@retake.stage(output="scalars", formats=["GRAY8"])
def turning(frame):
    sensor = frame.sensors["gyroscope"]
    return {
        "newest": sensor["x"],
        "time": sensor.latest.time_ns if sensor.latest else -1,
        "sum": sum(sample.values[1] for sample in sensor.window),
        "empty": int(math.isnan(sensor["y"])),
    }


@retake.stage(output="scalars")
def counting(frame):
    return {"sensors": len(frame.sensors)}


class SensorTests(unittest.TestCase):
    def test_a_frame_has_what_was_read(self):
        with served(turning) as host:
            host.greet(output="scalars")
            answer = host.ask(sensors=[GYROSCOPE])
            scalars = {one["name"]: one["value"] for one in answer["value"]["scalars"]}
            self.assertEqual(scalars, {"newest": 0.5, "time": 40, "sum": 6.5, "empty": 1})

    def test_an_older_host_sends_none(self):
        with served(counting) as host:
            host.greet(output="scalars")
            answer = host.ask()
            self.assertEqual(answer["value"], {"scalars": [{"name": "sensors", "value": 0}]})

    def test_a_test_of_a_stage_needs_no_host(self):
        sensor = retake.Sensor("gyroscope", "rad/s", ("x", "y"), None, (retake.Sample(1, (2, 3)),))
        frame = retake.Frame.of(b"\0\0\0\0", "GRAY8", 2, 2, sensors=[sensor])
        found = turning(frame)
        self.assertEqual((found["time"], found["sum"], found["empty"]), (-1, 3, 1))
        with self.assertRaisesRegex(KeyError, "no channel 'z'"):
            sensor["z"]

    def test_what_is_not_a_sensor_is_refused(self):
        wrong = [
            7,
            [7],
            [{}],
            [{**GYROSCOPE, "channels": "xy"}],
            [{**GYROSCOPE, "window": None}],
            [{**GYROSCOPE, "window": [[1, [1, 2, 3]]]}],
            [{**GYROSCOPE, "latest": [1.5, [1, 2]]}],
            [{**GYROSCOPE, "latest": [1, [1, "2"]]}],
            [{**GYROSCOPE, "latest": [1, [1, True]]}],
            [{**GYROSCOPE, "latest": 4}],
            [{**GYROSCOPE, "unit": None}],
        ]
        for sensors in wrong:
            with self.subTest(sensors=sensors):
                stage = Served(counting)
                stage.host.greet(output="scalars")
                stage.host.show(b"\0\0\0\0", sensors=sensors)
                self.assertIsInstance(stage.end(), retake.ProtocolError)


if __name__ == "__main__":
    unittest.main()

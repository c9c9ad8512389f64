"""A node of ROS 2, unchanged, as a stage of a pipeline.

This program starts the node, publishes each frame on /camera/image_raw and its time on /clock, and waits until the node
has answered that frame.
"""

import array
import subprocess

import rclpy
from geometry_msgs.msg import Vector3Stamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image

import retake

NODE = ["python3", "light.py", "--ros-args", "-p", "use_sim_time:=true"]
# In ROS, time 0 means that there is no clock yet.
FIRST_NS = 1_000_000_000


@retake.stage(output="scalars", formats=["GRAY8"], version=1)
class Bridge:
    def __init__(self):
        rclpy.init()
        self.node = Node("retake")
        self.answers = {}
        self.clock = self.node.create_publisher(Clock, "/clock", 10)
        self.images = self.node.create_publisher(Image, "/camera/image_raw", 10)
        self.node.create_subscription(Vector3Stamped, "/light", self.take, 10)
        # It is in the process group of this program, which Retake ends as a whole.
        self.child = subprocess.Popen(NODE, stdin=subprocess.DEVNULL)
        # Retake ends this program if it is not ready in time.
        while not (self.images.get_subscription_count() and self.node.count_publishers("/light")):
            self.spin()

    def spin(self):
        if self.child.poll() is not None:
            raise RuntimeError(f"the node ended with status {self.child.returncode}")
        rclpy.spin_once(self.node, timeout_sec=0.1)

    def take(self, answer):
        stamp = answer.header.stamp
        self.answers[stamp.sec * 1_000_000_000 + stamp.nanosec] = answer.vector

    def process(self, frame):
        ns = FIRST_NS + frame.pts_ns
        clock, image = Clock(), Image()
        image.header.frame_id = "camera"
        for stamp in (clock.clock, image.header.stamp):
            stamp.sec, stamp.nanosec = divmod(ns, 1_000_000_000)
        image.height, image.width, image.step = frame.height, frame.width, frame.width
        image.encoding, image.data = "mono8", array.array("B", frame.planes[0].tobytes())
        self.clock.publish(clock)
        self.images.publish(image)
        # The node answers each image once. If it does not, Retake ends this program after timeoutSeconds.
        while ns not in self.answers:
            self.spin()
        found = self.answers.pop(ns)
        return {"light": found.x, "contrast": found.y, "grain": found.z}


if __name__ == "__main__":
    retake.main(Bridge)

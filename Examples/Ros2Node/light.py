"""A node of ROS 2 as robots have it: how bright, contrasted and grainy each image of a camera is."""

import numpy
import rclpy
from geometry_msgs.msg import Vector3Stamped
from rclpy.node import Node
from sensor_msgs.msg import Image


class Light(Node):
    def __init__(self):
        super().__init__("light")
        self.answers = self.create_publisher(Vector3Stamped, "/light", 10)
        self.create_subscription(Image, "/camera/image_raw", self.measure, 10)

    def measure(self, image):
        levels = numpy.frombuffer(image.data, numpy.uint8).astype(int)
        answer = Vector3Stamped(header=image.header)
        answer.vector.x = float(levels.mean())
        answer.vector.y = float(levels.std())
        answer.vector.z = float(abs(numpy.diff(levels)).mean())
        self.answers.publish(answer)


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(Light())

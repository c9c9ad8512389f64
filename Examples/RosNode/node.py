"""A ROS 1 node, unchanged, as a stage: Debian's topic_tools/transform computes how bright and how grainy an image is.

This program is the bridge. It is the ROS master and starts the node, publishes each frame on /camera/image_raw and its
time on /clock, and waits until the node has answered that frame.
"""

import os
import queue
import subprocess
import tempfile
import time

import retake

PIXELS = "numpy.frombuffer(m.data, numpy.uint8).astype(int)"
NODE = [
    "/usr/lib/topic_tools/transform",
    "/camera/image_raw",
    "/light",
    "geometry_msgs/Vector3",
    f"{PIXELS}.mean(), {PIXELS}.std(), abs(numpy.diff({PIXELS})).mean()",
]
NAMES = ["light", "contrast", "grain"]
# In ROS, time 0 means that there is no clock yet.
FIRST_NS = 1_000_000_000


@retake.stage(output="scalars", formats=["GRAY8"], version=1)
class Node:
    def __init__(self):
        from rosmaster.master import Master

        # What roscore does, in this process. 0 is any free port.
        self.master = Master(port=0)
        self.master.start()
        os.environ["ROS_MASTER_URI"] = self.master.uri
        os.environ["ROS_HOSTNAME"] = "localhost"
        self.home = tempfile.TemporaryDirectory()
        os.environ["ROS_HOME"] = self.home.name
        import genpy
        import rospy
        from geometry_msgs.msg import Vector3
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import Image

        self.Time, self.Clock, self.Image = genpy.Time, Clock, Image
        rospy.set_param("/use_sim_time", True)
        rospy.init_node("retake", disable_signals=True)
        self.answers = queue.SimpleQueue()
        self.clock = rospy.Publisher("/clock", Clock, queue_size=1)
        self.images = rospy.Publisher("/camera/image_raw", Image, queue_size=1)
        answers = rospy.Subscriber("/light", Vector3, self.answers.put)
        # It is in the process group of this program, which Retake ends as a whole.
        node = subprocess.Popen(NODE, stdin=subprocess.DEVNULL)
        # ROS has no event for the last of these. Retake ends this program if it is not ready in time.
        while not (self.images.get_num_connections() and answers.get_num_connections()):
            if node.poll() is not None:
                raise RuntimeError(f"the node ended with status {node.returncode}")
            time.sleep(0.01)

    def process(self, frame):
        stamp = self.Time(nsecs=FIRST_NS + frame.pts_ns)
        self.clock.publish(self.Clock(stamp))
        image = self.Image(height=frame.height, width=frame.width, encoding="mono8")
        image.header.stamp, image.header.frame_id = stamp, "camera"
        image.step, image.data = frame.width, frame.planes[0].tobytes()
        self.images.publish(image)
        # The node answers each image once. If it does not, Retake ends this program after timeoutSeconds.
        answer = self.answers.get()
        return dict(zip(NAMES, (answer.x, answer.y, answer.z)))


if __name__ == "__main__":
    retake.main(Node)

"""GStreamer's RTSP server, for the tests of live sources.

usage: rtsp-server.py [FILE]

It sends a moving picture as JPEG, or FILE: HEVC in Matroska, as cameras send it.

Prints its port, and ends with its input. Needs gir1.2-gst-rtsp-server-1.0 and python3-gi.
"""

import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service("0")
factory = GstRtspServer.RTSPMediaFactory()
picture = (
    "( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,"
    "framerate=30/1 ! jpegenc ! rtpjpegpay name=pay0 )")
if len(sys.argv) > 1:
    picture = (
        "( filesrc location=\"%s\" ! matroskademux ! h265parse ! rtph265pay name=pay0 "
        "config-interval=-1 )" % sys.argv[1])
factory.set_launch(picture)
factory.set_shared(True)
server.get_mount_points().add_factory("/test", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
loop = GLib.MainLoop()
threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
loop.run()

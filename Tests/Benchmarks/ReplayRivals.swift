import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestSupport

/// A program that a user would run instead of a replay: decode, scale to 640x480, and read every
/// frame.
struct ReplayRival {
  var name: String
  /// Why it is not measured here; `nil` if it is.
  var absence: String?
  var run: () throws -> String

  /// ffmpeg always; GStreamer, OpenCV and PyAV if they are installed.
  static func all(_ clip: Footage) -> [ReplayRival] {
    ffmpeg(clip) + [gstreamer(clip)] + python(clip)
  }

  private static func ffmpeg(_ clip: Footage) -> [ReplayRival] {
    let half = String(format: "%.3f", clip.seconds / 2)
    let exact = "scale=640:480:flags=area+accurate_rnd+bitexact"
    // Two decoders with one thread each, each for half of the clip: the best that the machine can
    // do.
    let one = ["-threads", "1", "-filter_threads", "1"]
    let scaled = ["-vf", "scale=640:480", "-f", "null", "-"]
    return [
      ReplayRival(name: "framemd5") {
        try Program.ffmpeg(["-i", clip.path, "-vf", "scale=640:480", "-f", "framemd5", "-"])
      },
      ReplayRival(name: "framecrc") {
        try Program.ffmpeg(["-i", clip.path, "-vf", exact, "-f", "framecrc", "-"])
      },
      ReplayRival(name: "halves") {
        try Program.together([
          one + ["-i", clip.path, "-t", half] + scaled,
          one + ["-ss", half, "-i", clip.path] + scaled,
        ])
      },
    ]
  }

  private static func gstreamer(_ clip: Footage) -> ReplayRival {
    var rival = ReplayRival(name: "gstreamer") {
      try Program.run(
        "gst-launch-1.0",
        [
          "-q", "filesrc", "location=\(clip.path)", "!", "decodebin", "!", "videoscale", "!",
          "video/x-raw,width=640,height=480", "!", "fakesink", "sync=false",
        ])
    }
    rival.absence = absence { try Program.run("gst-inspect-1.0", ["avdec_h264"]) }
    return rival
  }

  private static func python(_ clip: Footage) -> [ReplayRival] {
    let opencv = """
      import cv2, sys
      video = cv2.VideoCapture(sys.argv[1])
      while True:
          there, frame = video.read()
          if not there: break
          cv2.resize(frame, (640, 480))
      """
    let pyav = """
      import av, sys
      for frame in av.open(sys.argv[1]).decode(video=0):
          frame.reformat(640, 480).to_ndarray()
      """
    return [("opencv", "import cv2", opencv), ("pyav", "import av", pyav)].map {
      name, test, program in
      var rival = ReplayRival(name: name) {
        try Program.run("/usr/bin/python3", ["-c", program, clip.path])
      }
      rival.absence = absence { try Program.run("/usr/bin/python3", ["-c", test]) }
      return rival
    }
  }

  private static func absence(_ look: () throws -> String) -> String? {
    (try? look()) == nil ? "is not installed" : nil
  }

  init(name: String, run: @escaping () throws -> String) {
    self.name = name
    self.run = run
  }
}

/// Programs that run from start to end, and a digest of their output.
enum Program {
  static let retake = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "retake").path

  static func ffmpeg(_ arguments: [String]) throws -> String {
    try run("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
  }

  static func together(_ runs: [[String]]) throws -> String {
    let results = Locked<[String?]>(Array(repeating: nil, count: runs.count))
    DispatchQueue.concurrentPerform(iterations: runs.count) { index in
      let text = try? ffmpeg(runs[index])
      results.withLock { $0[index] = text }
    }
    guard results.withLock({ $0.allSatisfy { $0 != nil } }) else {
      throw Failed(description: "one of two ffmpegs failed")
    }
    return "together"
  }

  /// - Returns: The digest of its output, without the times at the end of Retake's own output.
  static func run(_ command: String, _ arguments: [String]) throws -> String {
    let result = try runCommand(command, arguments: arguments, timeoutSeconds: 600)
    guard result.status == 0 else {
      throw Failed(
        description: "\(command) \(arguments.joined(separator: " ")): \(result.stderr)")
    }
    let lines = result.stdout.split(separator: "\n").filter { !$0.hasPrefix(#"{"summary""#) }
    return Digest128(of: lines.joined(separator: "\n")).description
  }

  struct Failed: Error, CustomStringConvertible { var description: String }
}

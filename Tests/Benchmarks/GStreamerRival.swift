import RetakeTestSupport

/// The same measurement for GStreamer, if it is installed: empty elements in one thread, and a
/// queue between two threads.
struct GStreamerRival {
  let scale: Scale

  private static let elements = 11

  func run() throws -> (figures: [Figure], notes: [String]) {
    let buffers = scale.count(300_000, tiny: 100)
    do {
      let contest = try Contest(
        rounds: scale.isTiny ? 1 : 3,
        [
          { try Self.launch(buffers, Array(repeating: Self.identity, count: Self.elements)) },
          { try Self.launch(buffers, [Self.identity]) },
          { try Self.launch(buffers, [Self.identity, ["queue"]]) },
        ])
      let (many, one, queue) = (
        contest.bestSeconds[0], contest.bestSeconds[1], contest.bestSeconds[2]
      )
      let hops = Double(buffers * (Self.elements - 1))
      return (
        [
          Figure(name: "hop.gstreamer.identity", value: 1e6 * (many - one) / hops, unit: "µs"),
          Figure(
            name: "hop.gstreamer.queue", value: 1e6 * (queue - one) / Double(buffers), unit: "µs"),
        ], []
      )
    } catch {
      return ([], ["gst-launch-1.0 is not installed: nothing to compare with"])
    }
  }

  private static let identity = ["identity", "silent=true"]

  private static func launch(_ buffers: Int, _ elements: [[String]]) throws -> String {
    let line = [["fakesrc", "num-buffers=\(buffers)"]] + elements + [["fakesink"]]
    let result = try runCommand(
      "gst-launch-1.0", arguments: ["-q"] + Array(line.joined(separator: ["!"])))
    guard result.status == 0 else { throw LaunchFailed(description: result.stderr) }
    return "launched"
  }

  private struct LaunchFailed: Error, CustomStringConvertible { var description: String }
}

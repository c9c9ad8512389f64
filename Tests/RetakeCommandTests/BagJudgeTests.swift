import Foundation
import RetakeTestSupport
import Testing

/// Bags against other people's programs: `Tests/Judges/bags.py`, with the packages rosbags and
/// mcap.
@Suite struct BagJudgeTests {
  private static let judge = packageRoot.appending(path: "Tests/Judges/bags.py").path

  private static let hasPackages = Judges.has("numpy, rosbags, mcap, mcap_ros2")
  private static let reason: Comment =
    "python3 has no numpy, rosbags, mcap and mcap-ros2-support here"

  private struct Topic: Decodable {
    var schema: String
    var count: Int
  }

  private struct Exported: Decodable {
    var topics: [String: Topic]
    var problems: [String]
  }

  private func ask(_ arguments: String...) throws -> CommandResult {
    let result = try runCommand(Judges.python, arguments: [Self.judge] + arguments)
    #expect(result.status == 0, "\(result.stderr)")
    return result
  }

  @Test(.enabled(if: hasPackages, reason))
  func
    `bags of rosbags, whole, split, packed and cut, give the frames and samples that were written`()
    throws
  {
    let folder = try TemporaryFolder()
    let result = try ask("import", Workplace.binary, folder.file("judge").path, "12")
    let answer = try JSONSerialization.jsonObject(with: result.stdoutBytes) as? [String: Any]
    let bags = try #require(answer?["bags"] as? [String: Int])
    #expect(bags.count == 12)
    #expect(bags.values.allSatisfy { $0 == 244 })
    for name in ["cut.bag", "cut.db3", "cut.mcap", "cut.mcap-storage"] {
      let cuts = try #require(answer?[name] as? [String: Int])
      #expect(cuts["cuts"] == 12)
      #expect(cuts["frames"] ?? 0 >= cuts["reference"] ?? .max)
    }
  }

  @Test(.enabled(if: hasPackages, reason))
  func `an exported MCAP file is read whole by the package mcap, and keeps Foxglove's rules`()
    throws
  {
    let place = try Workplace()
    try place.record("figures", frames: 40)
    let run = try place.retake(
      "replay", "figures", "--pipeline", "example:motion-boxes", "--output", "run")
    #expect(run.status == 0, "\(run.stderr)")
    for codec in ["jpeg", "h264"] {
      let file = "\(codec).mcap"
      let export = try place.retake(
        "session", "export", "figures", "--mcap", file, "--codec", codec, "--golden", "run")
      #expect(export.status == 0, "\(export.stderr)")
      let answer = try ask("mcap", place.folder.file(file).path)
      let read = try JSONDecoder().decode(Exported.self, from: answer.stdoutBytes)
      #expect(read.problems == [])
      let topic = codec == "jpeg" ? "/camera/0/compressed" : "/camera/0/video"
      #expect(read.topics[topic]?.count == 40)
      #expect(read.topics["/actual/run/boxes"]?.count == 40)
      #expect(read.topics["/actual/run/boxes/annotations"]?.schema == "foxglove.ImageAnnotations")
    }
  }
}

import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeCommand

@Suite(.enabled(if: Sandbox.layers.isComplete, "this kernel has no Landlock or no seccomp"))
struct SandboxedReplayTests {
  private static let pipeline = ["--pipeline", "example:motion-boxes"]

  /// 20 frames in three groups of pictures: 8, 8 and 4.
  private static let clip = "schema-1-imported/media/original.mp4"
  private static let recorded = "schema-1-recorded/media/video-00000.mkv"

  private func workplace(_ file: String = clip) throws -> Workplace {
    let workplace = try Workplace()
    let clip = URL(fileURLWithPath: file)
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Tests/Sessions/\(file)"),
      to: workplace.folder.file("clip.\(clip.pathExtension)"))
    try #require(
      try workplace.retake("import", "clip.\(clip.pathExtension)").status == 0)
    return workplace
  }

  @Test(arguments: [clip, recorded])
  func `a restricted replay has the same results, decisions and digests`(file: String) throws {
    let workplace = try workplace(file)
    for workers in ["1", "4"] {
      let words = ["replay", "clip", "--workers", workers, "--output"]
      let free = try workplace.retake(
        words: words + ["free\(workers)", "--sandbox", "never"] + Self.pipeline,
        binary: Workplace.binary)
      let bound = try workplace.retake(
        words: words + ["bound\(workers)", "--sandbox", "always"] + Self.pipeline)
      #expect(free.status == 0 && bound.status == 0, "\(free) \(bound)")
      func files(_ name: String) throws -> [String: Data] {
        let folder = workplace.folder.file(name + workers)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasSuffix(".gold") }.reduce(
          into: [:]
        ) {
          $0[$1] = try Data(contentsOf: folder.appending(path: $1))
        }
      }
      let same = try files("free")
      #expect(!same.isEmpty)
      #expect(try files("bound") == same)
    }
  }

  @Test func `a restricted test compares with the golden of a test without`() throws {
    let workplace = try workplace()
    _ = try workplace.retake(words: ["test", "clip"] + Self.pipeline)
    try #require(try workplace.retake("accept", "--reason", "first").status == 0)
    let bound = try workplace.retake(
      words: ["test", "clip", "--cache", "none", "--sandbox", "always"] + Self.pipeline)
    #expect(bound.status == 0, "\(bound)")
  }

  @Test(.enabled(if: Faults.strace, "strace may not trace here"))
  func `a process that is killed is an error of the frame that it decoded`() throws {
    let workplace = try workplace()
    // The process writes an answer for each frame.
    let result = try workplace.retake(
      under: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e",
        "inject=write:signal=KILL:when=13",
      ],
      ["replay", "clip", "--workers", "1", "--json", "--sandbox", "always"] + Self.pipeline)
    #expect(result.status == 2 && result.signal == nil, "\(result)")
    #expect(result.stderr.contains("[session.frame.undecodable]"), "\(result)")
    #expect(result.stderr.contains("signal \(SIGKILL)"), "\(result)")
    #expect(result.stderr.contains("frame 0:12"), "\(result)")
  }

  @Test func `a command without a session to decode is refused`() throws {
    let workplace = try Workplace()
    for words in [["replay"], ["test", "--source", "images:Faces"]] {
      let result = try workplace.retake(
        words: words + Self.pipeline + ["--sandbox", "always"])
      #expect(result.status == 64, "\(result)")
      #expect(result.stderr.contains("restricts the decoding of a session"), "\(result)")
    }
    let unknown = try workplace.retake(words: ["replay", "clip", "--sandbox", "maybe"])
    #expect(unknown.status == 64 && unknown.stderr.contains("never"), "\(unknown)")
  }
}

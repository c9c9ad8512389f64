import Foundation
import Retake
import RetakeTestSupport
import Testing

/// A recovery is killed at the n-th call that changes a file. When it is run again, it ends as if
/// it had not been killed.
///
/// Use `RETAKE_RECOVERY_KILLS=200 swift test --filter RecoveryKillTests` for the full run.
@Suite(.serialized, .oneAtATime, .enabled(if: hasStrace, "strace is not on this machine"))
struct RecoveryKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["RETAKE_RECOVERY_KILLS"].flatMap { Int($0) } ?? 2
  private static let calls =
    "write,pwrite64,fsync,fdatasync,rename,unlink,ftruncate,mkdir,symlink,openat"

  private struct Case {
    var name: String
    var path: String
    var options: [String]
  }

  /// A recording that was killed, the same one without its log, and one with a truncated database.
  private func cases(_ folder: TemporaryFolder) throws -> [Case] {
    let recording = try LiveRecording(name: "killed", into: folder.url, size: "64x48")
    recording.waitForCommit()
    recording.waitForCommit()
    recording.send(SIGKILL)
    func copy(_ name: String, _ change: (String) throws -> Void) throws -> String {
      let path = folder.file(name).path
      try FileManager.default.copyItem(atPath: recording.path, toPath: path)
      try change(path + "/session.sqlite")
      return path
    }
    let logless = try copy("logless") { try FileManager.default.removeItem(atPath: $0 + "-wal") }
    let cut = try copy("cut") { path in
      try Data(contentsOf: URL(filePath: path)).prefix(5_000).write(to: URL(filePath: path))
    }
    return [
      Case(name: "open", path: recording.path, options: []),
      Case(name: "tail", path: recording.path, options: ["--from-media"]),
      Case(name: "logless", path: logless, options: ["--from-media"]),
      Case(name: "cut", path: cut, options: ["--from-media"]),
    ]
  }

  private struct Point {
    var call: String
    /// As strace counts it: per thread and call.
    var number: Int
  }

  /// Every call in a log, as strace's injection counts it.
  private static func points(in log: String) -> [Point] {
    var counts: [String: Int] = [:]
    return log.split(separator: "\n").compactMap { line in
      // Short process ids are padded with spaces.
      let words = line.split(separator: " ")
      guard words.count >= 2, let call = words[1].split(separator: "(").first,
        calls.split(separator: ",").contains(call)
      else { return nil }
      let key = "\(words[0]) \(call)"
      counts[key, default: 0] += 1
      return Point(call: String(call), number: counts[key] ?? 1)
    }
  }

  @Test func `a recovery that is killed anywhere ends with the same digest when done again`() throws
  {
    let folder = try TemporaryFolder()
    var killed = 0
    for item in try cases(folder) {
      let work = folder.file("work").path
      let path = work + "/yard"
      func prepare() throws {
        try? FileManager.default.removeItem(atPath: work)
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: item.path, toPath: path)
      }
      let arguments = ["session", "recover", path] + item.options
      try prepare()
      let log = folder.file("calls.txt").path
      let whole = try runCommand(
        "strace",
        arguments: ["-f", "-qq", "-o", log, "-e", "trace=\(Self.calls)", LiveRecording.binary]
          + arguments)
      try #require(whole.status == 0, "\(item.name): \(whole.stderr)")
      let digest = try SessionReader(opening: path).sessionDigest()
      let seen = try String(contentsOfFile: log, encoding: .utf8)
      let points = Self.points(in: seen)
      try #require(
        points.count >= Self.kills, "\(item.name): \(seen.prefix(600)) \(whole.stderr)")
      for number in 0..<Self.kills {
        // Backwards, because most early calls belong to the start of the program.
        let point = points[points.count - 1 - number * points.count / Self.kills]
        try prepare()
        let run = try runCommand(
          "strace",
          arguments: [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(point.call)", "-e",
            "inject=\(point.call):signal=KILL:when=\(point.number)", LiveRecording.binary,
          ] + arguments)
        if run.status != 0 { killed += 1 }
        let again = try SessionRecovery(path, fromMedia: item.options.contains("--from-media"))
          .run()
        #expect(again.sessionDigest == digest, "\(item.name): killed at \(point)")
        #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work) == ["yard"])
      }
    }
    print("recoveries killed: \(killed) of \(4 * Self.kills); the same digest after each")
    #expect(killed >= Self.kills)
  }
}

private let hasStrace = (try? runCommand("strace", arguments: ["-V"]).status) == 0

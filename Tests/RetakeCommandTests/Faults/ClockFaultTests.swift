import Foundation
import Retake
import RetakeTestSupport
import Testing

/// Clocks that jump while a recorder runs, or have another starting point.
@Suite(.serialized, .oneAtATime) struct ClockFaultTests {
  /// The library of libfaketime, which reads its file again at each clock reading.
  private static let library: String? = {
    let root = "/usr/lib"
    let folders = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
    return folders.map { "\(root)/\($0)/faketime/libfaketimeMT.so.1" }
      .first { FileManager.default.fileExists(atPath: $0) }
  }()
  private static let namespaces = Faults.works("unshare", "--time", "--monotonic", "1000", "true")

  @Test(.enabled(if: library != nil, "apt-get install faketime"))
  func `a date that leaps an hour while it is recorded changes no time and no frame`() throws {
    let workplace = try Workplace()
    let wholeCount = Faults.isLong ? 300 : 75
    // Each packet is a single frame, so that a frame dropped by a busy machine does not change
    // others.
    let preset = ["--preset", "ffv1"]
    let whole = try workplace.retake(
      under: ["env"], workplace.recording("whole", frames: wholeCount) + preset)
    let expected = try packets(of: workplace.session("whole", whole).path, count: wholeCount)
    try #require(expected.allSatisfy { $0 != nil } && Set(expected).count > wholeCount / 2)
    let date = try workplace.folder.write("+0", to: "date")
    let recording = try LiveRecording(
      ["synthetic:figures", "--size", "160x120", "--probe", "skip"] + preset,
      name: "leap", into: workplace.folder.url,
      environment: [
        "LD_PRELOAD": try #require(Self.library), "FAKETIME_TIMESTAMP_FILE": date.path,
        "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
      ])
    #expect(recording.waitForCommit { $0.commit > 0 })
    try workplace.folder.write("+1h", to: "date")
    #expect(recording.waitForCommit { $0.events >= 1 })
    try workplace.folder.write("-1h", to: "date")
    #expect(recording.waitForCommit { $0.events >= 2 })
    // The recording ends after both jumps were seen, however late that is.
    recording.send(SIGINT)

    var session = FaultSession(recording.path, commits: recording.commits.map(\.line))
    try session.check()
    let count = session.frames
    #expect(count > 0 && session.decoded + session.missing == count)
    let packets = try packets(of: recording.path, count: count)
    #expect(packets.count { $0 == nil } == session.missing)
    #expect(zip(packets, expected).allSatisfy { $0 == nil || $0 == $1 })
    let reader = try SessionReader(opening: recording.path)
    try checkTimes(of: reader, count: count)
    let leaps = try reader.events().map { event in
      #expect(event.kind == "clock.date")
      return try (JSON(Data(event.json.utf8)).nanoseconds.int ?? 0) / 1_000_000_000
    }
    #expect(leaps.count == 2)
    #expect(zip(leaps, [3_600, -7_200]).allSatisfy { abs($0 - $1) <= 1 }, "\(leaps)")
    Faults.print(
      row: "12", "date leaps while recording", cases: 1,
      "leaps of \(leaps) s told, the same packets, \(count) produced = \(session.decoded) accepted + "
        + "\(session.missing) dropped")
  }

  /// The digest of each frame's packet; `nil` if the frame was dropped.
  private func packets(of path: String, count: Int) throws -> [Digest128?] {
    try SessionReader(opening: path).entries(of: 0, sequences: 0..<count).map(\.packetDigest)
  }

  private func checkTimes(of reader: SessionReader, count: Int) throws {
    let entries = try reader.entries(of: 0, sequences: 0..<count)
    let lateness = entries.map { $0.arrival.nanoseconds - $0.timestamp.nanoseconds }
    let possible = 0..<1_000_000 * Faults.limit(milliseconds: 2_000)
    #expect(lateness.allSatisfy(possible.contains), "\(lateness.max() ?? 0)")
    #expect(entries.map(\.arrival) == entries.map(\.arrival).sorted())
  }

  @Test(.enabled(if: namespaces, "unshare may not make a time namespace here"))
  func `where the machine's own clocks begin changes nothing in a session`() throws {
    let workplace = try Workplace()
    let worlds = [
      ["env"], ["unshare", "--time", "--monotonic", "3600", "--boottime", "7200"],
      ["unshare", "--time", "--monotonic", "100000000", "--boottime", "1"],
    ]
    let digests = try worlds.enumerated().map { number, world in
      let name = "world-\(number)"
      let result = try workplace.retake(under: world, workplace.recording(name, frames: 60))
      #expect(result.status == 0, "\(result.stderr)")
      let session = workplace.session(name, result)
      #expect(session.last?.frames.recorded == 60)
      return try SessionReader(opening: session.path).sessionDigest()
    }
    #expect(Set(digests).count == 1)
    Faults.print(
      row: "12", "other origins of the clocks", cases: worlds.count,
      "one digest, 60 produced = 60 accepted + 0 dropped in each")
  }

  @Test(.enabled(if: Faults.strace, "strace may not trace here"))
  func `no wait of a recorder goes by the date`() throws {
    let workplace = try Workplace()
    let trace = workplace.folder.file("trace")
    let result = try workplace.retake(
      under: [
        "strace", "-f", "-qq", "--decode-pids=comm", "-o", trace.path, "-e", "trace=futex",
      ],
      [
        "record", "synthetic:figures", "--name", "waits", "--into", ".", "--size", "64x48",
        "--frames", "30", "--probe", "skip",
      ])
    #expect(result.status == 0, "\(result.stderr)")
    let waits = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
      .filter {
        // Only the recorder's own threads: idle threads of Dispatch wait for work that may never
        // come.
        $0.contains("<retake>") && $0.contains("FUTEX_WAIT") && $0.contains("tv_sec=")
      }
    let byDate = waits.filter { $0.contains("CLOCK_REALTIME") }
    #expect(waits.count > 3, "its waits are seen")
    #expect(byDate.isEmpty, "\(byDate.prefix(3))")
    Faults.print(
      row: "12", "waits with an end", cases: 1,
      "\(waits.count) by the monotonic clock, \(byDate.count) by the date")
  }
}

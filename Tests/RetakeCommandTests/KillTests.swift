import Foundation
import Retake
import RetakeTestSupport
import Synchronization
import Testing

/// A recorder is killed at random moments. Whatever it acknowledged before must be there.
///
/// `RETAKE_KILLS=50 swift test --filter KillTests` for the full run; it prints its figures.
@Suite(.serialized) struct KillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["RETAKE_KILLS"].flatMap { Int($0) } ?? 5
  /// Moments after the start, in milliseconds: from before the first commit to after many.
  private static let momentMilliseconds: ClosedRange<UInt64> = 40...2_600
  private static let tailNanosecondsMax: Int64 = 1_000_000_000

  @Test func `a killed recorder loses nothing that it acknowledged, and a second at most`() throws {
    let folder = try TemporaryFolder()
    var random = SplitMix(state: 2_026)
    var figures = Figures()
    for number in 0..<Self.kills {
      let range = Self.momentMilliseconds
      let moment = range.lowerBound + random.next() % (range.upperBound - range.lowerBound)
      let recording = try LiveRecording(name: "kill-\(number)", into: folder.url)
      recording.wait(milliseconds: Int(moment))
      recording.send(SIGKILL)
      try check(recording, &figures)
    }
    print(figures.text)
    #expect(figures.kills == Self.kills)
    #expect(figures.acknowledgedFrames > 0 || Self.kills == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM], [300, 1_300])
  func `a recorder that is asked to end closes its session within two seconds`(
    signal: Int32, milliseconds: Int
  ) throws {
    let folder = try TemporaryFolder()
    let recording = try LiveRecording(name: "asked", into: folder.url)
    recording.waitForCommit()
    recording.wait(milliseconds: milliseconds)
    let asked = DispatchTime.now().uptimeNanoseconds
    recording.send(signal)
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - asked) / 1e9
    #expect(seconds < 2, "\(seconds) s")
    let reader = try SessionReader(
      opening: recording.path, options: ReadOptions(verifiesPixels: true))
    #expect(try reader.status() == .clean)
    let last = try #require(recording.commits.last?.line)
    #expect(last.closed && last.frames.captured == reader.tracks[0].frameCount)
    for sequence in 0..<reader.tracks[0].frameCount {
      #expect(try reader.frame(FrameID(track: 0, sequence: sequence)).width == 320)
    }
  }

  private func check(_ recording: LiveRecording, _ figures: inout Figures) throws {
    figures.kills += 1
    let commits = recording.commits
    guard FileManager.default.fileExists(atPath: recording.path) else {
      #expect(commits.isEmpty, "a session that was acknowledged is gone")
      figures.beforeStart += 1
      return
    }
    let info = try retake(["session", "info", recording.path, "--json"])
    #expect(info.status == 0, "\(info.stderr)")
    let reader = try SessionReader(
      opening: recording.path, options: ReadOptions(verifiesPixels: true))
    #expect(try reader.status() == .recovered)
    let frames = reader.tracks.first?.frameCount ?? 0
    for commit in commits {
      let last = commit.line.lastSequence
      #expect(last < frames, "\(last + 1) frames acknowledged, \(frames) there")
      #expect(try packetDigest(of: reader, through: last) == commit.line.packetDigest)
    }
    for sequence in 0..<frames {
      #expect(try reader.frame(FrameID(track: 0, sequence: sequence)).width == 320)
    }
    figures.acknowledgedFrames += (commits.last?.line.lastSequence ?? -1) + 1
    figures.frames += frames
    if frames > 0 { try checkTail(recording, reader, frames: frames, &figures) }
    try checkRecovery(recording, frames: frames)
  }

  /// Session time is put on this process's clock by the commit line that came soonest.
  private func checkTail(
    _ recording: LiveRecording, _ reader: SessionReader, frames: Int, _ figures: inout Figures
  ) throws {
    let replay = try retake([
      "replay", recording.path, "--pipeline", "example:downsample-digest", "--json", "--output",
      recording.path + "-run",
    ])
    #expect(replay.status == 0, "\(replay.stderr)")
    let zero = recording.commits.map { $0.receivedNanoseconds - $0.line.timeNanoseconds }.min()
    guard let zero else { return }
    let last = try #require(try reader.entries(of: 0, sequences: frames - 1..<frames).first)
    let tail = recording.endedNanoseconds - zero - last.arrival.nanoseconds
    #expect(tail <= Self.tailNanosecondsMax, "\(tail) ns lost")
    figures.tails.append(tail)
  }

  private func checkRecovery(_ recording: LiveRecording, frames: Int) throws {
    let result = try SessionRecovery(recording.path).run()
    #expect(result.frames == frames && result.damagedFrames == 0)
    let doctor = try SessionDoctor(path: recording.path, decodes: true).run()
    #expect(doctor.isHealthy, "\(doctor.findings)")
    #expect(try SessionRecovery(recording.path).run().sessionDigest == result.sessionDigest)
  }

  private func packetDigest(of reader: SessionReader, through last: Int) throws -> Digest128 {
    var hasher = DigestHasher()
    for entry in try reader.entries(of: 0, sequences: 0..<last + 1) {
      guard let digest = entry.packetDigest else { continue }
      hasher.append(entry.id.sequence)
      hasher.append(digest)
    }
    return hasher.finish()
  }

  private func retake(_ arguments: [String]) throws -> CommandResult {
    try runCommand(LiveRecording.binary, arguments: arguments)
  }

  private struct Figures {
    var kills = 0
    /// Killed before the session had its name.
    var beforeStart = 0
    var frames = 0
    var acknowledgedFrames = 0
    var tails: [Int64] = []

    var text: String {
      let milliseconds = tails.sorted().map { $0 / 1_000_000 }
      let median = milliseconds.isEmpty ? 0 : milliseconds[milliseconds.count / 2]
      return "\(kills) kills, \(beforeStart) before the session was there; "
        + "\(acknowledgedFrames) frames acknowledged, \(frames) read back; "
        + "tail median \(median) ms, most \(milliseconds.last ?? 0) ms"
    }
  }
}

/// The same numbers on every run.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

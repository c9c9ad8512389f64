import Foundation
import Retake
import Testing

/// A session after a fault, compared with the frames that the recorder acknowledged.
struct FaultSession: Sendable {
  let path: String
  /// The lines of `record --json`.
  let commits: [RecordingProgress]
  private(set) var frames = 0
  private(set) var decoded = 0
  private(set) var missing = 0

  init(_ path: String, acknowledged text: String) {
    self.init(
      path,
      commits: text.split(separator: "\n").compactMap {
        try? JSONDecoder().decode(RecordingProgress.self, from: Data($0.utf8))
      })
  }

  init(_ path: String, commits: [RecordingProgress]) {
    (self.path, self.commits) = (path, commits)
  }

  var isThere: Bool { FileManager.default.fileExists(atPath: path) }
  var last: RecordingProgress? { commits.last }
  /// Frames that were acknowledged as durable.
  var acknowledged: Int { (last?.lastSequence ?? -1) + 1 }

  /// Checks that the session opens, that each acknowledged frame exists with its bytes, and that
  /// each frame decodes or has a cause.
  mutating func check() throws {
    for problem in try examine() { Issue.record("\(problem)") }
  }

  /// - Returns: The problems. May be called from any thread.
  mutating func examine() throws -> [String] {
    guard isThere else {
      return commits.isEmpty ? [] : ["a session that was acknowledged is gone"]
    }
    var problems: [String] = []
    let reader: SessionReader
    do {
      reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    } catch {
      return ["it does not open: \(error)"]
    }
    let count = reader.tracks.first?.frameCount ?? 0
    guard acknowledged <= count else { return ["\(acknowledged) acknowledged, \(count) there"] }
    guard count > 0 else { return [] }
    let entries = try reader.entries(of: 0, sequences: 0..<count)
    for line in commits
    where line.lastSequence >= 0
      && Self.packetDigest(of: entries, through: line.lastSequence) != line.packetDigest
    {
      problems.append(
        "the frames up to \(line.lastSequence) are not those of commit \(line.commit)")
    }
    var (whole, without) = (0, 0)
    for entry in entries {
      if entry.isPayloadMissing {
        without += 1
        continue
      }
      do {
        _ = try reader.frame(entry.id)
        whole += 1
      } catch {
        problems.append("frame \(entry.id) is claimed and cannot be read: \(error)")
      }
    }
    if let last = commits.last, last.closed,
      last.frames.captured != count || last.frames.recorded != whole
        || last.frames.missing.values.reduce(0, +) != without
    {
      problems.append("\(whole) frames and \(without) without pixels, it said \(last.frames)")
    }
    (frames, decoded, missing) = (count, whole, without)
    return problems
  }

  /// Checks that a recovery keeps everything, and that a second recovery is the same.
  ///
  /// - Returns: The problems. May be called from any thread.
  func recover() throws -> [String] {
    guard isThere, frames > 0 else { return [] }
    let result = try SessionRecovery(path).run()
    var problems: [String] = []
    // Packets after the last commit get rows, too.
    if result.frames < frames || result.damagedFrames > 0 {
      problems.append("\(result.frames) of \(frames) recovered, \(result.damagedFrames) damaged")
    }
    let doctor = try SessionCheck(path: path, decodes: true).run()
    if missing == 0, !doctor.isHealthy { problems.append("\(doctor.findings)") }
    if try SessionRecovery(path).run().sessionDigest != result.sessionDigest {
      problems.append("recovered again it is another session")
    }
    return problems
  }

  private static func packetDigest(of entries: [FrameEntry], through last: Int) -> Digest128 {
    var hasher = DigestHasher()
    for entry in entries.prefix(last + 1) {
      guard let digest = entry.packetDigest else { continue }
      hasher.append(entry.id.sequence)
      hasher.append(digest)
    }
    return hasher.finish()
  }
}

import Foundation
import Retake
import RetakeTestSupport
import Testing

extension FaultSuites {
  /// Sessions that are copied by another program while a recorder writes to them.
  @Suite(.serialized) struct CopyFaultTests {
    /// How a copy is made.
    private enum Way: Sendable, CaseIterable {
      /// `cp -r`, in the order of the folder's entries.
      case copy
      /// One file after another, with commits in between, as over a slow connection.
      case slowly
      /// Like `slowly`, but with the database last.
      case databaseLast
      /// First the media and then, after more of it was committed, the database while the recorder
      /// is stopped: the only way in which the copy is never consistent.
      case mediaFirst
    }

    private struct Copy: Sendable {
      var way: Way
      var path: String
      var isHealthy = false
      var frames = 0
      var recovered = 0
      var problems: [String] = []
      /// The doctor's errors.
      var codes: Set<String> = []
    }

    /// The content of the complete recording at its end.
    private struct Truth: Sendable {
      var digests: [Digest128?]

      init(_ reader: SessionReader) throws {
        let count = reader.tracks[0].frameCount
        digests = try reader.entries(of: 0, sequences: 0..<count).map(\.packetDigest)
      }

      /// Whether the session's frames are the first frames of the complete recording.
      func problems(of reader: SessionReader) throws -> [String] {
        let count = reader.tracks.first?.frameCount ?? 0
        guard count <= digests.count else { return ["\(count) of \(digests.count) frames"] }
        let entries = try reader.entries(of: 0, sequences: 0..<count)
        return zip(entries, digests).filter { $0.0.packetDigest != $0.1 }.prefix(3).map {
          "frame \($0.0.id) is another one"
        }
      }
    }

    /// Copies of one recording: each further one would be longer than the previous one.
    private static let copiesEach = 4

    @Test func `a copy that was taken while it was recorded is never silently wrong`() throws {
      // A round lasts half a minute on two processors with other work.
      let rounds = max(1, Faults.cases(short: Self.copiesEach, long: 56) / Self.copiesEach)
      var read: [Copy] = []
      var snapshots = 0
      for number in 0..<rounds {
        let round = try Self.round(seed: 17 + UInt64(number))
        for copy in round.copies {
          report(copy.problems, "round \(number), \(copy.path), \(copy.way)")
        }
        report(round.problems, "round \(number), snapshot")
        read += round.copies
        snapshots += round.snapshots
      }
      let healthy = read.count(where: \.isHealthy)
      let misfits = read.filter { $0.way == .mediaFirst }
      #expect(misfits.count == rounds)
      for copy in misfits { #expect(copy.codes.contains("short"), "\(copy)") }
      #expect(read.count == rounds * Self.copiesEach && snapshots == 2 * rounds)
      Faults.print(
        row: "17", "copied with cp while live", cases: read.count,
        "\(read.count { !$0.problems.isEmpty }) silently wrong; \(healthy) whole up to a commit, "
          + "\(read.count - healthy) with what is missing named "
          + "\(Set(read.flatMap(\.codes)).sorted()), "
          + "\(read.reduce(0) { $0 + $1.frames }) frames in the copies, "
          + "\(read.reduce(0) { $0 + $1.recovered }) after recovery; \(snapshots) snapshots, "
          + "all whole")
    }

    private struct Round {
      var copies: [Copy]
      var snapshots: Int
      /// The problems of the snapshots.
      var problems: [String]
    }

    /// One recording, its copies and its snapshots.
    private static func round(seed: UInt64) throws -> Round {
      let workplace = try Workplace()
      // Many rows, so that the log is checkpointed into the database repeatedly. A single media
      // file: on a busy machine a second media file may begin while the first is copied, and the
      // copy of the first would be complete.
      let recording = try LiveRecording(
        ["lavfi:testsrc2=size=64x48:rate=30", "--speed", "max", "--segment", "86400s"],
        name: "live", into: workplace.folder.url)
      recording.waitForCommit()
      var random = SeededGenerator(seed: seed)
      var copies: [Copy] = []
      for number in 0..<copiesEach {
        recording.wait(milliseconds: random.pick(0...100))
        let way = Way.allCases[number % Way.allCases.count]
        let path = workplace.folder.file("copy-\(number)").path
        try take(way, of: recording, to: path, &random)
        copies.append(Copy(way: way, path: path))
      }
      let snapshots = try (0..<2).map { number in
        try SessionSnapshot(
          of: recording.path,
          to: SessionTarget(into: workplace.folder.url.path, name: "snapshot-\(number)")
        ).run()
      }
      recording.send(SIGINT)
      let truth = try Truth(SessionReader(opening: recording.path))
      let unread = copies
      let read = try Faults.inParallel(unread.count, width: 2) { try examine(unread[$0], truth) }
      let problems = try snapshots.flatMap { snapshot in
        let findings = try SessionCheck(path: snapshot.path).run().findings
        let isWhole = snapshot.status == .clean && snapshot.frames > 0
        return try truth.problems(of: SessionReader(opening: snapshot.path))
          + findings.map(\.code)
          + (isWhole ? [] : ["\(snapshot.status), \(snapshot.frames) frames"])
      }
      return Round(copies: read, snapshots: snapshots.count, problems: problems)
    }

    private static func take(
      _ way: Way, of recording: LiveRecording, to path: String, _ random: inout SeededGenerator
    ) throws {
      if way == .copy {
        _ = try runCommand("cp", arguments: ["-r", recording.path, path])
        return
      }
      let manager = FileManager.default
      try manager.createDirectory(atPath: path + "/media", withIntermediateDirectories: true)
      if way == .mediaFirst { return try takeMediaFirst(of: recording, to: path) }
      var names = try manager.subpathsOfDirectory(atPath: recording.path).filter { $0 != "media" }
        .sorted()
      if way == .slowly {
        names.sort { $0.hasPrefix("session.sqlite") && !$1.hasPrefix("session.sqlite") }
      }
      for name in names {
        // The file may no longer exist.
        _ = try runCommand(
          "cp", arguments: ["\(recording.path)/\(name)", "\(path)/\(name)"])
        recording.wait(milliseconds: random.pick(0...150))
      }
    }

    private static func takeMediaFirst(of recording: LiveRecording, to path: String) throws {
      var copiedBytes: Int64 = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: recording.path + "/media") {
        let copy = "\(path)/media/\(name)"
        _ = try runCommand("cp", arguments: ["\(recording.path)/media/\(name)", copy])
        let size = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int64
        copiedBytes += try #require(size)
      }
      try #require(recording.waitForCommit { $0.mediaBytes > copiedBytes })
      try recording.paused {
        let names = try FileManager.default.contentsOfDirectory(atPath: recording.path)
        for name in names where name.hasPrefix("session.sqlite") {
          _ = try runCommand("cp", arguments: ["\(recording.path)/\(name)", "\(path)/\(name)"])
        }
      }
    }

    /// The doctor's result for a copy, compared with the complete recording, and the result of a
    /// recovery.
    private static func examine(_ copy: Copy, _ truth: Truth) throws -> Copy {
      var copy = copy
      let doctor = try SessionCheck(path: copy.path).run()
      copy.isHealthy = doctor.isHealthy
      copy.codes = Set(
        doctor.findings.filter { $0.severity == .error }.map {
          $0.code.replacing("session.check.", with: "")
        })
      if doctor.isHealthy {
        let reader = try SessionReader(opening: copy.path)
        copy.frames = reader.tracks.first?.frameCount ?? 0
        copy.problems += try truth.problems(of: reader) + unreadable(in: copy)
        let open = doctor.findings.contains { $0.code == "session.check.open" }
        if !open { copy.problems.append("it does not say that it was never closed") }
      } else if !doctor.findings.contains(where: { $0.severity == .error }) {
        copy.problems.append("it is not healthy, and nothing says why")
      }
      copy.problems += try recover(&copy, truth, fromMedia: !doctor.isHealthy)
      return copy
    }

    /// Frames that the session claims but that cannot be read: a sample of all frames, and the last
    /// 20.
    private static func unreadable(in copy: Copy) throws -> [String] {
      let reader = try SessionReader(
        opening: copy.path, options: ReadOptions(verifiesPixels: true))
      let chosen = Set((0..<copy.frames).filter { $0 % 997 == 0 || $0 >= copy.frames - 20 })
      return try reader.entries(of: 0, sequences: 0..<copy.frames).enumerated().compactMap {
        guard chosen.contains($0), !$1.isPayloadMissing else { return nil }
        do {
          _ = try reader.frame($1.id)
          return nil
        } catch {
          return "frame \($1.id) is claimed and cannot be read: \(error)"
        }
      }
    }

    private static func recover(
      _ copy: inout Copy, _ truth: Truth, fromMedia: Bool
    ) throws -> [String] {
      let result: RecoveryResult
      do {
        result = try SessionRecovery(copy.path, fromMedia: fromMedia).run()
      } catch {
        return ["it cannot be recovered: \(error.facts.message), \(error.facts.cause ?? "")"]
      }
      copy.recovered = result.frames
      let reader = try SessionReader(opening: copy.path)
      guard !fromMedia else {
        // Built from the media alone: only frames of the media.
        let count = reader.tracks.first?.frameCount ?? 0
        let known = Set(truth.digests)
        let strange = try reader.entries(of: 0, sequences: 0..<count).count {
          $0.packetDigest.map { !known.contains($0) } ?? false
        }
        return strange == 0 ? [] : ["\(strange) frames of the recovered copy are strange"]
      }
      var problems = try truth.problems(of: reader)
      if result.frames < copy.frames { problems.append("\(result.frames) of \(copy.frames)") }
      if !(try SessionCheck(path: copy.path).run().isHealthy) {
        problems.append("recovered, it is not healthy")
      }
      return problems
    }
  }
}

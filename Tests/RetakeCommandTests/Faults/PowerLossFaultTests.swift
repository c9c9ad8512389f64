import Foundation
import Retake
import RetakeTestSupport
import Testing

/// A recording with all of its system calls, so that the disk can be examined in its state after
/// each of them, as if the program or the machine had stopped there.
struct WatchedRecording: Sendable {
  static let name = "watched"

  let result: CommandResult
  /// The disk after the first n calls, and the commits that had been acknowledged by then.
  private(set) var moments: [(disk: SimulatedDisk, commits: [RecordingProgress])] = []
  let calls: [SystemCall]
  private let workplace: Workplace

  /// - Parameter injection: Arguments of strace: a fault to cause.
  init(frames: Int, injection: [String] = []) throws {
    workplace = try Workplace()
    let log = workplace.folder.file("calls.txt").path
    let root = workplace.folder.file("disk")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    result = try workplace.retake(
      under: SystemCall.tracing(to: log) + injection,
      workplace.live(Self.name, frames: frames, into: root.path))
    calls = try SystemCall.all(in: log)
    var disk = SimulatedDisk(root: root.resolvingSymlinksInPath().path)
    var commits: [RecordingProgress] = []
    moments.append((disk, commits))
    for call in calls {
      if call.name == "write", call.text(0).hasSuffix("/stdout") {
        commits += FaultSession("", acknowledged: call.text(1)).commits
      }
      disk.apply(call)
      moments.append((disk, commits))
    }
  }

  /// Compares the disk after a power loss at a moment with the acknowledged commits.
  ///
  /// - Returns: The problems.
  func problems(at moment: Int, _ survival: SimulatedDisk.Survival) throws -> [String] {
    let folder = try TemporaryFolder("retake-disk")
    let (disk, commits) = moments[moment]
    try disk.write(survival, to: folder.url)
    var session = FaultSession(folder.file(Self.name).path, commits: commits)
    var problems = try session.examine()
    if problems.isEmpty, moment.isMultiple(of: 8) { problems += try session.recover() }
    return problems.map { "call \(moment) of \(moments.count - 1), \(survival): \($0)" }
  }

  /// Calls on a media file after a write or a sync of it failed; must be empty.
  ///
  /// A file that no commit refers to may be removed.
  var callsAfterFailure: [String] {
    var failed: Set<String> = []
    return calls.compactMap { call in
      guard let path = call.path, path.hasSuffix(".mkv"),
        !["openat", "unlink"].contains(call.name)
      else { return nil }
      if call.result < 0 { return failed.insert(path).inserted ? nil : "\(call.name) again" }
      return failed.contains(path) ? "\(call.name) of \(path) after its failure" : nil
    }
  }

  /// Calls after which the disk is different, or more was acknowledged.
  var moving: [Int] {
    [0]
      + calls.indices.filter { number in
        let call = calls[number]
        guard let path = call.path else { return false }
        return path.hasSuffix("/stdout") || path.hasPrefix(moments[0].disk.root)
      }.map { $0 + 1 }
  }
}

extension FaultSuites {
  @Suite struct PowerLossFaultTests {
    @Test(.enabled(if: Faults.strace, "strace may not trace here"))
    func `what was acknowledged survives a loss of power, and a kill, at any moment`() throws {
      let recording = try WatchedRecording(frames: 60)
      try #require(recording.result.status == 0, "\(recording.result.stderr)")
      // The short form checks every third moment, with one random draw for each.
      let step = Faults.isLong ? 1 : 3
      let moments = recording.moving.reversed().enumerated().filter { $0.offset % step == 0 }
        .map(\.element)
      let last = try #require(recording.moments.last)
      #expect(last.commits.count > 3 && last.commits.last?.closed == true)
      let seeds = Faults.cases(short: moments.count, long: 10_000)
      let killed = try Faults.inParallel(moments.count, width: 2) {
        try recording.problems(at: moments[$0], .all)
      }
      let unlucky = try Faults.inParallel(moments.count, width: 2) {
        try recording.problems(at: moments[$0], .none)
      }
      let cut = try Faults.inParallel(seeds, width: 2) {
        try recording.problems(at: moments[$0 % moments.count], .some(seed: UInt64($0)))
      }
      let problems = (killed + unlucky + cut).flatMap(\.self)
      report(Array(problems.prefix(20)), "power loss")
      Faults.print(
        row: "3", "power loss, simulated", cases: seeds + moments.count,
        "\(problems.count) lost; \(moments.count) calls, "
          + "\((last.commits.last?.lastSequence ?? -1) + 1) frames acknowledged")
      Faults.print(
        row: "2", "killed after each call, simulated", cases: moments.count,
        "\(killed.count { !$0.isEmpty }) violations")
    }
  }
}

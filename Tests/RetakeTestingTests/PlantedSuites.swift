import Foundation
import Retake
import RetakeTesting
import Testing

// Suites of a user. They pass here, on Retake's own recordings. `ReplaySuiteTests` runs them again
// in separate processes, in which they have to fail.

/// The environment of these processes.
enum Planted {
  static let projectVariable = "RETAKE_PLANTED_PROJECT"
  static let sinkVariable = "RETAKE_PLANTED_SINK"

  static let project = ProcessInfo.processInfo.environment[projectVariable]
  static let suite = ProcessInfo.processInfo.environment["RETAKE_PLANTED_SUITE"]
  /// Whether an expectation in a sink fails.
  static let isSinkWrong = ProcessInfo.processInfo.environment[sinkVariable] != nil

  static var cases: [RetakeCase] {
    guard let project else { return RetakeCase.all("figures/motion", "figures/digest") }
    return RetakeCase.all(suite: suite, project: project)
  }
}

@Suite(.retake(project: Planted.project ?? ".")) struct PlantedReplays {
  @Test(arguments: Planted.cases) func golden(_ replay: RetakeCase) async throws {
    try await expectReplay(replay)
  }
}

@Suite(.retake()) struct PlantedSink {
  @Test func `what a sink expects`() async throws {
    let run = try await Replay.run("figures") { frames in
      frames.gray().luminance().sink { _ in #expect(!Planted.isSinkWrong, "in the sink") }
    }
    #expect(run.summary.frames.delivered > 0)
  }

  @Test(arguments: [0, 1, 4]) func `what a stage expects`(workers: Int) async throws {
    let options = RunOptions(workers: workers)
    _ = try await Replay.run("figures", options: options) { frames in
      frames.gray().map("look") { frame, _ in
        #expect(!Planted.isSinkWrong, "in the stage")
        return frame
      }.discard()
    }
  }
}

@Suite struct PlantedNothing {
  @Test(arguments: Planted.cases) func `without the trait`(_ replay: RetakeCase) async throws {
    // Here the issue is expected, and there it fails the test.
    guard Planted.project == nil else { return try await expectReplay(replay) }
    await withKnownIssue { try await expectReplay(replay) }
  }
}

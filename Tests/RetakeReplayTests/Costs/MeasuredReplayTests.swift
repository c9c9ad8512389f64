import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import RetakeTimePlane
import Testing

@testable import RetakeReplay
@testable import RetakeRuntime

/// From a measuring run to its file, and from the file to a replay.
@Suite struct MeasuredReplayTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func measure(_ mode: RunOptions.Mode) throws -> (summary: RunSummary, path: String) {
    let path = folder.file("\(mode).timings").path
    let replay = try Samples.replay(reader: StepFrames(count: 40)) {
      $0.options = RunOptions(mode: mode, workers: 1)
      $0.options.costs = .measured
    }
    let writer = try RecordedTimingsWriter(path: path, key: replay.key)
    let summary = try replay.run(observers: [writer])
    try writer.finish()
    return (summary, path)
  }

  private func summary(
    _ path: String, workers: Int, change: (inout RunCosts) -> Void = { _ in }
  ) throws -> RunSummary {
    let replay = try Samples.replay(reader: StepFrames(count: 40)) {
      $0.options = RunOptions(mode: .simulate, workers: workers)
      $0.options.costs.isStrict = true
    }
    var request = replay.request
    request.options.costs.timings = try RecordedTimings(reading: path)
    change(&request.options.costs)
    return try Samples.replay(reader: StepFrames(count: 40)) { $0 = request }.run()
  }

  @Test func `timings of real times gives one digest for any number of workers, again and again`()
    throws
  {
    for mode in RunOptions.Mode.virtual {
      let (measured, path) = try measure(mode)
      #expect(measured.costs.source == (mode == .everyFrame ? "none" : "measured"))
      var decisions: Set<Digest128> = []
      var results: Set<Digest128> = []
      for workers in [0, 1, 2, 4, 8, 2] {
        let summary = try summary(path, workers: workers)
        decisions.insert(summary.decisionDigest)
        results.insert(summary.resultDigest)
        #expect(summary.costs.recorded == 40 && summary.costs.modelled == 0)
      }
      #expect(decisions.count == 1 && results.count == 1)
      if mode == .simulate { #expect(decisions.first == measured.decisionDigest) }
    }
  }

  @Test func `a profile over timings are another choice of costs, and names both`() throws {
    let path = try measure(.everyFrame).path
    let plain = try summary(path, workers: 2)
    let slow = try summary(path, workers: 2) {
      $0.profile = DeviceProfile(
        name: "slow", thermal: [.init(after: .zero, scale: .init(parsing: "1000") ?? .one)])
    }
    #expect(plain.costs.source?.hasPrefix("timings:") == true)
    #expect(
      slow.costs.source?.hasPrefix(try #require(plain.costs.source) + "+profile:slow@") == true)
    #expect(slow.decisionDigest != plain.decisionDigest)
    #expect(slow.costs.recorded > 0)
  }

  @Test func `the notes say what fits nothing, and whose timings they are`() throws {
    var builder = RecordedTimings.Builder()
    try builder.append(
      node: "growth", frame: FrameID(track: 0, sequence: 0), item: -1, nanoseconds: 5)
    let timings = try builder.finish(name: "a.timings", session: "yard")
    func notes(_ mode: RunOptions.Mode) throws -> [String] {
      try Samples.replay {
        $0.options.mode = mode
        $0.options.costs = RunCosts(
          timings: timings, profile: DeviceProfile(name: "slow", executors: ["visoin": 2]))
      }.costNotes
    }
    let notes = try notes(.simulate)
    #expect(notes.count == 2)
    #expect(notes[0].contains("the executor 'visoin'"))
    #expect(notes[1] == "the timings a.timings are of the session 'yard', not of 'steps'")
    #expect(try self.notes(ofEveryFrame: timings).isEmpty)
  }

  private func notes(ofEveryFrame timings: RecordedTimings) throws -> [String] {
    try Samples.replay { $0.options.costs = RunCosts(timings: timings) }.costNotes
  }
}

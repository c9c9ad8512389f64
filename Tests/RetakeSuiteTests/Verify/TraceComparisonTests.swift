import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// The decisions and digests of a trace, without a run.
private struct Story {
  static let stages = [
    TraceFacts.Stage(id: "camera", context: .nothing),
    TraceFacts.Stage(id: "grey", context: .nothing),
    TraceFacts.Stage(id: "tracker", context: .earlierFrames),
    TraceFacts.Stage(id: "merge", context: .parts),
  ]

  var lines: [DecisionLine]
  var frames: [StoredTrace.FrameRecord]

  init(frames count: Int) {
    let ids = (0..<count).map { FrameID(track: 0, sequence: $0) }
    lines = ids.flatMap { id in
      [.start, .done, .deliver].map {
        DecisionLine(time: Int64(id.sequence), node: "grey", frame: id, kind: $0)
      }
    }
    frames = ids.map { id in
      StoredTrace.FrameRecord(
        frame: id, sinks: [Digest128(of: "boxes \(id)")],
        stages: Self.stages.map { Digest128(of: "\($0.id) \(id)") })
    }
  }

  func written(to folder: URL) throws -> StoredTrace {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let writer = try StoredTraceWriter(into: folder)
    writer.begin(stages: Self.stages, sinks: ["boxes"])
    for line in lines { writer.decided(line) }
    for frame in frames { try writer.append(frame) }
    try writer.finish(
      RunSummary(
        pipeline: "story", mode: "every-frame", workers: 2, frames: FrameLedger(),
        decisionDigest: .zero, resultDigest: .zero))
    return try StoredTrace(reading: folder)
  }
}

@Suite struct TraceComparisonTests {
  /// The divergence of a story from its changed copy.
  private func divergence(
    frames: Int = 100, _ change: (inout Story) -> Void
  ) throws -> VerifyReport.Divergence? {
    let folder = try TemporaryFolder()
    let story = Story(frames: frames)
    var changed = story
    change(&changed)
    return try TraceComparison(
      expected: story.written(to: folder.file("expected")),
      actual: changed.written(to: folder.file("actual"))
    ).divergence()
  }

  @Test(arguments: [0, 1, 100])
  func `equal runs do not diverge`(frames: Int) throws {
    #expect(try divergence(frames: frames) { _ in } == nil)
  }

  @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 255, 298, 299])
  func `the first decision that differs is found, wherever it is`(index: Int) throws {
    let found = try divergence { story in
      for later in index..<story.lines.count { story.lines[later].kind = .drop }
    }
    let kinds = ["start", "done", "deliver"]
    #expect(found?.kind == .decision)
    #expect(found?.frame == FrameID(track: 0, sequence: index / 3))
    #expect(found?.stage == "grey")
    #expect(found?.decision?.number == index + 1)
    let place = "@\(index / 3) grey 0:\(index / 3)"
    #expect(found?.decision?.expected == "\(place) \(kinds[index % 3])")
    #expect(found?.decision?.actual == "\(place) drop")
    #expect(found?.message.contains("decision \(index + 1) differs") == true)
  }

  @Test(arguments: [0, 63, 64, 128, 299])
  func `a run that decides less differs at its end`(count: Int) throws {
    let found = try divergence { $0.lines.removeSubrange(count...) }
    #expect(found?.kind == .decision)
    #expect(found?.decision?.number == count + 1)
    #expect(found?.decision?.expected != nil)
    #expect(found?.decision?.actual == nil)
  }

  @Test(arguments: [0, 1, 49, 50, 99])
  func `the first frame and stage that differ are found, wherever they are`(index: Int) throws {
    let found = try divergence { story in
      for later in index..<story.frames.count {
        story.frames[later].stages[1] = Digest128(of: "wrong \(later)")
        story.frames[later].stages[2] = Digest128(of: "echo \(later)")
        story.frames[later].sinks[0] = Digest128(of: "echo \(later)")
      }
    }
    #expect(found?.kind == .value)
    #expect(found?.frame == FrameID(track: 0, sequence: index))
    #expect(found?.stage == "grey")
    #expect(found?.decision == nil)
  }

  @Test func `a divergence knows its place among the frames of all tracks`() throws {
    let found = try divergence { story in story.frames[40].stages[1] = Digest128(of: "other") }
    #expect(found?.frame == FrameID(track: 0, sequence: 40) && found?.position == 40)
    let folder = try TemporaryFolder()
    var story = Story(frames: 6)
    // A track with one frame for every two of the first.
    for (place, frame) in [(2, 0), (5, 1)] {
      var record = story.frames[0]
      record.frame = FrameID(track: 1, sequence: frame)
      story.frames.insert(record, at: place)
    }
    var changed = story
    changed.frames[5].stages[1] = Digest128(of: "other")
    let second = try TraceComparison(
      expected: story.written(to: folder.file("expected")),
      actual: changed.written(to: folder.file("actual"))
    ).divergence()
    #expect(second?.frame == FrameID(track: 1, sequence: 1) && second?.position == 5)
  }

  @Test func `a value comes before the decision that hangs on it`() throws {
    let found = try divergence { story in
      story.frames[20].stages[1] = Digest128(of: "wrong")
      story.lines[61].kind = .fail
    }
    #expect(found?.kind == .value)
    #expect(found?.stage == "grey")
    #expect(found?.decision?.number == 62)
    #expect(found?.message.contains("decision 62 differs with it") == true)
  }

  @Test func `a stage that remembers is not blamed for an earlier decision`() throws {
    let found = try divergence { story in
      story.frames[20].stages[2] = Digest128(of: "other memory")
      story.lines[30].kind = .drop
    }
    #expect(found?.kind == .decision)
    #expect(found?.frame == FrameID(track: 0, sequence: 10))
  }

  @Test func `a stage that remembers is blamed for what no decision explains`() throws {
    let found = try divergence { story in
      story.frames[20].stages[2] = Digest128(of: "other memory")
      story.lines[90].kind = .drop
    }
    #expect(found?.kind == .value)
    #expect(found?.stage == "tracker")
  }

  @Test func `a join is not blamed for a part that did not come, nor for a stage before it`() throws
  {
    let late = try divergence { story in
      story.frames[20].stages[3] = Digest128(of: "without a part")
      story.lines[61].kind = .drop
    }
    #expect(late?.kind == .decision)
    #expect(late?.decision?.number == 62)
    let wrong = try divergence { $0.frames[20].stages[3] = Digest128(of: "wrong") }
    #expect(wrong?.kind == .value)
    #expect(wrong?.stage == "merge")
  }

  @Test func `a stage that ran in one run only follows from the decision`() throws {
    let found = try divergence { story in
      story.frames[20].stages[1] = .zero
      story.frames[20].stages[2] = .zero
      story.lines[60].kind = .drop
    }
    #expect(found?.kind == .decision)
    #expect(found?.decision?.number == 61)
  }

  @Test func `a stage that ran in one run only, against all decisions, is the engine's`() throws {
    let found = try divergence { $0.frames[20].stages[1] = .zero }
    #expect(found?.kind == .result)
    #expect(found?.stage == "grey")
    #expect(found?.message.contains("in one run only") == true)
  }

  @Test func `a sink that is told something else is named`() throws {
    let found = try divergence { $0.frames[7].sinks[0] = Digest128(of: "else") }
    #expect(found?.kind == .result)
    #expect(found?.frame == FrameID(track: 0, sequence: 7))
    #expect(found?.stage == "boxes")
  }

  @Test func `a run that ends early differs at the first frame that it lacks`() throws {
    let found = try divergence { $0.frames.removeLast(3) }
    #expect(found?.kind == .result)
    #expect(found?.frame == FrameID(track: 0, sequence: 97))
  }

  @Test func `a trace that grows beyond its bound is an error, not an endless file`() throws {
    let folder = try TemporaryFolder()
    let writer = try StoredTraceWriter(into: folder.url, bytesMax: 4_096)
    writer.begin(stages: Story.stages, sinks: ["boxes"])
    let story = Story(frames: 200)
    #expect {
      for line in story.lines { writer.decided(line) }
      for frame in story.frames { try writer.append(frame) }
    } throws: { error in
      (error as? SuiteError)?.code == "suite.verify.traceUnwritable"
    }
    #expect(try Data(contentsOf: TraceFiles(folder: folder.url).frames).count <= 4_096)
  }
}

import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// A detector that sees nothing in frames whose mean sample is above a level: a planted weakness.
private struct Fragile: PureStage {
  struct Options: StageOptions {
    var level = 0.0
  }

  static let kind = "fragile"
  static let inputFormats: [PixelFormat] = [.gray]
  let options: Options

  init(options: Options) { self.options = options }

  static func mean(_ frame: Frame) -> Double {
    let bytes = frame.bytes(of: 0)
    return Double(bytes.sum) / Double(bytes.count)
  }

  func process(_ frame: Frame, _ context: StageContext) -> Detections {
    let box = Detection(
      box: Box(x: 4, y: 4, width: 20, height: 20), score: 0.9, classIndex: 0)
    return Detections(Self.mean(frame) <= options.level ? [box] : [], classNames: ["thing"])
  }
}

/// A session with a case whose detector has the weakness, and its golden.
private struct FragileCase {
  static let frames = 12

  private let fixture: ProjectFixture
  private let project: Project

  /// - Parameter factor: How far the detector's level is above the brightest frame, from black.
  init(factor: Double, mode: String = "every-frame") throws {
    fixture = try ProjectFixture(
      "v: 1\ncases:\n  weak: {pipeline: weak.json, mode: \(mode)}\n")
    try fixture.record("yard", frames: Self.frames)
    let reader = try SessionReader(opening: fixture.folder.file("Recordings/yard").path)
    let means = try (0..<Self.frames).map { sequence in
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      return Fragile.mean(
        Frame(
          format: .gray, width: frame.width, height: frame.height, planes: [frame.bytes(of: 0)]))
    }
    let level = 16 + ((means.max() ?? 0) - 16) * factor
    try fixture.folder.write(
      """
      {"v": 1, "name": "weak",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "detector", "kind": "fragile", "options": {"level": \(level)}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "detector"}, {"from": "detector", "to": "boxes"}]}
      """, to: "weak.json")
    var project = try fixture.project()
    project.registry.register(Fragile.self)
    self.project = project
    _ = try fixture.test { $0.project = project }
    _ = try fixture.accept()
  }

  func run(
    _ with: String, seed: UInt64 = 1, _ change: (inout StressRun) -> Void = { _ in }
  ) throws -> StressReport {
    var run = StressRun(
      project: project, name: "yard", axes: try StressAxis.all(parsing: with, steps: 5))
    run.seed = seed
    change(&run)
    return try run.run()
  }
}

/// `retake stress`: a planted weakness is found at its strength, and each row is reproducible.
@Suite struct StressTests {
  @Test func `a detector that fails above a brightness is found at that strength`() throws {
    let suite = try FragileCase(factor: 1.3)
    let report = try suite.run("brightness=-40%..40%") {
      $0.budgets = [StressReport.Budget(parsing: "boxesLost=2")].compactMap(\.self)
    }
    #expect(report.rows.map(\.strength) == [nil, "-40%", "-20%", "0%", "20%", "40%"])
    #expect(
      report.rows.map { $0.values["boxesLost"] } == [0, 0, 0, 0, 0, Double(FragileCase.frames)])
    #expect(
      report.rows.map { $0.values["changed"] } == [0, 0, 0, 0, 0, Double(FragileCase.frames)])
    #expect(report.rows.map(\.first) == [nil, nil, nil, nil, nil, "0:0"])
    #expect(report.limits.map(\.side) == ["down", "up"])
    #expect(report.limits.map(\.firstChange) == [nil, "40%"])
    #expect(report.limits.map { $0.overBudget["boxesLost"] } == [nil, "40%"])
    // A stronger detector does not fail there.
    let strong = try FragileCase(factor: 1.6)
    #expect(try strong.run("brightness=-40%..40%").limits.map(\.firstChange) == [nil, nil])
  }

  @Test func `each row has one digest for any number of workers, and alone`() throws {
    let suite = try FragileCase(factor: 1)
    let with = "noise=20,blur=2,jpeg=20,drop=30%,freeze=300ms,jitter=20ms"
    func digests(_ report: StressReport) -> [[Digest128?]] {
      report.rows.map { [$0.decisionDigest, $0.resultDigest] }
    }
    let first = try suite.run(with)
    #expect(first.rows.allSatisfy { $0.problem == nil && $0.resultDigest != nil })
    for workers in [1, 2, 8] {
      #expect(digests(try suite.run(with) { $0.options.workers = workers }) == digests(first))
    }
    for row in first.rows.dropFirst() {
      let alone = try suite.run("\(row.perturbation ?? "")=\(row.strength ?? "")")
      #expect(alone.rows[1].resultDigest == row.resultDigest)
    }
    #expect(digests(try suite.run(with, seed: 2)) != digests(first))
  }

  @Test func `lost frames are changed frames, and a case with queues keeps its decisions`() throws {
    let suite = try FragileCase(factor: 1.3, mode: "simulate")
    let rows = try suite.run("drop=0|50%,noise=0").rows
    #expect(rows[0].decisionDigest == rows[1].decisionDigest)
    #expect(rows[3].values["changed"] == 0 && rows[3].first == nil)
    let lost = try #require(rows[2].values["changed"])
    #expect(lost > 0 && lost + (rows[2].values["delivered"] ?? 0) == Double(FragileCase.frames))
    #expect(rows[1].values["delivered"] == Double(FragileCase.frames))
  }

  @Test func `an axis is read with and without units, and refuses what it cannot be`() throws {
    func strengths(_ text: String, steps: Int = 5) throws -> [Int] {
      try StressAxis.all(parsing: text, steps: steps)[0].strengths
    }
    #expect(try strengths("brightness=-40%..40%") == [-40_000, -20_000, 0, 20_000, 40_000])
    #expect(try strengths("blur=0..3") == [0, 750, 1_500, 2_250, 3_000])
    #expect(try strengths("jpeg=20..90", steps: 4) == [20_000, 43_000, 67_000, 90_000])
    #expect(try strengths("drop=5|0.5%") == [500, 5_000])
    #expect(try strengths("freeze=300ms") == [300_000])
    for text in [
      "", "noise", "nois=1", "noise=65", "noise=3..1", "jpeg=0", "jpeg=50.5", "drop=1ms",
      "noise=1,noise=2", "noise=", "noise=1..2..3",
    ] {
      #expect(throws: SuiteError.self, "\(text)") { try StressAxis.all(parsing: text, steps: 5) }
    }
    #expect(throws: SuiteError.self) { try StressAxis.all(parsing: "noise=0..9", steps: 65) }
  }
}

import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGraph
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Sums of pixels, now and three frames ago.
private protocol Rise: StatefulStage where Input == Frame, Output == Scalars {
  var sums: [Double] { get set }
}

extension Rise {
  static var kind: String { "rise" }
  static var inputFormats: [PixelFormat] { [.gray] }
  mutating func reset() { sums = [] }

  mutating func rise(_ frame: Frame, memory: Int) -> Double {
    sums.append(Double(frame.bytes(of: 0).sum))
    sums = sums.suffix(memory + 1)
    return sums.count > 3 ? (sums.last ?? 0) - sums[sums.count - 4] : 0
  }
}

private let steep = 12_600.0

private struct OldRise: Rise {
  var sums: [Double] = []
  init(options: NoOptions) {}
  mutating func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("rise", rise(frame, memory: 3))])
  }
}

/// Wrong at the single frame of `figures` that becomes that much brighter: a fault that depends on the
/// pixels, because a span has other numbers and, in a stage, other times than the session.
private struct NewRise: Rise {
  var sums: [Double] = []
  init(options: NoOptions) {}
  mutating func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let value = rise(frame, memory: 3)
    return Scalars([.init("rise", value > steep ? value + 1 : value)])
  }
}

/// Fails at that frame.
private struct FailingRise: Rise {
  var sums: [Double] = []
  init(options: NoOptions) {}
  mutating func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Scalars {
    let value = rise(frame, memory: 3)
    if value > steep { throw StageError(code: "rise.steep", message: "too steep") }
    return Scalars([.init("rise", value)])
  }
}

/// The number of frames so far: each value depends on all earlier frames.
private struct Count: StatefulStage {
  static let kind = "rise"
  static let inputFormats: [PixelFormat] = [.gray]
  var count = 0.0
  init(options: NoOptions) {}
  mutating func reset() { count = 0 }
  mutating func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    count += 1
    return Scalars([.init("rise", count)])
  }
}

private struct WrongCount: StatefulStage {
  static let kind = "rise"
  static let inputFormats: [PixelFormat] = [.gray]
  var count = 0.0
  init(options: NoOptions) {}
  mutating func reset() { count = 0 }
  mutating func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    count += 1
    return Scalars([.init("rise", count + (count > 30 ? 1 : 0))])
  }
}

/// Regressions that are planted, found by a test, reduced, and found again in the reduced project.
@Suite struct ReductionTests {
  private static let rise = """
    {"v": 1, "name": "rise",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "gray", "kind": "grey"},
      {"id": "rise", "kind": "rise"},
      {"id": "numbers", "kind": "results", "primary": true}],
     "edges": [{"from": "camera", "to": "gray"}, {"from": "gray", "to": "rise"},
      {"from": "rise", "to": "numbers"}]}
    """

  private static func cameras(x: Int) -> String {
    """
    {"v": 1, "name": "cameras",
     "nodes": [
      {"id": "left", "kind": "session", "options": {"track": 0}},
      {"id": "right", "kind": "session", "options": {"track": 1}},
      {"id": "light", "kind": "luminance"},
      {"id": "cut", "kind": "crop", "options": {"x": \(x), "y": 8, "width": 16, "height": 16}},
      {"id": "lights", "kind": "results", "primary": true},
      {"id": "view", "kind": "results"}],
     "edges": [{"from": "left", "to": "light"}, {"from": "light", "to": "lights"},
      {"from": "right", "to": "cut"}, {"from": "cut", "to": "view"}]}
    """
  }

  /// A project on one of the repository's own sessions, with an accepted golden.
  private func fixture(
    _ session: String, _ pipeline: String = ProjectFixture.pipeline, mode: String = "every-frame",
    _ register: (inout StageRegistry) -> Void = { _ in }
  ) throws -> ProjectFixture {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json, mode: \(mode)}\n")
    try fixture.folder.write(pipeline, to: "motion.json")
    try FileManager.default.createDirectory(
      at: fixture.folder.file("Recordings"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Recordings/\(session)"),
      to: fixture.folder.file("Recordings/\(session)"))
    try test(fixture, register)
    _ = try fixture.accept()
    return fixture
  }

  private func project(
    _ fixture: ProjectFixture, _ register: (inout StageRegistry) -> Void
  ) throws -> Project {
    var project = try fixture.project()
    register(&project.registry)
    return project
  }

  @discardableResult
  private func test(
    _ fixture: ProjectFixture, _ register: (inout StageRegistry) -> Void
  ) throws -> SuiteRun.Outcome {
    let project = try project(fixture, register)
    return try fixture.test { $0.project = project }
  }

  /// Reduces the first divergence, and tests the reduced project.
  private func reduce(
    _ fixture: ProjectFixture, _ register: (inout StageRegistry) -> Void = { _ in }
  ) throws -> ReductionReport {
    let root = try #require(try test(fixture, register).document.cases.first?.rootCauses.first?.id)
    let project = try project(fixture, register)
    let selected = try #require(try Selection().resolve(in: project).first)
    var reduction = Reduction(selected, in: project, output: "bug")
    reduction.rootCause = root
    let report = try reduction.run()
    #expect(report.rootCause == root)
    #expect(report.replays <= 60)
    var reduced = try Project(reading: report.folder)
    register(&reduced.registry)
    for _ in 0..<3 {
      let outcome = try SuiteRun(project: reduced, selection: Selection()).run()
      #expect(outcome.status == .regression)
      #expect(outcome.document.cases.first?.rootCauses.first?.id == report.reducedRootCause)
    }
    return report
  }

  @Test func `a stage that compares with the frame before needs that frame`() throws {
    let fixture = try fixture("figures")
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 60")
    let report = try reduce(fixture)
    #expect(report.base == .pipeline)
    #expect(report.wholeFrames == 300)
    #expect(report.frames == 2)
    #expect(report.reducedRootCause == "motion@0:1")
  }

  @Test func `a drop is the same drop in the span`() throws {
    let fixture = try fixture("figures", mode: "simulate")
    try fixture.change("\"fixed\": \"45ms\"", to: "\"fixed\": \"44ms\"")
    let report = try reduce(fixture)
    #expect(report.base == .pipeline)
    #expect(report.frames < 40)
    let log = try String(
      contentsOf: URL(fileURLWithPath: "\(report.folder)/Goldens/figures/motion/decisions.gold"),
      encoding: .utf8)
    #expect(log.contains(" drop "))
  }

  @Test func `a stage without memory needs a single frame, and no other track or branch`() throws {
    let fixture = try fixture("pair", Self.cameras(x: 8))
    try fixture.folder.write(Self.cameras(x: 10), to: "motion.json")
    let report = try reduce(fixture)
    #expect(report.frames == 1)
    #expect(report.tracks == [1])
    #expect(report.sinksLeftOut == ["lights"])
  }

  @Test func `changed code is reduced to the frames that its stage remembers`() throws {
    let fixture = try fixture("figures", Self.rise) { $0.register(OldRise.self) }
    let report = try reduce(fixture) { $0.register(NewRise.self) }
    #expect(report.base == .results)
    #expect(report.rootCause == "rise@0:67")
    #expect(report.frames == 4)
    #expect(report.reducedRootCause == "rise@0:3")
  }

  @Test func `a stage that fails now is reduced to the frame at which it fails`() throws {
    let fixture = try fixture("figures", Self.rise) { $0.register(OldRise.self) }
    let report = try reduce(fixture) { $0.register(FailingRise.self) }
    #expect(report.rootCause == "rise@0:67")
    #expect(report.frames == 4)
  }

  @Test func `a result that depends on all earlier frames keeps them`() throws {
    let fixture = try fixture("figures", Self.rise) { $0.register(Count.self) }
    let report = try reduce(fixture) { $0.register(WrongCount.self) }
    #expect(report.rootCause == "rise@0:30")
    #expect(report.frames == 31)
    #expect(report.fromSeconds == 0)
  }

  @Test func `a case without the root cause is refused, and nothing is written`() throws {
    let fixture = try fixture("figures")
    let project = try fixture.project()
    let selected = try #require(try Selection().resolve(in: project).first)
    var reduction = Reduction(selected, in: project, output: "bug")
    #expect(code { try reduction.run() } == "suite.reduce.notChanged")
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 60")
    reduction.rootCause = "motion@0:7777"
    #expect(code { try reduction.run() } == "suite.reduce.noRoot")
    #expect(!fixture.exists("bug"))
  }

  private func code(_ body: () throws -> some Any) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? any CodedError)?.code
    }
  }

  @Test(arguments: [0, 1, 4, 90, 149, 5_000, 35_000])
  func `a long session needs few probes`(memory: Int) throws {
    var probes = 0
    let search = SpanSearch { span in
      probes += 1
      return span.contains(35_990 - memory) && span.contains(35_992)
    }
    let span = try search.span(keeping: 35_990...35_991, end: 35_999)
    #expect(span == 35_990 - memory...35_992)
    #expect(2 * probes + 3 <= (memory < 150 ? 60 : 90))
  }

  @Test func `a condition that is not monotone is still true of the span that is found`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let (period, phase) = (random.pick(1...9), random.pick(0...8))
      let holds = { (span: ClosedRange<Int>) in
        span.contains(980) && span.lowerBound % period == phase % period
      }
      let span = try SpanSearch(holds: holds).span(keeping: 1_000...1_000, end: 1_010)
      #expect(span.map(holds) ?? true)
    }
  }
}

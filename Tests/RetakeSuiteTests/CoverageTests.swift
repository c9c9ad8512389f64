import Foundation
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// `retake coverage`: what a pipeline can decide, and what goldens contain.
@Suite struct CoverageTests {
  private static let document = """
    {"v": 1, "name": "all",
     "nodes": [
      {"id": "camera", "kind": "session", "pool": "frames"},
      {"id": "pace", "kind": "throttle",
       "options": {"fps": 20, "when": [{"thermal": "serious", "fps": 10}]}},
      {"id": "grey", "kind": "grey", "pool": "grays"},
      {"id": "motion", "kind": "motion", "cost": {"fixed": "45ms"}, "timeout": "60ms",
       "fallback": "previous"},
      {"id": "found", "kind": "route", "options": {"detections": {"countMin": 1}}},
      {"id": "pair", "kind": "join", "options": {"ports": ["a", "b"]}, "timeout": "50ms"},
      {"id": "boxes", "kind": "results", "primary": true},
      {"id": "nothing", "kind": "results"},
      {"id": "screen", "kind": "screen"}],
     "edges": [
      {"from": "camera", "to": "pace"},
      {"from": "pace", "to": "grey", "policy": "dropOldest"},
      {"from": "grey", "to": "motion", "policy": "dropNewest"},
      {"from": "motion", "to": "found"},
      {"from": "found.match", "to": "boxes"},
      {"from": "found.else", "to": "nothing"},
      {"from": "grey", "to": "pair.a"},
      {"from": "motion", "to": "pair.b"},
      {"from": "pair", "to": "screen"}],
     "pools": [
      {"id": "frames", "capacity": 4, "wait": "20ms", "driverFrames": 2},
      {"id": "grays", "policy": "drop", "adaptive": {"off": ["thermal", "breaker"]}}]}
    """

  private func labels(_ document: String, isTimed: Bool) throws -> [String] {
    let pipeline = try PipelineDocument.parse(Data(document.utf8), catalog: StageRegistry.core)
    return PossibleDecisions(pipeline, isTimed: isTimed, anyCost: false).labels
      .map { "\($0.node) \($0.text)" }
  }

  @Test func `a pipeline can decide what its nodes, queues and pools allow`() throws {
    #expect(
      try labels(Self.document, isTimed: true) == [
        "camera wait reason=pool", "camera waited", "camera lost reason=pool",
        "camera wait reason=turn", "camera lost reason=wait", "pace thin",
        "pace throttle interval=50000000", "pace throttle interval=100000000",
        "grey drop reason=queue", "grey drop reason=pool", "grey resize pool=grays reason=expand",
        "grey resize pool=grays reason=shrink", "grey resize pool=grays reason=memory",
        "motion drop reason=queue", "motion timeout", "motion late", "motion fallback",
        "found port match", "found port else", "pair join parts=2", "pair timeout", "pair late",
        "pair drop reason=timeout", "pair drop reason=partnerMissing", "screen vsync",
        "screen vsync repeats>0", "screen vsync unseen>0",
      ])
    #expect(
      try labels(Self.document, isTimed: false)
        == ["pace thin", "found port match", "found port else", "pair join parts=2"])
  }

  @Test func `queues without a slow stage downstream never fill`() throws {
    func drops(_ cost: String) throws -> [String] {
      try labels(
        ProjectFixture.pipeline.replacing(#""cost": {"fixed": "45ms"}"#, with: cost),
        isTimed: true)
    }
    #expect(try drops(#""cost": {"fixed": "1ms"}"#) == ["motion drop reason=queue"])
    #expect(try drops(#""cost": {"fixed": "0s"}"#) == [])
  }

  @Test func `each decision in our own goldens is one that is possible`() throws {
    let project = try Project(reading: packageRoot.path)
    var kinds: Set<String> = []
    for key in [
      "figures/motion-slow", "finder/preview-hot", "pair/two-cameras", "turn/steady-late",
    ] {
      let report = try DecisionCoverage(
        project: project, selection: Selection(sessions: [key])
      ).report()
      let part = try #require(report.pipelines.first)
      let pipeline = try project.pipeline(part.pipeline)
      let possible = Set(
        PossibleDecisions(pipeline, isTimed: true, anyCost: false).labels
          .map { "\($0.node) \($0.text)" })
      for row in part.rows where row.count > 0 {
        #expect(possible.contains("\(row.node) \(row.decision)"), "\(key)")
        kinds.insert(row.decision)
      }
    }
    #expect(kinds.isSuperset(of: ["drop reason=queue", "supersede", "vsync", "thin"]))
  }

  @Test func `a route with one edge counts the frames that take it`() throws {
    let fixture = try ProjectFixture("v: 1\ncases:\n  one: {pipeline: one.json}\n")
    try fixture.record("yard", frames: 12)
    try fixture.folder.write(
      """
      {"v": 1, "name": "one",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "half", "kind": "sample", "options": {"every": 2}},
        {"id": "motion", "kind": "motion"},
        {"id": "found", "kind": "route", "options": {"detections": {"countMin": 1}}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "half"}, {"from": "half", "to": "motion"},
        {"from": "motion", "to": "found"}, {"from": "found.match", "to": "boxes"}]}
      """, to: "one.json")
    _ = try fixture.test()
    _ = try fixture.accept()
    let report = try DecisionCoverage(
      project: try fixture.project(), selection: Selection()
    ).report()
    let rows = try #require(report.pipelines.first).rows
    #expect(rows.map(\.decision) == ["thin", "port match"])
    #expect(rows[0].count == 6 && rows[0].first?.frame == "0:1")
    // Of six frames that arrive, the first has no frame before it, and so no motion.
    #expect((1...5).contains(rows[1].count) && rows[1].first?.frame == "0:2")
    #expect(report.never.isEmpty)
  }
}

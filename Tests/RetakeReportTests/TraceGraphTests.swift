import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeReport

/// Branches, joins, forEach and other nodes that may decide.
@Suite struct TraceGraphTests {
  /// Two branches meet in a join, whose output goes to two sinks.
  private static let diamond = [
    TraceNode(id: "camera", role: .source, track: 3),
    stage("fast", after: "camera"), stage("slow", after: "camera"),
    TraceNode(id: "both", role: .gathering, inputs: ["fast", "slow"]),
    TraceNode(id: "file", role: .sink, inputs: ["both"]),
    TraceNode(id: "screen", role: .sink, inputs: ["both"]),
  ]

  private static func stage(_ id: String, after input: String) -> TraceNode {
    TraceNode(
      id: id, role: .stage, inputs: [input],
      executor: TraceNode.Executor(id: id, servers: 1))
  }

  private func trace(_ nodes: [TraceNode], _ lines: String) throws -> TraceFile {
    var writer = TraceWriter(nodes)
    for line in lines.split(separator: "\n") {
      writer.append(try #require(DecisionLine(parsing: line), "\(line)"))
    }
    writer.finish(about: [])
    return TraceFile(Data(writer.take()))
  }

  @Test func `a frame is over when all its sinks know`() throws {
    let file = try trace(
      Self.diamond,
      """
      @0 fast 3:0 deliver
      @0 slow 3:0 drop reason=queue
      @0 fast 3:0 start
      @5 fast 3:0 done
      @5 both 3:0 deliver
      @5 both 3:0 drop reason=partnerMissing
      @5 file 3:0 outcome fate=drop node=both reason=partnerMissing
      @6 fast 3:1 deliver
      @6 slow 3:1 deliver
      @6 fast 3:1 start
      @6 slow 3:1 start
      @7 fast 3:1 done
      @7 both 3:1 deliver
      @8 screen 3:0 outcome fate=drop node=both reason=partnerMissing
      @9 slow 3:1 done
      @9 both 3:1 deliver
      @9 both 3:1 join parts=2
      @9 file 3:1 deliver
      @9 screen 3:1 deliver
      """)
    #expect(file.problems == [])
    #expect((0...9).map { file.count("in flight", at: $0) } == [1, 1, 1, 1, 1, 1, 2, 2, 1, 0])
    #expect((4...9).map { file.count("waiting at both", at: $0) } == [0, 0, 0, 1, 1, 0])
    #expect(
      file.names("n") == [
        "file drop", "screen drop", "file deliver", "screen deliver",
      ])
    #expect(file.names("i").contains("join 3:1"))
  }

  @Test func `a late part is counted in and out, and what failed elsewhere is forgotten`() throws {
    let file = try trace(
      Self.diamond,
      """
      @0 fast 3:0 deliver
      @0 slow 3:0 deliver
      @1 both 3:0 deliver
      @2 both 3:0 timeout
      @2 both 3:0 drop reason=timeout
      @2 file 3:0 outcome fate=drop node=both reason=timeout
      @2 screen 3:0 outcome fate=drop node=both reason=timeout
      @3 both 3:0 deliver
      @3 both 3:0 late
      @4 fast 3:1 deliver
      @4 slow 3:1 deliver
      @5 both 3:1 deliver
      @6 file 3:1 outcome fate=fail node=slow reason=bad
      @6 screen 3:1 outcome fate=fail node=slow reason=bad
      """)
    #expect(file.problems == [])
    #expect((0...6).map { file.count("waiting at both", at: $0) } == [0, 1, 0, 0, 0, 1, 0])
    #expect(file.count("in flight", at: 6) == 0)
  }

  @Test func `items are slices of their own and are gathered`() throws {
    let nodes = [
      TraceNode(id: "camera", role: .source, track: 0),
      TraceNode(id: "people", role: .passing, inputs: ["camera"]),
      Self.stage("people/classify", after: "people"),
      TraceNode(id: "people/join", role: .gathering, inputs: ["people/classify"]),
      TraceNode(id: "labels", role: .sink, inputs: ["people/join"]),
    ]
    let file = try trace(
      nodes,
      """
      @0 people 0:7 deliver
      @0 people 0:7 fanout items=2
      @0 people/classify 0:7.0 deliver
      @0 people/classify 0:7.1 deliver
      @0 people/classify 0:7.0 start
      @4 people/classify 0:7.0 done
      @4 people/join 0:7.0 deliver
      @4 people/classify 0:7.1 start
      @8 people/classify 0:7.1 itemFail code=small
      @8 people/join 0:7 join failed=1 items=2
      @8 labels 0:7 deliver
      """)
    #expect(file.problems == [])
    #expect(file.names("B") == ["people/classify 0:7.0", "people/classify 0:7.1"])
    #expect(file.events.first { $0.phase == "B" }?.arguments == ["frame": "0:7", "item": "0"])
    #expect([0, 4, 8].map { file.count("queue of people/classify", at: $0) } == [1, 0, 0])
    #expect([0, 4, 8].map { file.count("waiting at people/join", at: $0) } == [0, 1, 0])
    #expect(file.count("queue of people", at: 0) == 0)
    #expect(file.names("i") == ["fanout 0:7", "itemFail 0:7.1", "join 0:7"])
  }

  /// The frames of the camera are delivered through the first port, even if the other branch is
  /// still working on them.
  @Test func `a latest join's other branch begins no frame again`() throws {
    let nodes = [
      TraceNode(id: "camera", role: .source, track: 0),
      Self.stage("detect", after: "camera"),
      TraceNode(id: "overlay", role: .latest, inputs: ["camera", "detect"]),
      TraceNode(id: "screen", role: .sink, inputs: ["overlay"]),
    ]
    let file = try trace(
      nodes,
      """
      @0 detect 0:0 deliver
      @0 overlay 0:0 deliver
      @0 detect 0:0 start
      @0 overlay 0:0 latest frame=- other=-
      @0 screen 0:0 deliver
      @30 detect 0:1 deliver
      @30 overlay 0:1 deliver
      @30 overlay 0:1 latest frame=0:0 other=-
      @30 screen 0:1 deliver
      @40 detect 0:0 done
      @40 overlay 0:0 deliver
      @60 detect 0:1 drop reason=queue
      @60 detect 0:2 deliver
      """)
    #expect(file.problems == [])
    #expect(file.names("b").filter { $0 == "0:0" || $0 == "0:1" } == ["0:0", "0:1"])
    let latest = file.events.filter { $0.category == "latest" }.map(\.arguments)
    #expect(latest.last == ["frame": "0:1", "port frame": "0:0", "port other": "-"])
  }

  @Test func `each kind of decision has its instant, and so have kinds to come`() throws {
    let kinds = [
      "lost", "supersede", "block", "unblock", "fallback", "thin", "fanout", "swapPrepare", "swap",
      "swapRefused", "throttle", "stuck", "halt", "resize",
    ]
    let lines = kinds.enumerated().map { index, kind in
      let isWhole = ["swap", "throttle", "stuck", "swapPrepare", "swapRefused"].contains(kind)
      return "@\(index) fast \(isWhole ? "-" : "3:9") \(kind) key=value"
    }
    let file = try trace(Self.diamond, lines.joined(separator: "\n"))
    #expect(file.problems == [])
    #expect(file.events.filter { $0.phase == "i" }.map(\.category) == kinds)
    #expect(
      file.events.filter { $0.phase == "i" }.allSatisfy { $0.arguments["key"] == "value" })
  }
}

import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Traces of real runs, compared with counts that are made in another way.
@Suite struct TraceRunTests {
  private func document(_ text: String) throws -> Pipeline {
    try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
  }

  private func run(
    _ pipeline: Pipeline, seed: UInt64, workers: Int = 2
  ) throws -> (data: Data, lines: [DecisionLine], replay: Replay) {
    let folder = try TemporaryFolder()
    let file = folder.file("trace.json")
    var options = RunOptions(mode: .simulate, workers: workers, seed: seed)
    options.perturbation = seed
    let replay = try Replay(
      pipeline, reader: nil, catalog: StageRegistry.builtIn,
      request: Replay.Request(caseName: "random", options: options))
    var wanted = RunOutputs()
    wanted.trace = file.path
    let outputs = try OpenOutputs(wanted, of: replay, isAlone: true)
    let lines = DecisionNotes()
    _ = try replay.run(observers: outputs.observers + [lines])
    try outputs.finish()
    return (try Data(contentsOf: file), lines.lines, replay)
  }

  @Test(arguments: 1...24)
  func `a trace keeps the format's rules and says what the decisions say`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (data, lines, replay) = try run(TracePipelines.line(&random), seed: UInt64(seed))
    try check(TraceFile(data), lines, replay.nodes)
  }

  @Test(arguments: 1...4)
  func `branches, items, timeouts and pools are in the trace`(seed: Int) throws {
    let (data, lines, replay) = try run(try document(TracePipelines.graph), seed: UInt64(seed))
    let kinds = Set(lines.map(\.kind.rawValue))
    for kind in [
      "drop", "timeout", "late", "fallback", "itemFail", "fanout", "join", "latest", "thin",
    ] { #expect(kinds.contains(kind), "the case would show nothing of \(kind)") }
    let trace = TraceFile(data)
    try check(trace, lines, replay.nodes)
    let leases = trace.events.filter { $0.name == "pool frames" }.compactMap {
      $0.arguments["leases"].flatMap { Int($0) }
    }
    #expect((5...7).contains(leases.max() ?? 0) && leases.last == 0 && leases.count > 20)
  }

  @Test func `a pool's counter is what its frames still hold`() throws {
    let (data, lines, _) = try run(try document(TracePipelines.pool), seed: 3)
    let trace = TraceFile(data)
    #expect(trace.problems == [])
    #expect(lines.contains { $0["code"] == "pool.empty" })
    var changes: [Int64: Int] = [:]
    for line in lines where line.node == "mean" {
      if line.kind == .deliver { changes[line.time, default: 0] += 1 }
      if line.kind == .done || line.kind == .drop { changes[line.time, default: 0] -= 1 }
    }
    var count = 0
    for time in changes.keys.sorted() {
      count += changes[time] ?? 0
      #expect(trace.count("pool frames", at: time) == count, "at \(time)")
    }
  }

  @Test func `the trace is the same, byte for byte, for any number of workers`() throws {
    var random = SeededGenerator(seed: 11)
    for pipeline in [TracePipelines.line(&random), try document(TracePipelines.graph)] {
      let traces = try [0, 1, 2, 4, 8].map { try run(pipeline, seed: 5, workers: $0).data }
      #expect(Set(traces).count == 1)
    }
  }

  private func check(_ trace: TraceFile, _ lines: [DecisionLine], _ nodes: [RunNode]) throws {
    #expect(trace.problems == [])
    checkInstants(trace, lines)
    checkSlices(trace, lines, nodes)
    checkQueues(trace, lines, nodes)
    checkFlight(trace, lines, nodes)
  }

  private func subject(_ line: DecisionLine) -> String {
    guard let frame = line.frame else { return "-" }
    return frame.description + (line.item.map { ".\($0)" } ?? "")
  }

  private func checkInstants(_ trace: TraceFile, _ lines: [DecisionLine]) {
    let rows = Dictionary(
      trace.events.filter { $0.name == "thread_name" }
        .map { ($0.thread, $0.arguments["name"] ?? "") }, uniquingKeysWith: { first, _ in first })
    let shown = trace.events.filter { $0.phase == "i" }.map {
      "\($0.time ?? -1) \(rows[$0.thread] ?? "") \($0.name)"
    }
    let decided = lines.filter { ![.start, .done, .deliver].contains($0.kind) }.map {
      "\($0.time) \($0.node) \($0.kind) \(subject($0))"
    }
    #expect(shown == decided)
  }

  /// Each service is one slice, from its start to its end; a body that continues is another.
  private func checkSlices(_ trace: TraceFile, _ lines: [DecisionLine], _ nodes: [RunNode]) {
    func shown(_ phase: String, isLate: Bool) -> [String] {
      trace.events.filter { $0.phase == phase && $0.name.hasPrefix("late ") == isLate }
        .map {
          "\($0.time ?? -1) \($0.name.split(separator: " ").suffix(2).joined(separator: " "))"
        }
    }
    func decided(_ kinds: String..., where isMeant: (DecisionLine) -> Bool = { _ in true })
      -> [String]
    {
      lines.filter { kinds.contains($0.kind.rawValue) && isMeant($0) }
        .map { "\($0.time) \($0.node) \(subject($0))" }
    }
    let served = Set(nodes.filter { $0.executor != nil }.map(\.id))
    let begun = Set(lines.filter { $0.kind == .start }.map { "\($0.node) \(subject($0))" })
    #expect(shown("B", isLate: false) == decided("start"))
    #expect(
      shown("E", isLate: false)
        == decided("done", "fail", "itemFail") { begun.contains("\($0.node) \(subject($0))") })
    #expect(shown("E", isLate: true) == decided("late") { served.contains($0.node) })
    let rows = Dictionary(
      trace.events.filter { $0.name == "thread_name" && $0.process == 1 }
        .map { ($0.thread, $0.arguments["name"] ?? "") }, uniquingKeysWith: { first, _ in first })
    let executors = Dictionary(
      nodes.compactMap { node in node.executor.map { (node.id, $0) } },
      uniquingKeysWith: { first, _ in first })
    for slice in trace.events where slice.phase == "B" {
      let node = String(slice.name.split(separator: " ").suffix(2).first ?? "")
      guard let executor = executors[node] else { continue }
      let names = (1...executor.servers).map { "\(executor.id) \($0)" } + [executor.id]
      #expect(names.contains(rows[slice.thread] ?? ""), "\(slice.name) on \(slice.thread)")
    }
  }

  /// A frame waits at a node from its delivery to the first line that shows that it has left.
  private func checkQueues(_ trace: TraceFile, _ lines: [DecisionLine], _ nodes: [RunNode]) {
    let times = Array(Set(lines.map(\.time))).sorted()
    for node in nodes where ![.source, .sink, .join, .latest, .gather].contains(node.role) {
      let takesAtOnce = ![.pure, .stateful].contains(node.role)
      let receivers = Set(nodes.filter { $0.inputs.contains(node.id) }.map(\.id))
      var changes: [Int64: Int] = [:]
      for (index, line) in lines.enumerated() where line.kind == .deliver && line.node == node.id {
        changes[line.time, default: 0] += 1
        let end = lines[(index + 1)...].first { other in
          other.frame == line.frame
            && (other.node == node.id && other.item == line.item
              || takesAtOnce && receivers.contains(other.node))
        }
        if let end { changes[end.time, default: 0] -= 1 }
      }
      var count = 0
      for time in times {
        count += changes[time] ?? 0
        #expect(trace.count("queue of \(node.id)", at: time) == count, "\(node.id) at \(time)")
      }
    }
  }

  /// A frame is in flight from its first line until the last sink receives its outcome.
  private func checkFlight(_ trace: TraceFile, _ lines: [DecisionLine], _ nodes: [RunNode]) {
    let sinks = Set(nodes.filter { $0.role == .sink }.map(\.id))
    var changes: [Int64: Int] = [:]
    for (frame, own) in Dictionary(grouping: lines.filter { $0.kind != .lost }, by: \.frame) {
      let told = own.filter {
        sinks.contains($0.node) && ($0.kind == .deliver || $0.kind == .outcome)
      }
      guard frame != nil, let first = own.first, let last = told.last else { continue }
      #expect(told.count == sinks.count)
      changes[first.time, default: 0] += 1
      changes[last.time, default: 0] -= 1
    }
    var count = 0
    for time in Array(Set(lines.map(\.time))).sorted() {
      count += changes[time] ?? 0
      #expect(trace.count("in flight", at: time) == count)
    }
    let spans = trace.events.filter { $0.phase == "b" && $0.name == "frame" }
    #expect(Set(spans.compactMap(\.id)).count == spans.count)
    #expect(trace.names("n").count == spans.count * sinks.count)
  }
}

import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct TraceTests {
  /// camera → rate (throttle) → detect (two servers) → sink.
  private static let line = [
    TraceNode(id: "camera", role: .source, track: 0),
    TraceNode(id: "rate", role: .passing, inputs: ["camera"]),
    TraceNode(
      id: "detect", role: .stage, inputs: ["rate"],
      executor: TraceNode.Executor(id: "vision", servers: 2)),
    TraceNode(id: "boxes", role: .sink, inputs: ["detect"]),
  ]

  @Test func `pools show their leases, and those that follow the load their size`() throws {
    var writer = TraceWriter(Self.line, pools: ["fixed", "frames"], adaptive: ["frames"])
    writer.setLeases(1, of: "frames", at: 0)
    writer.setSize(8, of: "frames", at: 0)
    writer.setSize(9, of: "fixed", at: 5)
    writer.setStalls(1, of: "frames", at: 5)
    writer.setStalls(3, of: "frames", at: 7)
    writer.append(
      try #require(
        DecisionLine(
          parsing: "@10 camera - resize from=8 pool=frames reason=expand to=9")))
    writer.setSize(9, of: "frames", at: 10)
    writer.finish(about: [])
    let file = TraceFile(Data(writer.take()))
    #expect(file.problems == [])
    #expect(file.count("pool frames", at: 10) == 1)
    #expect(file.count("size of pool frames", at: 9) == 8)
    #expect(file.count("size of pool frames", at: 10) == 9)
    #expect(!file.events.contains { $0.name == "size of pool fixed" })
    #expect(file.count("stalls of pool frames", at: 0) == 0)
    #expect(file.count("stalls of pool frames", at: 6) == 1)
    #expect(file.count("stalls of pool frames", at: 10) == 3)
    let resize = try #require(file.events.first { $0.name == "resize" })
    #expect(resize.arguments["reason"] == "expand" && resize.time == 10)
  }

  @Test func `a device that heats up has a counter of its temperature`() throws {
    var writer = TraceWriter(Self.line)
    writer.setTemperature(25, at: 0)
    writer.setTemperature(25.168, at: 100)
    writer.finish(about: [])
    let text = String(decoding: writer.take(), as: UTF8.self)
    #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
    #expect(text.contains(#""name":"temperature","args":{"°C":25}"#))
    #expect(text.contains(#""name":"temperature","args":{"°C":25.168}"#))
  }

  private func trace(_ nodes: [TraceNode], _ lines: String) throws -> TraceFile {
    var writer = TraceWriter(nodes)
    for line in lines.split(separator: "\n") {
      writer.append(try #require(DecisionLine(parsing: line), "\(line)"))
    }
    writer.finish(about: [("case", "a \"quoted\" name")])
    return TraceFile(Data(writer.take()))
  }

  @Test func `the first free server takes the work, and slices end as decided`() throws {
    let file = try trace(
      Self.line,
      """
      @0 rate 0:0 deliver
      @0 detect 0:0 deliver
      @0 detect 0:0 start
      @10 rate 0:1 deliver
      @10 detect 0:1 deliver
      @10 detect 0:1 start
      @45 detect 0:0 done
      @45 boxes 0:0 deliver
      @50 rate 0:2 deliver
      @50 detect 0:2 deliver
      @50 detect 0:2 start
      @60 detect 0:1 fail code=model.bad
      @60 boxes 0:1 outcome fate=fail node=detect reason=model.bad
      """)
    #expect(file.problems == [])
    let slices = file.events.filter { $0.phase == "B" || $0.phase == "E" }
    #expect(
      slices.map { "\($0.phase) \($0.name) \($0.thread) \($0.time ?? -1)" } == [
        "B detect 0:0 11 0", "B detect 0:1 12 10", "E detect 0:0 11 45", "B detect 0:2 11 50",
        "E detect 0:1 12 60", "E detect 0:2 11 60",
      ])
    #expect(
      slices.filter { $0.phase == "E" }.map { $0.arguments["outcome"] }
        == ["done", "fail", "inFlight"])
    #expect(slices.first { $0.arguments["code"] == "model.bad" }?.name == "detect 0:1")
    #expect(file.about["case"] == "a \"quoted\" name")
    #expect(file.count("in flight", at: 60) == 1)
  }

  @Test func `rows are named in pipeline order`() throws {
    let file = try trace(Self.line, "@0 rate 0:0 deliver")
    #expect(
      file.events.filter { $0.name == "process_name" }.map { $0.arguments["name"] }
        == ["executors", "queues", "frames", "decisions"])
    #expect(
      file.events.filter { $0.name == "thread_name" }.map { $0.arguments["name"] }
        == ["vision 1", "vision 2", "camera", "rate", "detect", "boxes"])
  }

  @Test func `a server works on after a timeout, and is busy until the body ends`() throws {
    let file = try trace(
      Self.line,
      """
      @0 rate 0:0 deliver
      @0 detect 0:0 deliver
      @0 detect 0:0 start
      @30 detect 0:0 timeout
      @30 detect 0:0 fail code=timeout
      @30 boxes 0:0 outcome fate=fail node=detect reason=timeout
      @31 rate 0:1 deliver
      @31 detect 0:1 deliver
      @31 detect 0:1 start
      @90 detect 0:0 late
      @95 detect 0:1 done
      @95 boxes 0:1 deliver
      """)
    #expect(file.problems == [])
    #expect(
      file.events.filter { $0.thread == 11 && $0.phase != "M" }.map { "\($0.phase) \($0.name)" }
        == ["B detect 0:0", "E detect 0:0", "B late detect 0:0", "E late detect 0:0"])
    #expect(file.names("B").count == 3)
    #expect(file.names("i") == ["timeout 0:0", "fail 0:0", "outcome 0:0", "late 0:0"])
    #expect(file.names("b") == ["frame", "0:0", "frame", "0:1"])
  }

  @Test func `queues count what waits, and frames what is in flight`() throws {
    let file = try trace(
      Self.line,
      """
      @5 rate 0:0 deliver
      @5 detect 0:0 block
      @6 rate 0:1 deliver
      @7 camera 0:2 lost reason=queue
      @8 rate 0:3 drop reason=queue
      @8 boxes 0:3 outcome fate=drop node=rate reason=queue
      @9 detect 0:0 unblock
      @9 detect 0:0 deliver
      @9 rate 0:1 thin
      @9 boxes 0:1 outcome fate=thin node=rate reason=throttle
      @10 detect 0:0 start
      @11 detect 0:0 done
      @11 boxes 0:0 deliver
      """)
    #expect(file.problems == [])
    func counts(_ name: String) -> [Int?] { (4...11).map { file.count(name, at: Int64($0)) } }
    #expect(counts("queue of rate") == [nil, 0, 1, 1, 1, 0, 0, 0])
    #expect(counts("queue of detect") == [nil, 0, 0, 0, 0, 1, 0, 0])
    #expect(counts("in flight") == [nil, 1, 2, 2, 2, 1, 1, 0])
    #expect(
      file.names("i") == [
        "block 0:0", "lost 0:2", "drop 0:3", "outcome 0:3", "unblock 0:0", "thin 0:1",
        "outcome 0:1",
      ])
    #expect(file.names("n") == ["boxes drop", "boxes thin", "boxes deliver"])
  }

  @Test func `the oldest leaves the queue, the newest never came`() throws {
    let file = try trace(
      Array(Self.line.dropFirst(2).prefix(2)),
      """
      @0 detect 0:0 deliver
      @1 detect 0:1 deliver
      @2 detect 0:2 drop reason=queue
      @3 detect 0:0 drop reason=queue
      @3 detect 0:3 deliver
      @4 detect 0:1 supersede
      @4 detect 0:4 deliver
      """)
    #expect(file.problems == [])
    #expect((0...4).map { file.count("queue of detect", at: $0) } == [1, 2, 2, 2, 2])
  }

  @Test func `a halt ends everything that is under way`() throws {
    let file = try trace(
      Self.line,
      """
      @0 rate 0:0 deliver
      @0 detect 0:0 deliver
      @0 detect 0:0 start
      @3 detect 0:0 fail code=gone
      @3 detect 0:0 halt code=gone
      """)
    #expect(file.problems == [])
    #expect(file.names("i") == ["fail 0:0", "halt 0:0"])
    #expect(file.events.last { $0.phase == "e" }?.arguments == ["fate": "inFlight"])
  }

  @Test func `times are exact, and a run that begins before zero is shifted`() throws {
    let far: Int64 = 1 << 61
    let file = try trace(
      Self.line, "@-1500 rate 0:0 deliver\n@\(far + 1) rate 0:1 deliver\n@\(far + 2) rate 0:1 thin")
    #expect(file.problems == [])
    #expect(Set(file.events.compactMap(\.time)).sorted() == [0, far + 1_501, far + 1_502])
    #expect(file.about["originNanoseconds"] == "-1500")
  }
}

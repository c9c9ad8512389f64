import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import RetakeTimePlane
import Testing

@testable import RetakeReplay
@testable import RetakeRuntime

@Suite struct RecordedTimingsFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func span(_ index: Int) -> CostSpan {
    let start = Int64(index) * 33_333_333 - 40
    return CostSpan(
      node: index % 3 == 0 ? "grey" : "people/classify",
      frame: FrameID(track: index % 2, sequence: index), item: index % 5 - 1,
      readyNanoseconds: start - 7, startNanoseconds: start,
      endNanoseconds: start + Int64(index * 7_919 % 50_021), processorNanoseconds: Int64(index),
      executor: "vision", outcome: index % 7 == 0 ? "fragile.chosen" : CostSpan.done)
  }

  /// Writes spans as a measuring run reports them.
  @discardableResult
  private func write(_ count: Int, to name: String = "a.timings") throws -> String {
    let path = folder.file(name).path
    let writer = try RecordedTimingsWriter(path: path, key: "my yard/motion")
    for index in 0..<count {
      let span = Self.span(index)
      writer.decided(
        DecisionLine(
          time: span.readyNanoseconds, node: span.node, frame: span.frame,
          item: span.item < 0 ? nil : span.item, kind: .deliver))
      writer.measured(span)
    }
    try writer.finish()
    return path
  }

  private func fault(_ bytes: some Sequence<UInt8>) throws -> ReplayError? {
    let path = folder.file("b.timings").path
    try Data(bytes).write(to: URL(filePath: path))
    return #expect(throws: ReplayError.self) {
      try RecordedTimings(reading: path, named: "b.timings")
    }
  }

  @Test(arguments: [0, 1, 5, 1_024, 1_025, 9_000])
  func `what is written reads back`(count: Int) throws {
    let timings = try RecordedTimings(reading: try write(count), named: "a.timings")
    #expect(timings.spanCount == count)
    #expect(timings.name == "a.timings")
    #expect(timings.session == "my yard")
    var builder = RecordedTimings.Builder()
    for index in 0..<count {
      let span = Self.span(index)
      try builder.append(
        node: span.node, frame: span.frame, item: span.item, nanoseconds: span.costNanoseconds)
      #expect(
        timings.column(of: span.node)?.nanoseconds(of: span.frame, item: span.item)
          == span.costNanoseconds)
    }
    #expect(try builder.finish(name: "").digest == timings.digest)
  }

  @Test func `timings are text that people can read`() throws {
    let text = try String(contentsOfFile: try write(2), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "#retake 1 timings key=my%20yard/motion clock=thread")
    #expect(lines[1] == "S grey 0:0 -47 -40 -40 0 vision fragile.chosen")
    #expect(lines[2] == "S people/classify 1:1.0 33333286 33333293 33341212 1 vision done")
    #expect(lines[3].hasPrefix("B 2 "))
    #expect(Array(lines[4...]) == ["E 2", ""])
  }

  @Test func `a span is ready when its edge took it, and without that when it starts`() throws {
    let path = folder.file("a.timings").path
    let writer = try RecordedTimingsWriter(path: path, key: "x")
    var span = Self.span(3)
    span.readyNanoseconds = span.startNanoseconds
    writer.measured(span)
    for kind in [DecisionKind.deliver, .drop] {
      writer.decided(DecisionLine(time: 5, node: "grey", frame: Self.span(6).frame, kind: kind))
    }
    span = Self.span(6)
    span.item = -1
    writer.measured(span)
    try writer.finish()
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let readies = lines[1...2].map { $0.split(separator: " ")[3] }
    #expect(readies == ["\(Self.span(3).startNanoseconds)", "\(span.startNanoseconds)"])
  }

  @Test func `timings that is cut anywhere is refused`() throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: try write(1_030))))
    #expect(throws: Never.self) { try RecordedTimings(reading: folder.file("a.timings").path) }
    let ends = Array(0..<200) + Array(stride(from: 200, to: bytes.count - 120, by: 997))
    for end in ends + Array(bytes.count - 120..<bytes.count) {
      let error = try #require(try fault(bytes[..<end]))
      #expect(
        ["replay.timings.cut", "replay.timings.notTimings"].contains(error.code), "\(end): \(error)"
      )
      #expect(error.advice?.contains("--write-timings") == true)
    }
    for piece in [2_000..<2_300, 0..<1, bytes.count - 12..<bytes.count - 8] {
      var holed = bytes
      holed.removeSubrange(piece)
      #expect(try fault(holed) != nil)
    }
  }

  @Test func `a block that is taken out is noticed`() throws {
    let text = try String(contentsOfFile: try write(3_000), encoding: .utf8)
    var lines = text.split(separator: "\n").map(String.init)
    // The second block: its spans, and its own digest.
    lines.removeSubrange(1_026..<2_051)
    let error = try fault((lines.joined(separator: "\n") + "\n").utf8)
    #expect(error?.code == "replay.timings.damaged")
    #expect(error?.message.contains("does not end the 1976 spans") == true)
  }

  @Test func `a byte that changes anywhere is noticed`() throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: try write(12))))
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      let path = folder.file("b.timings").path
      try Data(changed).write(to: URL(filePath: path))
      let read = try? RecordedTimings(reading: path)
      #expect(read == nil, "byte \(index)")
    }
  }

  @Test(arguments: [
    (
      "#retake 2 timings key=a\nE 0\n", "replay.timings.newerVersion",
      "version 2; this Retake reads"
    ),
    ("#retake 1 key=a origin=0\n", "replay.timings.notTimings", "not recorded timings"),
    ("#retake 0 timings key=a\n", "replay.timings.notTimings", "not recorded timings"),
    ("{\"v\": 1}\n", "replay.timings.notTimings", "not recorded timings"),
    ("", "replay.timings.notTimings", "not recorded timings"),
    ("#retake 1 timings\n", "replay.timings.damaged", "line 1"),
  ])
  func `what is no timings of this version is named`(text: String, code: String, says: String)
    throws
  {
    let error = try fault(text.utf8)
    #expect(error?.code == code)
    #expect(error?.message.contains(says) == true)
    #expect(error?.place?.file == "b.timings")
  }

  /// Timings with these lines, and the correct digest and end.
  private func timings(_ lines: [String], spans: Int) -> String {
    let block = (["#retake 1 timings key=a clock=thread"] + lines).map { $0 + "\n" }.joined()
    return block + "B \(spans) \(Digest128(of: block))\nE \(spans)\n"
  }

  @Test(arguments: [
    "S", "S a 0:0 1 2 3 4 e", "S a 0:0 1 2 3 4 e done more", "S a 0 1 2 3 4 e done",
    "S a 0:0. 1 2 3 4 e done", "S a 0:-1 1 2 3 4 e done", "S a 0:0 1 3 2 4 e done",
    "S a 0:0 1 2 3 -4 e done", "S a 0:00 1 2 3 4 e done", "S a 0:0 +1 2 3 4 e done",
    "S a 0:0 1 2 99999999999999999999 4 e done", "S  0:0 1 2 3 4 e done",
    "S a 0:4294967296 1 2 3 4 e done", "SS a 0:0 1 2 3 4 e done",
    "S a 0:0 1 -9223372036854775807 9223372036854775807 4 e done",
  ])
  func `a line that is no span is named by its number`(line: String) throws {
    let good = "S a 0:1 1 2 3 4 e done"
    #expect(throws: Never.self) {
      let path = try folder.write(timings([good], spans: 1), to: "good.timings").path
      _ = try RecordedTimings(reading: path)
    }
    let error = try fault(timings([good, line], spans: 2).utf8)
    #expect(error?.code == "replay.timings.damaged")
    #expect(error?.message.contains("line 3") == true)
  }

  @Test func `two costs of one body are refused, letters of later versions are not`() throws {
    let good = "S a 0:1 1 2 3 4 e done"
    let twice = try fault(timings([good, good], spans: 2).utf8)
    #expect(twice?.message.contains("'a' has two spans for frame 0:1") == true)
    let later = try folder.write(timings([good, "Q what is new"], spans: 1), to: "later.timings")
    #expect(try RecordedTimings(reading: later.path).spanCount == 1)
    let behind = try fault((timings([good], spans: 1) + good + "\n").utf8)
    #expect(behind?.message.contains("it comes after the end") == true)
    let endless = try fault(
      ("#retake 1 timings key=a\n" + String(repeating: "x", count: 1 << 19)).utf8)
    #expect(endless?.message.contains("has no end") == true)
  }

  @Test func `nothing appears before the end, and nothing stays of a run that failed`() throws {
    let path = folder.file("a.timings").path
    let writer = try RecordedTimingsWriter(path: path, key: "x")
    writer.measured(Self.span(0))
    #expect(!FileManager.default.fileExists(atPath: path))
    writer.discard()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    let error = #expect(throws: ReplayError.self) {
      try RecordedTimingsWriter(path: folder.file("absent/a.timings").path, key: "x")
    }
    #expect(error?.code == "replay.timings.unwritable")
    let full = try RecordedTimingsWriter(path: "/dev/full", key: "x")
    #expect(throws: ReplayError.self) { try full.finish() }
  }
}

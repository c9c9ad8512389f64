import Foundation
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import Testing

@Suite struct ResultLinesTests {
  private func lines(
    _ replay: Replay, sink: String? = nil
  ) throws -> (lines: [JSONValue], text: String, summary: RunSummary) {
    var text = ""
    let observer = try ResultLines(of: replay, sink: sink) { text += $0 }
    let summary = try replay.run(observers: [observer])
    let lines = try text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
    return (lines, text, summary)
  }

  @Test func `each captured frame has a line in the order of capture`() throws {
    let run = try lines(Samples.replay { $0.options.mode = .simulate })
    #expect(run.lines.count == 12)
    #expect(run.lines.map { $0["sequence"] } == (0..<12).map { .integer($0) })
    #expect(run.lines[3]["timeNanoseconds"] == .integer(100_000_000))
    let first = run.lines[0]["sinks"]?["numbers"]
    #expect(first?["ageMilliseconds"] == .integer(45))
    #expect(first?["fate"] == .string("deliver"))
    #expect(
      first?["scalars"]?.canonicalText
        == #"[{"name":"mean","value":0},{"name":"growth","value":0}]"#)
    let fates = run.lines.map { $0["sinks"]?["numbers"]?["fate"] }
    #expect(fates.count { $0 == .string("deliver") } == run.summary.frames.delivered)
  }

  @Test func `a frame's age is the time between its arrival and its delivery`() throws {
    let notes = Notes()
    var text = ""
    let replay = try Samples.replay { $0.options.mode = .simulate }
    let observer = try ResultLines(of: replay) { text += $0 }
    _ = try replay.run(observers: [notes, observer])
    for (index, line) in text.split(separator: "\n").enumerated() {
      let delivery = notes.lines.first {
        $0.kind == .deliver && $0.node == "numbers" && $0.frame?.sequence == index
      }
      let arrival = Int64((Double(index) * 1e9 / 30).rounded())
      let age = try #require(delivery.map { Double($0.time - arrival) / 1e6 })
      let json = try JSONValue(parsing: Data(line.utf8))["sinks"]?["numbers"]?["ageMilliseconds"]
      #expect(json == .number(age) || json == Int64(exactly: age).map { .integer($0) })
    }
  }

  @Test(arguments: [RunOptions.Mode.everyFrame, .simulate])
  func `the lines are the same for any number of workers`(mode: RunOptions.Mode) throws {
    let texts = try [0, 1, 2, 4, 8].map { workers in
      try lines(
        Samples.replay(Samples.own(frames: 40), reader: nil) {
          $0.options = RunOptions(mode: mode, workers: workers, perturbation: UInt64(workers) + 1)
        }
      ).text
    }
    #expect(Set(texts).count == 1)
    #expect(texts[0].split(separator: "\n").count == 40)
  }

  @Test func `a sink that is not there is refused by name`() throws {
    let replay = try Samples.replay()
    let error = #expect(throws: ReplayError.self) {
      try ResultLines(of: replay, sink: "number") { _ in }
    }
    #expect(error == .noSuchSink(node: "number", sinks: ["numbers"]))
    #expect(error?.advice == "Did you mean 'numbers'?")
  }

  @Test func `what the receiver throws ends the run`() throws {
    struct Enough: Error {}
    let replay = try Samples.replay()
    var count = 0
    let observer = try ResultLines(of: replay) { _ in
      count += 1
      if count == 3 { throw Enough() }
    }
    #expect(throws: Enough.self) { try replay.run(observers: [observer]) }
    #expect(count == 3)
  }

  @Test func `a line that somebody follows is there as soon as its frame is told`() throws {
    let pipe = Pipe()
    let replay = try Samples.replay()
    let file = WholeFile(
      stream: pipe.fileHandleForWriting, name: "a pipe", output: .results, endsWithReader: true)
    let reader = LineReader(pipe.fileHandleForReading)
    _ = try replay.run(
      observers: [try ResultLineWriter(file, of: replay, isLive: true), reader])
    #expect(reader.lines.count == 12)
    for (index, line) in reader.lines.enumerated() {
      #expect(line.contains("\"sequence\":\(index),") && line.hasSuffix("}\n"))
    }
  }
}

/// Reads the available lines whenever a frame is finished.
private final class LineReader: RunObserver {
  private let handle: FileHandle
  private(set) var lines: [String] = []

  init(_ handle: FileHandle) { self.handle = handle }

  func finished(_ frame: FinishedFrame) {
    lines.append(String(decoding: handle.availableData, as: UTF8.self))
  }
}

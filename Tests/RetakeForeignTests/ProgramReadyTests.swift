import Foundation
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeForeign

/// The description that a program with sinks sends about itself.
@Suite struct ProgramReadyTests {
  private func ready(_ rest: String) throws -> ForeignReady {
    let text = """
      {"v": 1, "name": "a", "version": 1, "output": "program", "state": "stateful"\(rest)}
      """
    let json = (try? JSONValue(parsing: Data(text.utf8))) ?? .null
    return try ForeignReady(json, output: .program)
  }

  @Test func `sinks are in the order of their names, and begin with nothing`() throws {
    let ready = try ready(
      #", "sinks": {"b": "classes", "a": "scalars", "c": "detections"}, "classNames": ["x"]"#)
    #expect(ready.sinks.map(\.name) == ["a", "b", "c"])
    let outs = ready.emptyOuts
    #expect(outs.value(for: "a") as? Scalars == Scalars([]))
    #expect(outs.value(for: "b") as? Classes == Classes([]))
    #expect(outs.value(for: "c") as? Detections == Detections([], classNames: ["x"]))
    #expect(outs.value(for: "d") == nil)
  }

  @Test(arguments: [
    ("", "missing"), (#", "sinks": {}"#, "1 to 64 sinks"),
    (#", "sinks": {"A": "scalars"}"#, "'A' cannot be a sink"),
    (#", "sinks": {"a": "boxes"}"#, "'boxes' is not an output"),
    (#", "sinks": {"a": "program"}"#, "a sink is given values"),
  ])
  func `sinks that cannot be used are named`(rest: String, text: String) {
    let problem = #expect(throws: DocumentProblem.self) { try ready(rest) }
    #expect(problem?.message.contains(text) == true, "\(problem?.message ?? "")")
  }

  @Test func `a whole program is stateful`() {
    let json: JSONValue = .object([
      "v": .integer(1), "name": .string("a"), "version": .integer(1), "output": .string("program"),
      "state": .string("pure"), "sinks": .object(["a": .string("scalars")]),
    ])
    let problem = #expect(throws: DocumentProblem.self) {
      try ForeignReady(json, output: .program)
    }
    #expect(problem?.pointer == "/ready/state")
  }

  @Test func `modules are digests by their paths, and may be missing`() throws {
    let digest = String(repeating: "0a", count: 32)
    let sinks = #", "sinks": {"a": "scalars"}"#
    #expect(try ready(sinks).modules.isEmpty)
    #expect(
      try ready(#"\#(sinks), "modules": {"b/c.py": "\#(digest)"}"#).modules == ["b/c.py": digest])
    for wrong in [#"["a.py"]"#, #"{"a.py": "0a"}"#, #"{"": "\#(digest)"}"#, #"{"a.py": 1}"#] {
      #expect(throws: DocumentProblem.self) { try ready(#"\#(sinks), "modules": \#(wrong)"#) }
    }
  }

  @Test func `the files of a loop are those that it reads`() {
    let words = ["python3", "-m", "retake.loop", "--results=boxes.csv", "counter.py", "--a=b.txt"]
    #expect(
      ForeignProgram(command: words, output: .scalars).files
        == ["-m", "retake.loop", "counter.py", "--a=b.txt", "b.txt"])
  }

  @Test func `many values of one name get a number each, and none that a name has`() throws {
    var outs = ProgramOuts(empty: [("a", Scalars([]))])
    let count = 40_000
    outs.add(Scalars([.init("n#3", 0)]), to: "a")
    for value in 0..<count { outs.add(Scalars([.init("n", Double(value))]), to: "a") }
    let names = try #require(outs.value(for: "a") as? Scalars).entries.map(\.name)
    #expect(names.prefix(4) == ["n#3", "n", "n#2", "n#4"])
    #expect(names.count == count + 1 && names.last == "n#\(count + 1)")
    #expect(Set(names).count == names.count)
  }

  @Test func `values of one frame and sink are put together`() {
    var outs = ProgramOuts(empty: [("a", Scalars([])), ("b", Classes([]))])
    let empty = outs.digest
    for value in [1.0, 2, 3] { outs.add(Scalars([.init("n", value)]), to: "a") }
    outs.add(Classes([Classification(label: "x", score: 1)]), to: "b")
    outs.add(Classes([Classification(label: "x", score: 0.5)]), to: "b")
    #expect(
      outs.value(for: "a") as? Scalars
        == Scalars([.init("n", 1), .init("n#2", 2), .init("n#3", 3)])
    )
    #expect((outs.value(for: "b") as? Classes)?.items.count == 2)
    #expect(outs.digest != empty && outs.facts.count == 5)
  }
}

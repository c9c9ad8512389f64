import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import RetakeTestSupport
import Testing

/// Damaged documents become a typed error with its place, or a pipeline, quickly: never a crash.
///
/// `RETAKE_MUTATIONS=200000` runs more of each kind.
@Suite(.serialized) struct MutationTests {
  /// The outcomes of the mutated documents.
  private struct Tally: CustomStringConvertible {
    var valid = 0
    var codes: [String: Int] = [:]
    var slowestSeconds = 0.0
    var slowest = Data()

    var count: Int { valid + codes.values.reduce(0, +) }
    var description: String {
      "\(valid) valid, \(codes.sorted { $0.key < $1.key }), slowest \(slowestSeconds) s"
    }
  }

  static let count =
    ProcessInfo.processInfo.environment["RETAKE_MUTATIONS"].flatMap { Int($0) } ?? 2_000

  /// Parses one document: the result is a pipeline that validates and reads back, or a typed error
  /// with a place.
  private func parse(_ data: Data, _ tally: inout Tally) {
    let (_, seconds) = CPUTime.seconds {
      do {
        let pipeline = try PipelineDocument.parse(data, catalog: TestCatalog())
        let canonical = try PipelineDocument.json(of: pipeline).canonicalText
        let again = try PipelineDocument.parse(Data(canonical.utf8), catalog: TestCatalog())
        #expect(again.digest == pipeline.digest, "\(canonical)")
        checkConversions(of: pipeline)
        tally.valid += 1
      } catch {
        checkPlace(error, data)
        tally.codes[error.facts.code, default: 0] += 1
      }
    }
    if seconds > tally.slowestSeconds { (tally.slowestSeconds, tally.slowest) = (seconds, data) }
  }

  /// The place exists, as far as the document can be read. For a missing key, the place is where it
  /// is missing.
  private func checkPlace(_ error: any Error, _ data: Data) {
    guard let error = error as? PipelineError else {
      Issue.record("not an error of pipelines: \(error)")
      return
    }
    #expect(error.pointer.isEmpty || error.pointer.hasPrefix("/"), "\(error)")
    #expect(!error.message.isEmpty && error.advice?.isEmpty == false, "\(error)")
    #expect(error.description.utf8.count < 4_000)
    guard let document = try? JSONValue(parsing: data) else { return }
    let missing = ["/nodes", "/edges"]
    #expect(
      document.hasPlace(error.pointer) || missing.contains(error.pointer)
        || error.isAboutWhatIsAbsent, "\(error)\n\(String(decoding: data, as: UTF8.self))")
  }

  private func checkConversions(of pipeline: Pipeline) {
    do {
      let sources = pipeline.nodes.filter { $0.kind == "session" }.map { ($0.id, "RGB24") }
      let complete = try pipeline.flattened().insertingConversions(
        sources: Dictionary(uniqueKeysWithValues: sources).compactMapValues { .init(rawValue: $0) },
        catalog: TestCatalog())
      #expect(try complete.topologicalOrder().count == complete.nodes.count)
    } catch {
      #expect(error.facts.code == "graph.pipeline.unsupported", "\(error)")
    }
  }

  private func check(
    _ document: String, seed: UInt64, valid: Int, codes: Int,
    _ mutate: (inout Mutator) throws -> Data
  ) rethrows {
    var mutator = Mutator(seed: seed)
    var tally = Tally()
    for _ in 0..<Self.count { parse(try mutate(&mutator), &tally) }
    #expect(tally.count == Self.count)
    #expect(tally.valid >= valid, "\(tally)")
    #expect(tally.codes.count >= codes, "\(tally)")
    #expect(
      tally.slowestSeconds < CPUTime.secondsMax,
      "\(tally)\n\(String(decoding: tally.slowest.prefix(4_000), as: UTF8.self))")
    if Self.count > 2_000 { print("\(Self.count) documents, seed \(seed): \(tally)") }
  }

  @Test func `damaged documents take no memory with them`() async {
    // In a separate process, because the other tests use memory too.
    await #expect(processExitsWith: .success) {
      var mutator = Mutator(seed: 81)
      func parse(_ count: Int) throws {
        for document in [Documents.motion, Documents.yard] {
          let original = try JSONValue(parsing: Data(document.utf8))
          for _ in 0..<count {
            var bytes = Array(document.utf8)
            mutator.damage(&bytes)
            let changed = [
              mutator.change(original), mutator.moveKey(original), mutator.rewire(original),
            ]
            for data in [Data(bytes)] + changed.map({ Data($0.canonicalText.utf8) }) {
              _ = try? PipelineDocument.parse(data, catalog: TestCatalog())
            }
          }
        }
      }
      func peakKibibytes() -> Int {
        var usage = rusage()
        // RUSAGE_SELF, whose type differs between systems.
        getrusage(0, &usage)
        return usage.ru_maxrss
      }
      try parse(50)
      let before = peakKibibytes()
      try parse(1_000)
      #expect(peakKibibytes() - before < 8 << 10)
    }
  }

  @Test(arguments: [Documents.motion, Documents.yard])
  func `documents with damaged bytes`(document: String) {
    check(document, seed: 77, valid: 10, codes: 6) { mutator in
      var bytes = Array(document.utf8)
      for _ in 0..<mutator.random.pick(1...4) { mutator.damage(&bytes) }
      return Data(bytes)
    }
  }

  @Test(arguments: [Documents.motion, Documents.yard])
  func `documents with changed values`(document: String) throws {
    let original = try JSONValue(parsing: Data(document.utf8))
    check(document, seed: 78, valid: 100, codes: 12) { mutator in
      var value = original
      for _ in 0..<mutator.random.pick(1...3) { value = mutator.change(value) }
      return Data(value.canonicalText.utf8)
    }
  }

  @Test(arguments: [Documents.motion, Documents.yard])
  func `documents with keys in other places`(document: String) throws {
    let original = try JSONValue(parsing: Data(document.utf8))
    check(document, seed: 79, valid: 10, codes: 5) { mutator in
      var value = original
      for _ in 0..<mutator.random.pick(1...2) { value = mutator.moveKey(value) }
      return Data(value.canonicalText.utf8)
    }
  }

  @Test(arguments: [Documents.motion, Documents.yard])
  func `documents with other edges`(document: String) throws {
    let original = try JSONValue(parsing: Data(document.utf8))
    check(document, seed: 80, valid: 20, codes: 5) { mutator in
      var value = original
      for _ in 0..<mutator.random.pick(1...5) { value = mutator.rewire(value) }
      return Data(value.canonicalText.utf8)
    }
  }
}

extension PipelineError {
  /// Whether the place may name something that is missing in the document: a port list that has its
  /// default, a body.
  fileprivate var isAboutWhatIsAbsent: Bool {
    pointer.hasSuffix("/options/ports") || pointer.hasSuffix("/body/nodes")
      || pointer.hasSuffix("/capacity") || pointer.hasSuffix("/options")
  }
}

extension JSONValue {
  /// Whether a JSON pointer leads to a value. A key that was shortened for a message also counts.
  fileprivate func hasPlace(_ pointer: String) -> Bool {
    guard pointer.contains("/") else { return pointer.isEmpty }
    let (head, rest) = pointer.dropFirst().split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false
    )
    .splitFirst
    let key = head.replacing("~1", with: "/").replacing("~0", with: "~")
    switch self {
    case .object(let members):
      if let value = members[key] { return value.hasPlace(rest) }
      return key.hasSuffix("…") && members.keys.contains { $0.hasPrefix(key.dropLast()) }
    case .array(let values):
      guard let index = Int(key), values.indices.contains(index) else { return false }
      return values[index].hasPlace(rest)
    default: return false
    }
  }
}

extension [Substring] {
  /// The first token of a pointer, and the rest of the pointer.
  fileprivate var splitFirst: (String, String) {
    (first.map { String($0) } ?? "", count > 1 ? "/\(self[1])" : "")
  }
}

import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Testing

@Suite struct MutationTests {
  /// What became of the mutated documents.
  private struct Tally {
    var valid = 0
    var codes: [String: Int] = [:]
  }

  /// Parses one document: a pipeline that validates and reads back, or a typed error with a place.
  private func parse(_ data: Data, _ tally: inout Tally) {
    do throws(PipelineError) {
      let pipeline = try PipelineDocument.parse(data, catalog: TestCatalog())
      let canonical = try PipelineDocument.json(of: pipeline).canonicalText
      let again = try PipelineDocument.parse(Data(canonical.utf8), catalog: TestCatalog())
      #expect(again.digest == pipeline.digest, "\(canonical)")
      tally.valid += 1
    } catch {
      #expect(error.pointer.isEmpty || error.pointer.hasPrefix("/"))
      #expect(!error.message.isEmpty)
      tally.codes[error.code, default: 0] += 1
    }
  }

  @Test func `2,000 documents with damaged bytes give a typed error or a pipeline`() {
    var random = SeededGenerator(seed: 77)
    var tally = Tally()
    let original = Array(Documents.motion.utf8)
    for _ in 0..<2_000 {
      var bytes = original
      for _ in 0..<random.pick(1...4) { damage(&bytes, &random) }
      parse(Data(bytes), &tally)
    }
    #expect(tally.valid + tally.codes.values.reduce(0, +) == 2_000)
    #expect(tally.valid > 20)
    #expect(tally.codes.count >= 6, "\(tally)")
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let at = random.pick(0...bytes.count - 1)
    switch random.pick(0...4) {
    case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    case 1: bytes.remove(at: at)
    case 2: bytes.insert(random.pick(Array("{}[]\",:0-9e.~/\\".utf8)), at: at)
    case 3: bytes.removeLast(min(bytes.count - 1, random.pick(1...40)))
    default:
      let end = min(bytes.count, at + random.pick(1...60))
      bytes.insert(contentsOf: bytes[at..<end], at: random.pick(0...bytes.count - 1))
    }
  }

  @Test func `2,000 documents with changed values give a typed error or a pipeline`() throws {
    var random = SeededGenerator(seed: 78)
    var tally = Tally()
    let original = try JSONValue(parsing: Data(Documents.motion.utf8))
    for _ in 0..<2_000 {
      var value = original
      for _ in 0..<random.pick(1...3) { value = changed(value, &random) }
      parse(Data(value.canonicalText.utf8), &tally)
    }
    #expect(tally.valid + tally.codes.values.reduce(0, +) == 2_000)
    #expect(tally.valid > 100)
    #expect(tally.codes.count >= 12, "\(tally)")
  }

  /// One value somewhere inside is replaced, removed, renamed or said twice.
  private func changed(_ value: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
    switch value {
    case .object(var members) where !members.isEmpty && random.chance(85):
      let key = random.pick(members.keys.sorted())
      let member = members[key] ?? .null
      switch random.pick(0...9) {
      case 0: members[key] = nil
      case 1:
        members[key] = nil
        members[random.pick(Self.words)] = member
      case 2: members[random.pick(Self.words)] = random.pick(Self.values)
      default: members[key] = changed(member, &random)
      }
      return .object(members)
    case .array(var values) where !values.isEmpty && random.chance(85):
      let index = random.pick(0...values.count - 1)
      switch random.pick(0...9) {
      case 0: values.remove(at: index)
      case 1: values.append(values[index])
      case 2: values.swapAt(index, random.pick(0...values.count - 1))
      default: values[index] = changed(values[index], &random)
      }
      return .array(values)
    default: return random.pick(Self.values)
    }
  }

  private static let words = [
    "id", "kind", "options", "cost", "fixed", "p50", "from", "to", "capacity", "policy", "v",
    "grey", "motion", "camera", "a/b", "", "é",
  ]

  private static let values: [JSONValue] =
    words.map { .string($0) } + [
      .null, .bool(true), .integer(0), .integer(-1), .integer(1), .integer(.max), .integer(.min),
      .number(0.5), .number(1e300), .array([]), .object([:]), .string("45ms"),
      .string("999999999s"),
      .string("replace"), .string("dropOldest"), .string("session"), .string("results"),
      .string("brightness"), .string("vision"), .string(String(repeating: "x", count: 70)),
      .object(["fixed": .string("1ms")]), .object(["uniform": .array([.string("1ms")])]),
    ]
}

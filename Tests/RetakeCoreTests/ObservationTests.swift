import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct ObservationTests {
  private static let mask = Mask(width: 5, height: 4) { x, y in (1...3).contains(x) && y > 0 }

  private static let document = JSONValue.object([
    "b": .array([.integer(1), .number(2.5), .null]), "a": .string("é \"x\"\n"),
  ])

  private static let facts: [ResultFact] = [
    .observation(Observation(.mask(mask), label: "a person", score: 0.91317, identity: -4)),
    .observation(
      Observation(
        .points(
          KeyPoints(
            [KeyPoint("left,eye", x: 1.04, y: -2.5, score: 0.5), KeyPoint("nose", x: .nan, y: 3)],
            bones: [.init(0, 1), .init(1, 0)])), label: "face")),
    .observation(Observation(.points(KeyPoints([])), label: "%")),
    .observation(Observation(.embedding([1, -0.1, .infinity]), label: "id", identity: 0)),
    .observation(Observation(.embedding([]), label: "empty")),
    .observation(
      Observation(.json(document), label: "meta", score: 0.25)),
  ]

  private static let lines = [
    "M -4 a%20person 0.9132 5x4 5310003",
    #"K - face 1.0000 0-1,1-0 left%2Ceye=1.0,-2.5,0.5000 "#
      + "nose=nan,3.0,1.0000", "K - %25 1.0000 -", "E 0 id 1.0000 AACAP83MzL0AAIB/",
    "E - empty 1.0000 -",
    #"J - meta 0.2500 {"a":"\u00E9 \"x\"\n","b":[1,2.5,null]}"#,
  ]

  @Test func `each kind of observation has its line, in the order of the stage`() {
    #expect(ResultSamples.lines(Self.facts) == Self.lines)
  }

  @Test func `lines are read as they were written`() throws {
    let text = ResultSamples.text([ResultSamples.delivered(0, Self.facts)])
    let chunk = try ResultSamples.chunk(text)
    let read = try #require(try ResultSamples.frames(chunk).first?.outcomes.first?.lines)
    #expect(read.map(\.text) == Self.lines)
    #expect(chunk.blocks[0].facts == 6 && !chunk.blocks[0].holdsBoxesAlone)
    #expect(read.allSatisfy { !$0.isPlatformBound })
    for line in Self.lines {
      #expect(ObservationLine(parsing: line).map(ResultLine.observation)?.text == line)
    }
  }

  @Test(arguments: [
    "M - a 1.0000 5x4 531000", "M - a 1.0000 5x5 5310003", "M - a 1.0000 5x4", "M - a 1.0000 0x4 0",
    "K - a 1.0000 0-1 x=1.0,2.0", "K - a 1.0000 01-1", "E - a 1.0000 AACA", "E - a 1.0000 AACAPw",
    "J - a 1.0000 {", "J a 1.0000 {}", "D - a 1.0000 {}", "",
  ])
  func `another form is refused`(line: String) {
    #expect(ObservationLine(parsing: line) == nil)
  }

  @Test func `result lines have observations in one list`() {
    var writer = ResultJSON(sinks: [ResultHeader.Sink("boxes")])
    let line = writer.line(
      of: ResultJSON.Frame(
        ResultSamples.delivered(0, Self.facts), arrivalNanoseconds: 0, deliveries: [nil],
        classNames: [[]]))
    let list =
      #"[{"identity":-4,"label":"a person","mask":{"counts":"5310003","size":[4,5]},"score":0.9132},"#
      + #"{"bones":[[0,1],[1,0]],"label":"face","points":["#
      + #"{"name":"left,eye","score":0.5,"x":1,"y":-2.5},"#
      + #"{"name":"nose","score":1,"x":null,"y":3}],"score":1},"#
      + #"{"label":"%","points":[],"score":1},"#
      + #"{"embedding":[1,-0.1,null],"identity":0,"label":"id","score":1},"#
      + #"{"embedding":[],"label":"empty","score":1},"#
      + #"{"json":{"a":"é \"x\"\n","b":[1,2.5,null]},"label":"meta","score":0.25}]"#
    #expect(line.contains(#""fate":"deliver","observations":\#(list)}"#))
    let json = try? JSONValue(parsing: Data(line.dropLast().utf8))
    #expect(json.map { $0.canonicalText + "\n" } == line)
  }

  @Test func `observations that differ have other digests`() {
    func digest(_ observation: Observation) -> Digest128 {
      var hasher = DigestHasher()
      observation.digest(into: &hasher)
      return hasher.finish()
    }
    let first = Observation(.mask(Self.mask), label: "a")
    var others = [first]
    others.append(Observation(.mask(Mask(width: 4, height: 5) { _, _ in false }), label: "a"))
    others.append(Observation(.mask(Self.mask), label: "b"))
    others.append(Observation(.mask(Self.mask), label: "a", score: 0.5))
    others.append(Observation(.mask(Self.mask), label: "a", identity: 0))
    others.append(Observation(.points(KeyPoints([KeyPoint("a", x: 1, y: 2)])), label: "a"))
    others.append(Observation(.points(KeyPoints([KeyPoint("a", x: 1, y: 3)])), label: "a"))
    others.append(Observation(.embedding([1]), label: "a"))
    others.append(Observation(.embedding([1, 0]), label: "a"))
    others.append(Observation(.json(.integer(1)), label: "a"))
    others.append(Observation(.json(.string("1")), label: "a"))
    #expect(Set(others.map(digest)).count == others.count)
    #expect(digest(Observation(.json(.number(1)), label: "a")) == digest(others[9]))
  }
}

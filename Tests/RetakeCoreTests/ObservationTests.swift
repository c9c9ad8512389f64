import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct ObservationTests {
  private static let mask = Mask(width: 5, height: 4) { x, y in (1...3).contains(x) && y > 0 }

  private static let document = JSONValue.object([
    "b": .array([.integer(1), .number(2.5), .null]), "a": .string("é \"x\"\n"),
  ])

  private static let depth = PixelArray(width: 2, height: 1, [0.5, .nan])

  private static let shapes: [ResultFact] =
    [
      .observation(
        Observation(.polyline(Polyline([[1.04, 2], [3, -4.5]])), label: "lane", identity: 2)),
      .observation(Observation(.polyline(Polyline([], isClosed: true)), label: "hole")),
    ] + (depth.map { [.observation(Observation(.image($0), label: "depth", score: 0.5))] } ?? [])

  private static let facts: [ResultFact] =
    shapes + [
      .observation(Observation(.mask(mask), label: "a person", score: 0.91317, identity: -4)),
      .observation(
        Observation(
          .points(
            KeyPoints(
              [
                KeyPoint("left,eye", x: 1.04, y: -2.5, score: 0.5), KeyPoint("nose", x: .nan, y: 3),
              ],
              bones: [.init(0, 1), .init(1, 0)])), label: "face")),
      .observation(Observation(.points(KeyPoints([])), label: "%")),
      .observation(Observation(.embedding([1, -0.1, .infinity]), label: "id", identity: 0)),
      .observation(Observation(.embedding([]), label: "empty")),
      .observation(
        Observation(.json(document), label: "meta", score: 0.25)),
    ]

  private static let lines = [
    "L 2 lane 1.0000 open 1.0,2.0 3.0,-4.5", "L - hole 1.0000 closed",
    "I - depth 0.5000 2x1x1 f32 \(depth.map { "\($0.digest)" } ?? "")",
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
    #expect(chunk.blocks[0].facts == 9 && !chunk.blocks[0].holdsBoxesAlone)
    // Numbers of an image depend on the processor and the libraries.
    #expect(read.filter(\.isPlatformBound).map(\.text) == [Self.lines[2]])
    for line in Self.lines {
      #expect(ObservationLine(parsing: line).map(ResultLine.observation)?.text == line)
    }
  }

  @Test(arguments: [
    "M - a 1.0000 5x4 531000", "M - a 1.0000 5x5 5310003", "M - a 1.0000 5x4", "M - a 1.0000 0x4 0",
    "K - a 1.0000 0-1 x=1.0,2.0", "K - a 1.0000 01-1", "E - a 1.0000 AACA", "E - a 1.0000 AACAPw",
    "L - a 1.0000 ajar 1.0,2.0", "L - a 1.0000 open 1.0", "L - a 1.0000 open 1.0,2.0,3.0",
    "I - a 1.0000 2x1 f32 00000000000000000000000000000000",
    "I - a 1.0000 2x1x5 f32 00000000000000000000000000000000",
    "I - a 1.0000 2x1x1 f64 00000000000000000000000000000000", "I - a 1.0000 2x1x1 f32 0",
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
    let digest = Self.depth.map { "\($0.digest)" } ?? ""
    let list =
      #"[{"identity":2,"label":"lane","polyline":[[1,2],[3,-4.5]],"score":1},"#
      + #"{"label":"hole","polygon":[],"score":1},"#
      + #"{"image":{"digest":"\#(digest)","size":[1,2,1],"type":"f32"},"label":"depth","score":0.5},"#
      + #"{"identity":-4,"label":"a person","mask":{"counts":"5310003","size":[4,5]},"score":0.9132},"#
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

  @Test func `an array has the numbers of its size`() {
    #expect(Self.depth?.bytes == [0, 0, 0, 63, 0, 0, 192, 127])
    #expect(PixelArray(width: 2, height: 2, [0.5]) == nil)
    #expect(PixelArray(width: 0, height: 1, []) == nil)
    #expect(PixelArray(width: 65_537, height: 1, channels: 1, element: .uint8, bytes: []) == nil)
    #expect(
      PixelArray(width: 1, height: 1, channels: 5, element: .uint8, bytes: [1, 2, 3, 4, 5]) == nil)
  }

  @Test func `observations that differ have other digests`() throws {
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
    #expect(digest(Observation(.json(.number(1)), label: "a")) == digest(others[9]))
    for line in [
      Polyline([]), Polyline([], isClosed: true), Polyline([[1, 2]]), Polyline([[2, 1]]),
    ] {
      others.append(Observation(.polyline(line), label: "a"))
    }
    let arrays = [
      PixelArray(width: 2, height: 1, [1, 2]), PixelArray(width: 1, height: 2, [1, 2]),
      PixelArray(width: 1, height: 1, channels: 2, [1, 2]),
      PixelArray(width: 2, height: 1, [1, 3]),
      PixelArray(
        width: 4, height: 1, channels: 2, element: .uint8, bytes: [0, 0, 128, 63, 0, 0, 0, 64]),
      PixelArray(
        width: 4, height: 1, channels: 1, element: .uint16, bytes: [0, 0, 128, 63, 0, 0, 0, 64]),
    ]
    for array in arrays {
      others.append(Observation(.image(try #require(array)), label: "a"))
    }
    #expect(Set(others.map(digest)).count == others.count)
  }
}

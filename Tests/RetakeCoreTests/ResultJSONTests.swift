import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct ResultJSONTests {
  private func line(
    _ facts: [ResultFact], names: [String] = [], delivery: Int64? = 445_500_000
  ) -> String {
    var writer = ResultJSON(sinks: [ResultHeader.Sink("boxes")])
    return writer.line(
      of: ResultJSON.Frame(
        ResultSamples.delivered(12, facts), arrivalNanoseconds: 400_000_000,
        deliveries: [delivery], classNames: [names]))
  }

  /// The line of a frame with these facts in the sink's object.
  private func delivered(_ facts: [ResultFact], names: [String] = []) -> String {
    let before = #"{"pts":12012,"sequence":12,"sinks":{"boxes":{"ageMilliseconds":45.5,"#
    let after = #"}},"timeNanoseconds":400000000,"track":0}"# + "\n"
    let line = line(facts, names: names)
    guard line.hasPrefix(before), line.hasSuffix(after) else { return line }
    return String(line.dropFirst(before.count).dropLast(after.count))
  }

  @Test func `a frame without findings says that it came, and how old it was`() {
    #expect(delivered([]) == #""fate":"deliver""#)
    #expect(!line([], delivery: nil).contains("age"))
  }

  @Test func `detections come in the order of a results file with their names and labels`() {
    let facts = [
      ResultSamples.box(
        120.04, 64, score: 0.91317,
        classes: [Classification(label: "car", score: 0.5)]),
      ResultSamples.box(8, 7.96, score: 1, classIndex: 1, identity: 3),
      ResultSamples.box(1, 2, score: 0),
    ]
    #expect(
      delivered(facts, names: ["moving"])
        == #""detections":[{"box":[1,2,32,48],"class":"moving","classIndex":0,"score":0},"#
        + #"{"box":[120,64,32,48],"class":"moving","classIndex":0,"#
        + #""labels":[{"label":"car","score":0.5}],"score":0.9132},"#
        + #"{"box":[8,8,32,48],"classIndex":1,"identity":3,"score":1}],"fate":"deliver""#)
  }

  @Test func `each kind of fact has a list of its own`() {
    let digest = Digest128(high: 1, low: 2)
    let hex = #""00000000000000010000000000000002""#
    #expect(
      delivered([
        .user(kind: "lanes@1", digest: digest), .text(name: "plate", text: "K \"7\"\n"),
        .scalar(name: "mean", value: 104.5), .scalar(name: "mean", value: -0.0001),
        .waveform(Waveform(name: "ppg", rate: 30, samples: [0.5, .nan, -2])),
        .tensor(type: "f32", shape: [1, 3], digest: digest),
        .classification(Classification(label: "day", score: 0.75)),
        .frame(
          FramePrint(
            width: 64, height: 48, format: "I420", range: "full", matrix: "bt709", digest: digest)),
      ])
        == #""fate":"deliver","labels":[{"label":"day","score":0.75}],"#
        + #""pictures":[{"digest":\#(hex),"format":"I420","height":48,"matrix":"bt709","#
        + #""range":"full","width":64}],"#
        + #""scalars":[{"name":"mean","value":104.5},{"name":"mean","value":0}],"#
        + #""tensors":[{"digest":\#(hex),"shape":[1,3],"type":"f32"}],"#
        + #""texts":[{"name":"plate","text":"K \"7\"\n"}],"#
        + #""values":[{"digest":\#(hex),"kind":"lanes@1"}],"#
        + #""waveforms":[{"name":"ppg","rate":30,"samples":[0.5,null,-2]}]"#)
  }

  @Test func `a frame that ended says where and why, at each sink that is written`() {
    let result = FrameResult(
      id: FrameID(track: 2, sequence: 1), pts: nil,
      outcomes: [
        SinkOutcome(sink: "a", content: .ended(.replaced, node: "motion")),
        SinkOutcome(sink: "b", content: .ended(.dropped(.queue), node: "motion")),
        SinkOutcome(sink: "c", content: .facts([])),
      ])
    var writer = ResultJSON(sinks: [ResultHeader.Sink("a"), ResultHeader.Sink("b")])
    let line = writer.line(
      of: ResultJSON.Frame(
        result, arrivalNanoseconds: -5, deliveries: [nil, nil, 0], classNames: [[], [], []]))
    #expect(
      line == #"{"pts":null,"sequence":1,"sinks":{"a":{"fate":"supersede","node":"motion"},"#
        + #""b":{"fate":"drop","node":"motion","reason":"queue"}},"timeNanoseconds":-5,"track":2}"#
        + "\n")
  }

  @Test func `any line is canonical JSON and has the numbers of a results file`() throws {
    var random = SeededGenerator(seed: 7)
    for sequence in 0..<400 {
      let frame = ResultSamples.random(sequence, &random)
      var writer = ResultJSON(sinks: ResultSamples.header.sinks.map { .init($0) })
      let line = writer.line(
        of: ResultJSON.Frame(
          frame, arrivalNanoseconds: 0, deliveries: frame.outcomes.map { _ in 1 },
          classNames: frame.outcomes.map { _ in [] }))
      let json = try JSONValue(parsing: Data(line.utf8))
      #expect(json.canonicalText + "\n" == line)
      let chunk = try ResultSamples.chunk(ResultSamples.text([frame]))
      let lines = try ResultSamples.frames(chunk)[0].outcomes[0].lines
      #expect(Self.numbers(of: json["sinks"]?["boxes"]) == Self.numbers(of: lines))
    }
  }

  /// Boxes, scores and scalars; `nil` for values that JSON cannot represent as a number.
  private static func numbers(of lines: [ResultLine]) -> [Double?] {
    func value(_ text: String) -> Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }
    let boxes = lines.flatMap { line -> [Double?] in
      guard case .detection(let box) = line else { return [] }
      return [box.x, box.y, box.width, box.height, box.score].map { value($0.text) }
    }
    let scalars = lines.compactMap { line -> Double?? in
      guard case .scalar(_, let number) = line else { return nil }
      return value(number.text)
    }
    return boxes + scalars
  }

  private static func numbers(of json: JSONValue?) -> [Double?] {
    func list(_ value: JSONValue?) -> [JSONValue] {
      guard case .array(let values)? = value else { return [] }
      return values
    }
    func number(_ value: JSONValue?) -> Double? {
      switch value {
      case .integer(let value)?: Double(value)
      case .number(let value)?: value
      default: nil
      }
    }
    return list(json?["detections"]).flatMap { detection in
      list(detection["box"]).map(number) + [number(detection["score"])]
    } + list(json?["scalars"]).map { number($0["value"]) }
  }

  @Test func `numbers have their shortest form`() {
    func check(_ value: Double, _ decimals: Int, _ text: String) {
      var buffer = TextBuffer(capacity: 64)
      buffer.append(json: FixedDecimal(value, decimals: decimals))
      #expect(buffer.text == text)
    }
    check(0, 4, "0")
    check(-0.00001, 4, "0")
    check(120, 1, "120")
    check(-7.25, 3, "-7.25")
    check(0.0001, 4, "0.0001")
    check(0.00001, 6, "1e-05")
    check(1_234_567_890_123, 3, "1234567890123")
    check(1e18, 0, "1000000000000000000")
    check(.infinity, 1, "null")
  }
}

import Foundation
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeForeign

@Suite struct ForeignValueTests {
  private func value(
    _ output: ForeignOutput, _ json: String, classNames: [String] = []
  ) throws -> any PipelineValue {
    try output.value(JSONValue(parsing: Data(json.utf8)), classNames: classNames)
  }

  @Test func `values have what a program writes, in its order`() throws {
    let scalars = try value(
      .scalars, #"{"scalars": [{"name": "b", "value": 1}, {"name": "a", "value": -0.5}]}"#)
    #expect((scalars as? Scalars)?.entries == [.init("b", 1), .init("a", -0.5)])
    let classes = try value(.classes, #"{"classes": [{"label": "a", "score": 0}]}"#)
    #expect((classes as? Classes)?.items == [Classification(label: "a", score: 0)])
    let detections = try value(
      .detections,
      """
      {"detections": [{"box": [0, 1, 2.5, 3], "score": 1, "class": 1, "identity": 4,
                       "classes": [{"label": "a", "score": 0.25}]},
                      {"box": [0, 0, 1, 1], "score": 0.5}]}
      """, classNames: ["x", "y"])
    let first = Detection(
      box: Box(x: 0, y: 1, width: 2.5, height: 3), score: 1, classIndex: 1, identity: 4,
      classes: [Classification(label: "a", score: 0.25)])
    let second = Detection(box: Box(x: 0, y: 0, width: 1, height: 1), score: 0.5)
    #expect(detections as? Detections == Detections([first, second], classNames: ["x", "y"]))
  }

  @Test func `observations have one of seven contents`() throws {
    let found = try value(
      .observations,
      """
      {"observations": [
        {"mask": {"size": [4, 5], "counts": "5310003"}, "label": "person", "score": 0.5,
         "identity": 3},
        {"points": [{"name": "a", "x": 1, "y": 2.5}, {"name": "b", "x": 0, "y": 0, "score": 0}],
         "bones": [[0, 1]], "label": "dog"},
        {"embedding": [0.1, -1], "label": "id"},
        {"json": {"n": [1, null]}, "label": "meta"},
        {"polyline": [[1, 2.5], [0, -1]], "label": "lane"},
        {"polygon": [], "label": "field"},
        {"image": {"size": [1, 2, 1], "type": "f32", "data": "AAAAPwAAwH8="}, "label": "depth"}]}
      """)
    let mask = Mask(width: 5, height: 4) { x, y in (1...3).contains(x) && y > 0 }
    let points = KeyPoints(
      [KeyPoint("a", x: 1, y: 2.5), KeyPoint("b", x: 0, y: 0, score: 0)], bones: [.init(0, 1)])
    let depth = try #require(PixelArray(width: 2, height: 1, [0.5, .nan]))
    #expect(
      found as? Observations
        == Observations([
          Observation(.mask(mask), label: "person", score: 0.5, identity: 3),
          Observation(.points(points), label: "dog"),
          Observation(.embedding([0.1, -1]), label: "id"),
          Observation(
            .json(.object(["n": .array([.integer(1), .null])])), label: "meta"),
          Observation(.polyline(Polyline([[1, 2.5], [0, -1]])), label: "lane"),
          Observation(.polyline(Polyline([], isClosed: true)), label: "field"),
          Observation(.image(depth), label: "depth"),
        ]))
    #expect(ForeignOutput.observations.empty(classNames: []) as? Observations == Observations([]))
  }

  @Test func `a message has as many elements as fit`() throws {
    let entries = (0..<5_000).map { #"{"name": "\#($0)", "value": 1}"# }
    let found = try value(.scalars, #"{"scalars": [\#(entries.joined(separator: ","))]}"#)
    #expect((found as? Scalars)?.entries.count == 5_000)
  }

  struct Refusal: Sendable {
    var output: ForeignOutput
    var json: String
    var pointer: String
    var message: String

    init(_ output: ForeignOutput, _ json: String, _ pointer: String, _ message: String) {
      (self.output, self.json, self.pointer, self.message) = (output, json, pointer, message)
    }
  }

  static let refusals: [Refusal] = [
    Refusal(
      .observations, #"{"observations": [{"label": "a"}]}"#, "/value/observations/0",
      "an observation has one of mask, points, polyline, polygon, image, embedding, json"),
    Refusal(
      .observations, #"{"observations": [{"label": "a", "json": 1, "embedding": []}]}"#,
      "/value/observations/0",
      "an observation has one of mask, points, polyline, polygon, image, embedding, json"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "mask": {"size": [4, 4], "counts": "5310003"}}]}"#,
      "/value/observations/0/mask/counts", "must be COCO's compressed runs of a mask of this size"),
    Refusal(
      .observations, #"{"observations": [{"label": "a", "mask": {"size": [4], "counts": ""}}]}"#,
      "/value/observations/0/mask/size", "the size of a mask is [height, width]"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "points": [{"name": "n", "x": 1, "y": 1}], "bones": [[0, 1]]}]}"#,
      "/value/observations/0/bones/0/1", "an end of a bone is the index of a point"),
    Refusal(
      .observations, #"{"observations": [{"label": "a", "embedding": [1e300]}]}"#,
      "/value/observations/0/embedding/0", "does not fit a 32-bit float"),
    Refusal(
      .observations, #"{"observations": [{"label": "a", "polygon": [[1, 2], [1]]}]}"#,
      "/value/observations/0/polygon/1", "a vertex is [x, y]"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "image": {"size": [1, 2], "type": "u8", "data": ""}}]}"#,
      "/value/observations/0/image/size", "[height, width, channels], 1 to 4 channels"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "image": {"size": [1, 2, 5], "type": "u8", "data": ""}}]}"#,
      "/value/observations/0/image/size", "[height, width, channels], 1 to 4 channels"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "image": {"size": [1, 2, 1], "type": "f64", "data": ""}}]}"#,
      "/value/observations/0/image/type", "the type of an image is u8, u16 or f32"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "image": {"size": [1, 2, 1], "type": "u8", "data": "AAA"}}]}"#,
      "/value/observations/0/image/data", "must be 2 bytes in base64"),
    Refusal(
      .observations,
      #"{"observations": [{"label": "a", "image": {"size": [1, 2, 1], "type": "u8", "data": "AAAA"}}]}"#,
      "/value/observations/0/image/data", "must be 2 bytes in base64"),
    Refusal(
      .observations, #"{"observations": [{"json": 1}]}"#, "/value/observations/0",
      "'label' is missing"),
    Refusal(.scalars, "[]", "/value", "must be an object"),
    Refusal(.scalars, #"{"scalars": null}"#, "/value/scalars", "must be an array, is null"),
    Refusal(.scalars, #"{"classes": []}"#, "/value/classes", "unknown key 'classes'"),
    Refusal(.scalars, #"{"scalars": [{"name": "a"}]}"#, "/value/scalars/0", "'value' is missing"),
    Refusal(
      .scalars, #"{"scalars": [{"name": "a", "value": 1}, {"name": "a", "value": 1}]}"#,
      "/value/scalars/1/name", "'a' is there twice"),
    Refusal(
      .detections, #"{"detections": [{"box": [1, 2, 3], "score": 1}]}"#,
      "/value/detections/0/box", "a box is [x, y, width, height]"),
    Refusal(
      .detections, #"{"detections": [{"box": [1, 2, -0.5, 4], "score": 1}]}"#,
      "/value/detections/0/box", "the width and height of a box are 0 or more"),
    Refusal(
      .detections, #"{"detections": [{"box": [1, 2, 3, -4], "score": 1}]}"#,
      "/value/detections/0/box", "the width and height of a box are 0 or more"),
    Refusal(
      .detections, #"{"detections": [{"box": [1, 2, 3, 4], "score": 1, "class": 2}]}"#,
      "/value/detections/0/class", "an index into the program's 2 classNames"),
    Refusal(
      .detections, #"{"detections": [{"box": [1, 2, 3, 4], "score": 1, "id": 2}]}"#,
      "/value/detections/0/id", "unknown key 'id'"),
    Refusal(
      .classes, #"{"classes": [{"label": 1, "score": 1}]}"#,
      "/value/classes/0/label", "must be a string, is an integer"),
  ]

  @Test(arguments: refusals)
  func `a value with something else is refused at its place`(refusal: Refusal) throws {
    let problem = #expect(throws: DocumentProblem.self) {
      try value(refusal.output, refusal.json, classNames: ["x", "y"])
    }
    #expect(problem?.pointer == refusal.pointer)
    #expect(problem?.message.contains(refusal.message) == true, "\(problem?.message ?? "")")
  }
}

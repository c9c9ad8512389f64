import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct MeanColorTests {
  private func labels(_ frame: Frame, top: Int = 3) throws -> Classes {
    try MeanColor(options: MeanColorOptions(top: top)).process(frame, anyContext)
  }

  private func plain(_ red: Int, _ green: Int, _ blue: Int) -> Frame {
    frame(.rgb, 6, 4) { _, _, x in [red, green, blue][x % 3] }
  }

  @Test func `a frame of one color is that color, with the score 1`() throws {
    for color in MeanColor.cube {
      let best = try labels(plain(color.red, color.green, color.blue)).items[0]
      #expect(best == Classification(label: color.label, score: 1))
    }
  }

  @Test func `the score falls with the distance, to 0 at the opposite corner`() throws {
    let classes = try labels(plain(0, 0, 0), top: 256)
    #expect(classes.items.count == MeanColor.cube.count)
    #expect(classes.items.last == Classification(label: "white", score: 0))
    #expect(classes.items.map(\.score) == classes.items.map(\.score).sorted(by: >))
    // Red, green and blue are equally far from black: 255 of 255 √3. The order of the palette
    // decides.
    #expect(classes.items[2...4].map(\.label) == ["red", "green", "blue"])
    #expect(classes.items[2].score == 1 - (65_025.0 / 195_075).squareRoot())
  }

  @Test func `the mean decides, not the most frequent color`() throws {
    let checks = frame(.rgb, 8, 8) { _, y, x in (x / 3 + y) % 2 * 255 }
    #expect(try labels(checks, top: 1).items.map(\.label) == ["grey"])
  }

  @Test func `luma and chroma are colors too`() throws {
    // Full red in BT.601, limited range.
    let red = frame(.i420, 8, 8, range: .limited) { plane, _, _ in [81, 90, 240][plane] }
    let best = try labels(red, top: 1).items[0]
    #expect(best.label == "red")
    #expect(best.score > 0.99)
  }

  @Test func `a palette is checked to its last level`() throws {
    let registry = StageRegistry.builtIn
    for (palette, pointer) in [
      (#"[{"label": "a", "red": 0, "green": 0, "blue": 256}]"#, "/palette/0/blue"),
      (#"[{"label": "", "red": 0, "green": 0, "blue": 0}]"#, "/palette/0"),
      (#"[{"label": "a", "red": 0, "green": 0, "bleu": 0}]"#, "/palette/0/bleu"),
      (#"[{"label": "a", "red": 0, "green": 0}]"#, "/palette/0/blue"),
      (#"[{"label": "a", "red": 0.5, "green": 0, "blue": 0}]"#, "/palette/0/red"),
      (
        #"[{"label": "a", "red": 0, "green": 0, "blue": 0},"#
          + #" {"label": "a", "red": 9, "green": 0, "blue": 0}]"#, "/palette/1"
      ), ("[3]", "/palette/0"),
    ] {
      let options = try JSONValue(parsing: Data(#"{"palette": \#(palette)}"#.utf8))
      let problem = #expect(throws: OptionProblem.self) {
        try registry.make(kind: "mean-colour", options: options)
      }
      #expect(problem?.pointer == pointer, "\(palette): \(problem?.message ?? "")")
    }
  }
}

@Suite struct MeanClassesTests {
  private func mean(_ parts: [[Classification]?], top: Int = 5) throws -> Classes {
    let joined = Joined(
      parts.enumerated().map { index, items in
        Joined.Part(port: "p\(index)", value: items.map { Classes($0) })
      })
    return try built(top).process(joined, anyContext)
  }

  private func built(_ top: Int) -> MeanClasses {
    do {
      return try MeanClasses(options: MeanClassesOptions(top: top))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  @Test func `a label's score is its mean over the parts that came`() throws {
    let cat = Classification(label: "cat", score: 0.5)
    let dog = Classification(label: "dog", score: 0.75)
    let weak = Classification(label: "cat", score: 0.25)
    #expect(
      try mean([[cat, dog], [weak]]).items == [
        Classification(label: "cat", score: 0.375), Classification(label: "dog", score: 0.375),
      ])
    #expect(try mean([[dog], nil, [dog, cat]]).items[0].score == 0.75)
    #expect(try mean([[dog, cat], nil], top: 1).items == [dog])
    #expect(try mean([[cat, weak]]).items == [cat])
    #expect(try mean([[]]).items.isEmpty)
  }

  @Test func `a score that is no number comes last`() throws {
    let odd = Classification(label: "a", score: .nan)
    let labels = try mean([[odd, .init(label: "c", score: 0), .init(label: "b", score: 1)]])
    #expect(labels.items.map(\.label) == ["b", "c", "a"])
  }

  @Test func `a part of another type is named and fails the frame`() {
    let joined = Joined([
      .init(port: "left", value: Classes([])), .init(port: "right", value: Scalars([])),
    ])
    let error = #expect(throws: StageError.self) { try built(5).process(joined, anyContext) }
    #expect(error?.code == "ensemble.otherType")
    #expect(error?.message == "the port 'right' received scalars, not classes")
  }
}

@Suite struct MergeDetectionsTests {
  private func box(
    _ x: Double, score: Double, classIndex: Int = 0, width: Double = 10
  ) -> Detection {
    Detection(
      box: Box(x: x, y: 0, width: width, height: 10), score: score, classIndex: classIndex)
  }

  private func merged(
    _ parts: Detections?..., options: MergeDetectionsOptions = MergeDetectionsOptions()
  ) throws -> Detections {
    try MergeDetections(options: options).process(
      Joined(parts.enumerated().map { Joined.Part(port: "p\($0)", value: $1) }), anyContext)
  }

  @Test func `of boxes that overlap the best stays, and the best comes first`() throws {
    let one = Detections([box(0, score: 0.5), box(40, score: 0.9)], classNames: ["thing"])
    let two = Detections([box(2, score: 0.6), box(80, score: 0.1)], classNames: ["thing"])
    let found = try merged(one, nil, two)
    #expect(found.items.map(\.box.x) == [40, 2, 80])
    #expect(found.classNames == ["thing"])
    // The boxes at 0 and 2 share 80 of 120 pixels.
    #expect(try merged(one, two, options: .init(iou: 0.67)).items.count == 4)
    #expect(try merged(one, two, options: .init(iou: 0.66)).items.count == 3)
  }

  @Test func `an overlap of just as much as is allowed suppresses nothing`() throws {
    let half = Detections([box(0, score: 0.9, width: 20), box(0, score: 0.5)], classNames: [])
    #expect(try merged(half, options: .init(iou: 0.5)).items.count == 2)
    #expect(try merged(half, options: .init(iou: 0.49)).items.count == 1)
  }

  @Test func `equal boxes with equal scores are one, from the first port`() throws {
    var later = box(0, score: 0.5)
    later.identity = 7
    let found = try merged(
      Detections([box(0, score: 0.5)], classNames: []), Detections([later], classNames: []))
    #expect(found.items.map(\.identity) == [nil])
  }

  @Test func `what was suppressed suppresses nothing`() throws {
    // The middle box overlaps both outer boxes, but these do not overlap each other enough.
    let row = Detections(
      [box(0, score: 0.9), box(3, score: 0.8), box(6, score: 0.7)], classNames: ["thing"])
    #expect(try merged(row).items.map(\.box.x) == [0, 6])
  }

  @Test func `classes of one name are one, whatever their number`() throws {
    let one = Detections(
      [box(0, score: 0.9, classIndex: 0), box(50, score: 0.8, classIndex: 1)],
      classNames: ["car", "person"])
    let two = Detections(
      [box(0, score: 0.7, classIndex: 0), box(50, score: 0.6, classIndex: 5)],
      classNames: ["person"])
    let found = try merged(one, two)
    #expect(found.classNames == ["car", "person", "5"])
    #expect(
      found.items.map { found.classNames[$0.classIndex] } == ["car", "person", "person", "5"])
    #expect(try merged(one, two, options: .init(iou: 0.5, perClass: false)).items.count == 2)
    let fixed = MergeDetectionsOptions(iou: 0.5, classNames: ["person", "car"])
    #expect(try merged(nil, two, options: fixed).classNames == ["person", "car", "5"])
    #expect(try merged(one, nil, options: fixed).items.map(\.classIndex) == [1, 0])
  }

  @Test func `boxes that are none suppress nothing and are suppressed by nothing`() throws {
    let odd = Detections(
      [
        box(.nan, score: 0.9), box(.nan, score: 0.8), box(0, score: .nan), box(0, score: 0.1),
        box(0, score: 1, width: 0), box(0, score: 1, width: -5),
      ], classNames: ["thing"])
    let found = try merged(odd)
    #expect(found.items.map(\.score) == [1, 1, 0.9, 0.8, 0.1])
  }

  @Test func `a part of another type is named and fails the frame`() {
    let joined = Joined([.init(port: "left", value: Classes([]))])
    let error = #expect(throws: StageError.self) {
      try MergeDetections(options: MergeDetectionsOptions()).process(joined, anyContext)
    }
    #expect(error?.code == "ensemble.otherType")
  }
}

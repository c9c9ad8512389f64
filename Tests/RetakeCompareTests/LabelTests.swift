import RetakeCompare
import RetakeCore
import Testing

@Suite struct LabelTests {
  private static let names = ["car", "plate"]

  private func box(_ x: Double, width: Double = 10) -> Box {
    Box(x: x, y: 0, width: width, height: 10)
  }

  private func frame(_ sequence: Int) -> FrameID { FrameID(track: 0, sequence: sequence) }

  private func score(
    _ frames: [Int: FrameLabels], _ results: [Int: [Detection]], classNames: [String] = names,
    scalars: [String: Double] = [:], classes: Set<String>? = nil
  ) -> LabelScore {
    var labels = Labels(classes: Self.names)
    for (sequence, truth) in frames { labels.frames[frame(sequence)] = truth }
    var scorer = LabelScorer(labels, classNames: classNames, classes: classes)
    for (sequence, detections) in results {
      scorer.add(frame: frame(sequence), detections: detections, scalars: scalars)
    }
    return scorer.finish()
  }

  @Test func `each error of a frame is in its loss`() throws {
    let truth = FrameLabels(boxes: [
      LabelBox(box: box(0), label: "car"), LabelBox(box: box(100), label: "car"),
      LabelBox(box: box(200), label: "plate"), LabelBox(box: box(300), label: "car"),
    ])
    let score = score(
      [3: truth],
      [
        3: [
          Detection(box: box(0), score: 1), Detection(box: box(102.5, width: 7.5), score: 1),
          Detection(box: box(200), score: 1), Detection(box: box(400), score: 1),
        ], 4: [Detection(box: box(0), score: 1)],
      ])
    let loss = try #require(score.frames.first)
    #expect(score.frames.count == 1)
    #expect(loss.frame == frame(3))
    #expect([loss.missed, loss.extra, loss.wrongClass, loss.switched] == [1, 1, 1, 0])
    #expect(loss.misplaced == 0.25)
    #expect(loss.loss == 3.25)
    #expect(score.metrics[.precision] == 0.5)
    #expect(score.metrics[.recall] == 0.5)
    #expect(score.metrics[.countError] == 0)
    #expect(score.metrics[.mota] == nil)
    #expect(score.metrics[.textError] == nil)
  }

  @Test func `a frame that did not come counts as missed, and negatives only extra boxes`() {
    let truth = FrameLabels(boxes: [LabelBox(box: box(0), label: "car", identity: 1)])
    let found = Detection(box: box(0), score: 1, identity: 7)
    let score = score([0: truth, 1: truth, 2: FrameLabels()], [0: [found], 2: [found]])
    #expect(score.missingFrames == 1)
    #expect(score.frames.map(\.loss) == [0, 1, 1])
    #expect(score.metrics[.recall] == 0.5)
    #expect(score.metrics[.mota] == 0)
    let negative = self.score([2: FrameLabels()], [2: [found]])
    #expect(negative.metrics == [.precision: 0, .countError: 1])
    #expect(self.score([2: FrameLabels()], [2: []]).metrics == [.countError: 0])
  }

  @Test func `tracking is scored only if labels and results have identities`() {
    let truth = FrameLabels(boxes: [LabelBox(box: box(0), label: "car", identity: 1)])
    let frames = [0: truth, 1: truth]
    func found(_ identities: [Int?]) -> LabelScore {
      score(
        frames,
        Dictionary(
          uniqueKeysWithValues: identities.enumerated().map {
            ($0, [Detection(box: box(0), score: 1, identity: $1)])
          }))
    }
    #expect(found([5, 6]).metrics[.idSwitches] == 1)
    #expect(found([5, 6]).frames.map(\.switched) == [0, 1])
    #expect(found([nil, nil]).metrics[.mota] == nil)
    #expect(found([nil, nil]).frames.map(\.switched) == [0, 0])
    // A run without detections missed all; that is no lack of identities.
    #expect(score(frames, [0: [], 1: []]).metrics[.mota] == 0)
  }

  @Test func `unknown classes are named, and unwanted ones are left out`() {
    let truth = FrameLabels(boxes: [
      LabelBox(box: box(0), label: "car"), LabelBox(box: box(50), label: "plate"),
    ])
    let found = [
      Detection(box: box(0), score: 1, classIndex: 1),
      Detection(box: box(90), score: 1, classIndex: 0),
    ]
    let score = score([0: truth], [0: found], classNames: ["bus", "car"])
    #expect(score.unknownClasses == ["bus"])
    #expect(score.metrics[.precision] == 1)
    let cars = self.score(
      [0: truth], [0: found + [Detection(box: box(50), score: 1, classIndex: 2)]],
      classNames: ["bus", "car", "plate"], classes: ["car"])
    #expect(cars.metrics[.recall] == 1)
    #expect(cars.unknownClasses == [])
    #expect(cars.frames.map(\.loss) == [0])
  }

  @Test func `a region for all classes judges no detection`() {
    let truth = FrameLabels(boxes: [
      LabelBox(box: box(0), label: "car"),
      LabelBox(box: box(40, width: 100), label: LabelBox.ignoreLabel, isIgnored: true),
    ])
    let found = [0.0, 45, 90, 136].map { Detection(box: box($0), score: 1, classIndex: 0) }
    let score = score([0: truth], [0: found])
    // Of the last box 4 of 10 columns are in the region.
    #expect(score.metrics[.precision] == 0.5)
    #expect(score.frames.map(\.extra) == [1])
  }

  @Test func `texts are compared by characters, and numbers by their difference`() {
    let texts = [("kitten", 0.0), ("AB 123", 100), ("lost", 200)]
    let truth = FrameLabels(
      boxes: texts.map { LabelBox(box: box($1), label: "plate", text: $0) },
      scalars: ["bpm": 72, "spo2": 98])
    func read(_ text: String, _ x: Double) -> Detection {
      Detection(
        box: box(x), score: 1, classIndex: 1, classes: [Classification(label: text, score: 1)])
    }
    let score = score(
      [0: truth], [0: [read("sitting", 0), read("AB 123", 100)]], scalars: ["bpm": 69])
    #expect(score.metrics[.textError] == 7.0 / 16)
    #expect(score.metrics[.scalarError] == 3)
    #expect(score.frames.map(\.misread) == [3.0 / 6 + 3.0 / 72 + 1])
  }

  @Test func `a verdict counts frames, and names the frame that became worst`() {
    let truth = FrameLabels(boxes: [
      LabelBox(box: box(0), label: "car"), LabelBox(box: box(50), label: "car"),
    ])
    let all = [0.0, 50].map { Detection(box: box($0), score: 1) }
    func run(_ counts: [Int]) -> LabelScore {
      score(
        [0: truth, 1: truth, 2: truth, 3: truth],
        Dictionary(
          uniqueKeysWithValues: counts.enumerated().map { ($0, Array(all.prefix($1))) }))
    }
    let golden = run([2, 1, 0, 2])
    #expect(golden.verdict(since: golden).word == .same)
    let better = run([2, 2, 2, 1]).verdict(since: golden)
    #expect([better.better, better.worse] == [2, 1])
    #expect(better.worst?.frame == frame(3))
    #expect(better.word == .better)
    let mixed = run([1, 2, 0, 2]).verdict(since: golden)
    #expect(mixed.word == .mixed)
    let worse = run([0, 1, 1, 0]).verdict(since: golden)
    #expect(worse.word == .worse)
    #expect(worse.worst?.frame == frame(0))
  }
}

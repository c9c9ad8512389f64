import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

/// Scores against pycocotools, TrackEval and motmetrics: `Tests/Judges/labels.py`.
@Suite struct LabelJudgeTests {
  private struct Item: Decodable {
    var box: [Double]
    var label: String?
    var cls: Int?
    var score: Double?
    var identity: Int?
    var ignored: Bool?

    var place: Box { Box(x: box[0], y: box[1], width: box[2], height: box[3]) }
  }

  private struct JudgedFrame: Decodable {
    var id: Int
    var labels: [Item]
    var dets: [Item]
  }

  private struct JudgedSet: Decodable {
    var classes: [String]
    var frames: [JudgedFrame]
    /// By judge and metric.
    var answers: [String: [String: Double]]

    func score() -> LabelScore {
      var labels = Labels(classes: classes)
      for frame in frames {
        labels.frames[FrameID(track: 0, sequence: frame.id)] = FrameLabels(
          boxes: frame.labels.map {
            LabelBox(
              box: $0.place, label: $0.label ?? "", identity: $0.identity,
              isIgnored: $0.ignored ?? false)
          })
      }
      var scorer = LabelScorer(labels, classNames: classes)
      for frame in frames {
        scorer.add(
          frame: FrameID(track: 0, sequence: frame.id),
          detections: frame.dets.map {
            Detection(
              box: $0.place, score: $0.score ?? 0, classIndex: $0.cls ?? 0, identity: $0.identity)
          })
      }
      return scorer.finish()
    }
  }

  private static let packages = "motmetrics, numpy, pycocotools, trackeval"

  @Test(.enabled(if: Judges.has(packages), "python3 has no \(packages) here"))
  func `the metrics are those of pycocotools, TrackEval and motmetrics`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("sets.json")
    let result = try runCommand(
      Judges.python,
      arguments: [packageRoot.appending(path: "Tests/Judges/labels.py").path, "50", "1", file.path])
    #expect(result.status == 0, "\(result.stderr)")
    let sets = try JSONDecoder().decode([JudgedSet].self, from: Data(contentsOf: file))
    #expect(sets.count == 50)
    var agreed = 0
    for (number, judged) in sets.enumerated() {
      let metrics = judged.score().metrics
      func check(_ judge: String, _ names: [LabelMetric]) {
        for name in names {
          let (answer, ours) = (judged.answers[judge]?[name.rawValue], metrics[name])
          #expect((answer == nil) == (ours == nil), "set \(number): \(name) of \(judge)")
          #expect(
            abs((answer ?? 0) - (ours ?? 0)) < 1e-6, "set \(number): \(name) of \(judge)")
        }
      }
      check("pycocotools", [.precision, .recall, .ap50, .ap])
      check("TrackEval", [.mota, .idSwitches, .idf1, .hota, .countError])
      check("motmetrics", [.idf1])
      // Of a frame in which an object was not found, motmetrics keeps the identity for the pairing
      // of the next frame, and TrackEval does not. Where that matters, TrackEval decides.
      let switches = ["motmetrics", "TrackEval"].map { judged.answers[$0]?["idSwitches"] }
      if switches[0] == switches[1] {
        check("motmetrics", [.mota, .idSwitches])
        agreed += 1
      }
    }
    #expect(agreed >= 45)
  }
}

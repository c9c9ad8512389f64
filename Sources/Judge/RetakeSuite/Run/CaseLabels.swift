import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReport
import RetakeSession

/// Scores the results of a case against the labels of its session.
struct CaseLabels {
  private let labels: Labels
  private let digest: String
  /// Relative to the project.
  private let file: String
  private let result: CaseResult
  private let project: Project

  /// `nil` if the project has no labels for the session, or the case has no session.
  ///
  /// - Parameter result: With its pipeline and the tracks of its session.
  /// - Throws: `GoldenError` for a file that cannot be read.
  init?(_ project: Project, _ result: CaseResult) throws {
    guard result.sessionPath != nil else { return nil }
    let name = result.selected.sessionName
    guard let file = try LabelFile(inProject: project.folder, session: name) else { return nil }
    labels = file.labels
    digest = file.sha256
    self.file = file.name
    self.result = result
    self.project = project
  }

  /// The object that `labels` of `GoldenComparator` needs.
  func compare(_ golden: GoldenFolder?, _ actual: GoldenFolder) throws -> LabelComparison? {
    guard let sink = result.pipeline?.primarySink else { return nil }
    return LabelComparison(
      file: file, digest: digest, sink: sink,
      golden: try golden.map { try score($0, sink, .golden) },
      actual: try score(actual, sink, .actual), drafts: labels.drafts)
  }

  /// The labels of a frame, as boxes of a report.
  func boxes(of frame: FrameID) -> [ReportBox] {
    labels.frames[frame]?.boxes.filter { !$0.isIgnored }.map {
      ReportBox(.truth, $0.box, label: $0.label)
    } ?? []
  }

  private func score(
    _ folder: GoldenFolder, _ sink: String, _ side: ReportBox.Side
  ) throws -> LabelScore {
    var result = result
    // The golden's pipeline may have other crops, so its boxes have another place in the frame.
    if side == .golden, result.basePipeline == nil {
      result.basePipeline = try? folder.pipeline(in: project)
    }
    var scorer = LabelScorer(labels, classNames: [])
    try result.forEachFrame(of: folder, sink, side) { frame, facts, classNames in
      // Classes that are found later are in the headers of later files alone.
      scorer.classNames = classNames
      scorer.add(
        frame: frame, detections: facts.detections, scalars: facts.scalars,
        wasDelivered: facts.wasDelivered)
    }
    return scorer.finish()
  }
}

extension CaseResult {
  /// Reads the values of a sink, with boxes in the pixels of the session's frames.
  ///
  /// - Parameter body: Called with each frame, its values and the names of the classes so far.
  func forEachFrame(
    of folder: GoldenFolder, _ sink: String, _ side: ReportBox.Side,
    _ body: (FrameID, FrameFacts, [String]) throws -> Void
  ) throws {
    let places = BoxPlaces(self)
    try folder.forEachFrame { frame, header in
      guard let index = header.sinks.firstIndex(of: sink),
        let outcome = frame.outcomes.first(where: { $0.sink == index })
      else { return }
      var facts = FrameFacts(outcome)
      if !facts.detections.isEmpty {
        guard let placement = places.placement(sink, frame.id, side) else {
          throw SuiteError(
            "suite.labels.place",
            "the boxes of '\(sink)' have no place in the frame: they are in several images, or each "
              + "in a different region",
            advice: "Send the detector's own boxes to the primary sink")
        }
        for place in facts.detections.indices {
          facts.detections[place].box = placement.inSource(facts.detections[place].box)
        }
      }
      try body(frame.id, facts, header.classes[index])
    }
  }
}

/// The values of a frame that can be scored.
struct FrameFacts {
  var detections: [Detection] = []
  var scalars: [String: Double] = [:]
  /// Whether the frame came to the sink.
  var wasDelivered: Bool

  init(_ outcome: ResultFrame.Outcome) {
    wasDelivered = outcome.ended == nil
    for line in outcome.lines {
      switch line {
      case .detection(let line): detections.append(Detection(line))
      case .classification(let index?, let label, let score):
        // Written after the detections of the frame.
        guard detections.indices.contains(index) else { continue }
        detections[index].classes.append(Classification(label: label, score: score.value))
      case .scalar(let name, let value): scalars[name] = value.value
      default: break
      }
    }
  }
}

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
  /// Labelled tracks that the case does not read.
  private let otherTracks: [Int]
  /// Relative to the project.
  private let file: String
  private let result: CaseResult
  private let project: Project

  /// `nil` if the project has no labels for the session, or the case has no session.
  ///
  /// - Parameter result: With its pipeline and the tracks of its session.
  /// - Throws: `LabelError` for labels of another recording; `StoredError` for a file that cannot be
  ///   read.
  init?(_ project: Project, _ result: CaseResult) throws {
    guard let path = result.sessionPath else { return nil }
    let name = result.selected.sessionName
    let tracks = Set(result.sourceTracks.values)
    guard
      let document = try project.labels(
        of: try SessionReader(opening: path), tracks: tracks.sorted())
    else { return nil }
    var labels = document.labels
    // A case may read one of several cameras that have labels.
    otherTracks = Set(labels.frames.keys.map(\.track)).subtracting(tracks).sorted()
    labels.frames = labels.frames.filter { tracks.contains($0.key.track) }
    self.labels = labels
    file = "Labels/\(name).json"
    self.result = result
    self.project = project
  }

  /// The object that `labels` of `GoldenComparator` needs.
  func compare(_ golden: GoldenFolder?, _ actual: GoldenFolder) throws -> LabelComparison? {
    guard let sink = result.pipeline?.primarySink else { return nil }
    return LabelComparison(
      file: file, sink: sink,
      golden: try golden.map { try score($0, sink, .golden) },
      actual: try score(actual, sink, .actual), drafts: labels.drafts)
  }

  /// Information that no figure has.
  var notes: [String] {
    guard !otherTracks.isEmpty else { return [] }
    let tracks = otherTracks.map(String.init).joined(separator: ", ")
    return [
      "\(file) has labels of the track \(tracks), which this pipeline does not read; they are not "
        + "scored"
    ]
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
    let names = try result.eachValue(of: folder, sink, side) { frame, values in
      scorer.add(
        frame: frame, detections: values.detections, scalars: values.scalars,
        wasDelivered: values.wasDelivered)
    }
    scorer.classNames = names ?? []
    return scorer.finish()
  }
}

extension CaseResult {
  /// Reads the values of a sink, with boxes in the pixels of the session's frames.
  ///
  /// - Returns: The names of the sink's classes; `nil` if the sink does not exist.
  func eachValue(
    of folder: GoldenFolder, _ sink: String, _ side: ReportBox.Side,
    _ body: (FrameID, SinkValues) throws -> Void
  ) throws -> [String]? {
    let places = BoxPlaces(self)
    return try folder.eachOutcome(at: sink) { frame, lines in
      var values = SinkValues(lines)
      if !values.detections.isEmpty {
        guard let placement = places.placement(sink, frame, side) else {
          throw SuiteError(
            "suite.labels.place",
            "the boxes of '\(sink)' have no place in the frame: they are in several images, or each "
              + "in a different region",
            advice: "Send the detector's own boxes to the primary sink")
        }
        for place in values.detections.indices {
          values.detections[place].box = placement.inSource(values.detections[place].box)
        }
      }
      try body(frame, values)
    }
  }
}

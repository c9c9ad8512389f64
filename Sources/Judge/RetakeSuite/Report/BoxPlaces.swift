import RetakeCompare
import RetakeCore
import RetakeGraph
import RetakeReport

/// Maps values that the sinks of a case received to positions in the session's frames. A detector
/// downstream of a crop or a downsample uses other pixel coordinates than the image in a report.
struct BoxPlaces {
  private let result: CaseResult
  private let golden: SinkPlaces?
  private let actual: SinkPlaces?

  /// - Parameter frames: The shapes of frames that were decoded.
  init(_ result: CaseResult, frames: [FrameID: ImageShape] = [:]) {
    self.result = result
    let shapes = FrameShapes(
      result.tracks, varyingTracks: result.varyingTracks, known: frames, open: result.openSession)
    func places(_ pipeline: Pipeline?) -> SinkPlaces? {
      pipeline.map { SinkPlaces($0, tracks: result.sourceTracks, shapes: shapes) }
    }
    // The golden's own pipeline is known only if both pipelines were run.
    (golden, actual) = (places(result.basePipeline ?? result.pipeline), places(result.pipeline))
  }

  /// Where the values of a sink are in the frame; `nil` if that is not known.
  func placement(
    _ sink: String, _ frame: FrameID, _ side: ReportBox.Side
  ) -> ImagePlacement? {
    (side == .golden ? golden : actual)?.placement(sink, frame)
  }

  /// The box in the pixels of the source. Without a session there is no image either, so the box is
  /// returned unchanged.
  func place(_ box: ReportBox, sink: String?, frame: FrameID?) -> ReportBox? {
    guard let sink, let frame, !result.tracks.isEmpty else { return box }
    return placement(sink, frame, box.side).map { box.placed($0) }
  }

  /// Notes for a person who looks at the boxes of these findings.
  func notes(on findings: [Finding]) -> [String] {
    guard !result.tracks.isEmpty else { return [] }
    var unknown: Set<String> = []
    var isMoved = false
    for finding in findings {
      guard let sink = finding.node, let frame = finding.frame else { continue }
      for (side, line) in [(ReportBox.Side.golden, finding.golden), (.actual, finding.actual)] {
        guard let line, ReportBox(side, line: line, classes: []) != nil else { continue }
        guard let placement = placement(sink, frame, side) else {
          unknown.insert(sink)
          continue
        }
        if side == .golden, !placement.isPlain { isMoved = true }
      }
    }
    var notes = unknown.sorted().map {
      "the boxes of '\($0)' are not drawn: they are in several images, or each in a different "
        + "region"
    }
    if isMoved, result.basePipeline == nil, picturesDiffer {
      notes.append(
        "the golden's boxes are drawn where this pipeline's stages would put them; the golden's "
          + "stages returned different images")
    }
    return notes
  }

  /// Whether a difference begins at a stage that produces images, so that the golden's images may
  /// also have had another size.
  private var picturesDiffer: Bool {
    let nodes = result.pipeline?.nodes ?? []
    return result.comparison.rootCauses.contains { root in
      switch root.why {
      case .nodeAdded, .nodeRemoved, .inputsRewired: true
      default: nodes.contains { $0.id == root.stage && $0.stage.signature.output == .frame }
      }
    }
  }
}

extension ReportBox {
  fileprivate func placed(_ placement: ImagePlacement) -> ReportBox {
    let box = placement.inSource(Box(x: x, y: y, width: width, height: height))
    var placed = ReportBox(side, box, label: label)
    placed.lines = lines?.map { line in
      stride(from: 0, to: line.count - 1, by: 2).flatMap { index in
        let point = placement.inSource(Box(x: line[index], y: line[index + 1], width: 0, height: 0))
        return [point.x, point.y]
      }
    }
    return placed
  }
}

import RetakeCompare
import RetakeCore
import RetakeGraph
import RetakeReport

/// Maps values that the sinks of a case received to positions in the session's frames. A detector
/// downstream of a crop or a downsample uses other pixel coordinates than the image in a report.
struct BoxPlaces {
  private struct Key: Hashable {
    var side: ReportBox.Side
    var track: Int
    var shape: ImageShape
  }

  private let result: CaseResult
  /// The shape of each track's first frames.
  private var shapes: [Int: ImageShape] = [:]
  /// The shapes of single frames.
  private let frameShapes: [FrameID: ImageShape]
  private var placements: [Key: [String: ImagePlacement]] = [:]

  /// - Parameter frames: The shapes of frames that may differ from the shape of their track.
  init(_ result: CaseResult, frames: [FrameID: ImageShape] = [:]) {
    self.result = result
    frameShapes = frames
    for track in result.tracks {
      shapes[track.track] = ImageShape(track)
    }
    // The order of the Dictionaries has no effect: the value that is added depends on its key
    // alone.
    for (track, shape) in shapes { add(track, shape) }
    for (frame, shape) in frames { add(frame.track, shape) }
  }

  private mutating func add(_ track: Int, _ shape: ImageShape) {
    var sources: [String: ImagePlacement] = [:]
    for (node, own) in result.sourceTracks {
      guard let known = own == track ? shape : shapes[own] else { continue }
      sources[node] = ImagePlacement(track: own, shape: known)
    }
    for side in [ReportBox.Side.golden, .actual] {
      let key = Key(side: side, track: track, shape: shape)
      guard placements[key] == nil, let pipeline = pipeline(of: side) else { continue }
      // Unknown placements are not an error: such boxes are not drawn, and `notes` reports them.
      placements[key] = (try? pipeline.picturePlacements(sources: sources)) ?? [:]
    }
  }

  /// The golden's own pipeline is known only if both pipelines were run.
  private func pipeline(of side: ReportBox.Side) -> Pipeline? {
    side == .golden ? result.basePipeline ?? result.pipeline : result.pipeline
  }

  /// Where the values of a sink are in the frame; `nil` if that is not known.
  func placement(
    _ sink: String, _ frame: FrameID, _ side: ReportBox.Side
  ) -> ImagePlacement? {
    guard let shape = frameShapes[frame] ?? shapes[frame.track] else { return nil }
    let key = Key(side: side == .golden ? .golden : .actual, track: frame.track, shape: shape)
    return placements[key]?[sink]
  }

  /// The box in the pixels of the source. Without a session there is no image either, so the box is
  /// returned unchanged.
  func place(_ box: ReportBox, sink: String?, frame: FrameID?) -> ReportBox? {
    guard let sink, let frame, !shapes.isEmpty else { return box }
    return placement(sink, frame, box.side).map { box.placed($0) }
  }

  /// Notes for a person who looks at the boxes of these findings.
  func notes(on findings: [Finding]) -> [String] {
    guard !shapes.isEmpty else { return [] }
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

import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeStages

/// The part of a region that is measured.
package struct RegionMeansOptions: StageOptions, Hashable {
  @OptionValue(
    "part of the box's width and height that is measured, around its middle, in percent; {range}",
    in: 1...100)
  package var percent = 60

  package init() {}

  package init(percent: Int) { self.percent = percent }
}

/// The mean red, green and blue of the skin that a detector found, 0 to 255, for a join of frames
/// and detections: as `fingertip`, but where the finger or the face is.
///
/// Of several detections the stage measures the detection with the highest score; if scores are
/// equal, the first of them. The frame fails with `regionMeans.none` if there is no detection, and
/// with `regionMeans.outside` if the box has no pixel of the frame: downstream stages see a gap
/// instead of the numbers of a wall.
package struct RegionMeans: PureStage {
  package static let kind = "region-means"
  package static let summary = "measures mean red, green and blue in the boxes of a detector"

  package let options: RegionMeansOptions

  /// - Throws: `OptionError` unless the percentage is 1 to 100.
  package init(options: RegionMeansOptions) throws {
    try options.checkRanges()
    self.options = options
  }

  package func process(_ joined: Joined, _ context: StageContext) throws -> Scalars {
    guard let frame = joined.values(Frame.self).first,
      let detections = joined.values(Detections.self).first, let best = detections.best
    else {
      throw StageError(
        code: "regionMeans.none", message: "there is no frame with a detection to measure")
    }
    guard let columns = span(best.box.x, best.box.width, side: frame.width),
      let rows = span(best.box.y, best.box.height, side: frame.height)
    else {
      throw StageError(
        code: "regionMeans.outside",
        message: "the box \(best.box) has no pixel of the frame, \(frame.width)x\(frame.height)")
    }
    let means = frame.colorMeans(columns: columns, rows: rows)
    return Scalars([
      .init("red", means.red), .init("green", means.green), .init("blue", means.blue),
    ])
  }

  /// The samples in the middle `percent` of a side of the box, starting at an even sample; `nil` if
  /// they are outside of the frame.
  private func span(_ start: Double, _ length: Double, side: Int) -> Range<Int>? {
    let inset = length * Double(100 - options.percent) / 200
    let (low, high) = (start + inset, start + length - inset)
    guard low.isFinite, high.isFinite, high > 0, low < Double(side), high > low else { return nil }
    let first = Int(max(0, low)) / 2 * 2
    let last = Int(min(Double(side), high).rounded(.up))
    return first..<last
  }
}

extension Detections {
  /// The first with the highest score; a score that is not a number is below all others.
  fileprivate var best: Detection? {
    items.max { $0.score < $1.score || $0.score.isNaN && !$1.score.isNaN }
      .flatMap { top in items.first { $0.score == top.score } ?? items.first }
  }
}

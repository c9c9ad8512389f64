package import RetakeCore
package import RetakeGraph

/// Maps the results of a pipeline's sinks to the frames of its source, because a detector after a
/// crop or a downsample uses different pixel coordinates.
package struct OverlayPlaces: Sendable {
  private let pipeline: Pipeline
  private let tracks: [String: Int]
  /// By track, of the newest frame.
  private var shapes: [Int: ImageShape]
  private var placements: [String: ImagePlacement]

  /// - Parameters:
  ///   - tracks: The track that each source reads, by node.
  ///   - shapes: The shapes of their first frames, by track.
  package init(_ pipeline: Pipeline, tracks: [String: Int], shapes: [Int: ImageShape]) {
    (self.pipeline, self.tracks, self.shapes) = (pipeline, tracks, shapes)
    placements = Self.placements(pipeline, tracks, shapes)
  }

  private static func placements(
    _ pipeline: Pipeline, _ tracks: [String: Int], _ shapes: [Int: ImageShape]
  ) -> [String: ImagePlacement] {
    var sources: [String: ImagePlacement] = [:]
    // A Dictionary's order does not matter here: each node has a separate entry.
    for (node, track) in tracks {
      guard let shape = shapes[track] else { continue }
      sources[node] = ImagePlacement(track: track, shape: shape)
    }
    // Without placements no boxes are drawn (`placed`), which is better than wrong boxes.
    return (try? pipeline.picturePlacements(sources: sources)) ?? [:]
  }

  /// Sets the shape of the frame whose results are placed next. Frames of one track may have
  /// several sizes and turns, such as the frames of appended files.
  package mutating func use(_ shape: ImageShape, of track: Int) {
    guard shapes[track] != shape else { return }
    shapes[track] = shape
    placements = Self.placements(pipeline, tracks, shapes)
  }

  /// A sink's facts with their boxes in the pixels of the source's frame. Detections whose position
  /// is unknown are omitted.
  package func placed(_ facts: [ResultFact], sink: String) -> [ResultFact] {
    facts.compactMap { fact in
      switch fact {
      case .detection(var detection):
        guard let placement = placements[sink] else { return nil }
        detection.box = placement.inSource(detection.box)
        return .detection(detection)
      case .observation(let item):
        guard item.hasPositions else { return fact }
        return placements[sink].flatMap { placement in
          item.mapPositions(placement.inSource).map { .observation($0) }
        }
      default: return fact
      }
    }
  }
}

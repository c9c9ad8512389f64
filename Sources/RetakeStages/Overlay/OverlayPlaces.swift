import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Where what a pipeline's sinks are given lies in the frames of its source: a detector behind a crop
/// or a downsample speaks of other pixels than the shown ones.
public struct OverlayPlaces: Sendable {
  private let placements: [String: PicturePlacement]

  /// - Parameters:
  ///   - tracks: The track that each source reads, by node.
  ///   - shapes: What their frames are like, by track.
  public init(_ pipeline: Pipeline, tracks: [String: Int], shapes: [Int: PictureShape]) {
    var sources: [String: PicturePlacement] = [:]
    for (node, track) in tracks {
      guard let shape = shapes[track] else { continue }
      sources[node] = PicturePlacement(track: track, shape: shape)
    }
    placements = (try? pipeline.picturePlacements(sources: sources)) ?? [:]
  }

  /// A sink's facts with their boxes in the pixels of the source's frame. Detections of which nobody
  /// knows where they lie are left out.
  public func placed(_ facts: [ResultFact], sink: String) -> [ResultFact] {
    facts.compactMap { fact in
      guard case .detection(var detection) = fact else { return fact }
      guard let placement = placements[sink] else { return nil }
      detection.box = placement.inSource(detection.box)
      return .detection(detection)
    }
  }
}

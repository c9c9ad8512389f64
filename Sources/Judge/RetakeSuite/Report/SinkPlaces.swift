import RetakeCore
import RetakeGraph

/// Maps the values of one pipeline's sinks to positions in the session's frames.
final class SinkPlaces {
  private struct Key: Hashable {
    var track: Int
    var shape: ImageShape
  }

  private let pipeline: Pipeline
  /// By source.
  private let tracks: [String: Int]
  private let shapes: FrameShapes
  /// One for each shape of the session's frames.
  private var placements: [Key: [String: ImagePlacement]] = [:]

  init(_ pipeline: Pipeline, tracks: [String: Int], shapes: FrameShapes) {
    (self.pipeline, self.tracks, self.shapes) = (pipeline, tracks, shapes)
  }

  /// Where the values of a sink are in the frame; `nil` if that is not known.
  func placement(_ sink: String, _ frame: FrameID) -> ImagePlacement? {
    guard let shape = shapes[frame] else { return nil }
    let key = Key(track: frame.track, shape: shape)
    if let known = placements[key] { return known[sink] }
    var sources: [String: ImagePlacement] = [:]
    // The Dictionary's order has no effect: each node has a separate entry.
    for (node, track) in tracks {
      guard let own = track == frame.track ? shape : shapes.byTrack[track] else { continue }
      sources[node] = ImagePlacement(track: track, shape: own)
    }
    // Unknown placements are not an error: `BoxPlaces.notes` reports them.
    let made = (try? pipeline.picturePlacements(sources: sources)) ?? [:]
    placements[key] = made
    return made[sink]
  }
}

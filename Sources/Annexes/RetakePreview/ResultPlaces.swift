import RetakeCore
public import RetakeGraph
public import RetakeRuntime
import RetakeStages

/// Converts results so that a window can draw them over the frames of their source: boxes of a
/// stage after a `downsample`, `resize` or `crop` are moved to their place in the frame.
public struct ResultPlaces: Sendable {
  private var places: OverlayPlaces

  /// For the results of a `LiveSession` with this pipeline and these tracks.
  public init(_ pipeline: Pipeline, tracks: [LiveTrack]) {
    let shapes = tracks.map {
      ($0.track, ImageShape(width: $0.width, height: $0.height, format: $0.format))
    }
    self.init(
      pipeline, tracks: Self.liveTracks(of: pipeline),
      shapes: Dictionary(shapes, uniquingKeysWith: { first, _ in first }))
  }

  /// The result in the pixels of its frame. Detections whose position is not known are left out.
  public func result(_ result: LiveResult) -> PreviewResult { self.result(result.frame) }

  /// - Parameters:
  ///   - tracks: The track that each source reads, by node.
  ///   - shapes: The shape of their first frames, by track.
  package init(_ pipeline: Pipeline, tracks: [String: Int], shapes: [Int: ImageShape]) {
    places = OverlayPlaces(pipeline, tracks: tracks, shapes: shapes)
  }

  /// Sets the shape of the frame whose result is converted next.
  package mutating func use(_ shape: ImageShape, of track: Int) { places.use(shape, of: track) }

  /// The tracks that a live pipeline's sources read, by node.
  package static func liveTracks(of pipeline: Pipeline) -> [String: Int] {
    var tracks: [String: Int] = [:]
    for node in pipeline.nodes where node.stage.signature.role == .source {
      guard case .integer(let track) = node.stage.options["track"] else {
        tracks[node.id] = 0
        continue
      }
      tracks[node.id] = Int(track)
    }
    return tracks
  }

  /// The result in the pixels of its frame. Detections whose position is not known are left out.
  package func result(_ frame: FinishedFrame) -> PreviewResult {
    let outcomes = frame.result.outcomes.map { outcome -> SinkOutcome in
      guard case .facts(let facts) = outcome.content else { return outcome }
      var placed = outcome
      placed.content = .facts(places.placed(facts, sink: outcome.sink))
      return placed
    }
    return PreviewResult(
      id: frame.result.id, timestamp: frame.entry.timestamp, outcomes: outcomes,
      classNames: frame.classNames)
  }
}

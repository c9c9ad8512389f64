import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Where what a pipeline's sinks are given lies in the frames of its source: a detector behind a crop
/// or a downsample speaks of other pixels than the shown ones.
public struct ResultPlaces: Sendable {
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

  /// The tracks that a live pipeline's sources read, by node.
  public static func liveTracks(of pipeline: Pipeline) -> [String: Int] {
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

  /// The result in the pixels of its frame. Detections of which nobody knows where they lie are left
  /// out.
  public func result(_ frame: FinishedFrame) -> PreviewResult {
    let outcomes = frame.result.outcomes.map { outcome -> SinkOutcome in
      guard case .facts(let facts) = outcome.content else { return outcome }
      var placed = outcome
      placed.content = .facts(facts.compactMap { self.placed($0, sink: outcome.sink) })
      return placed
    }
    return PreviewResult(
      id: frame.result.id, timestamp: frame.entry.timestamp, outcomes: outcomes,
      classNames: frame.classNames)
  }

  private func placed(_ fact: ResultFact, sink: String) -> ResultFact? {
    guard case .detection(var detection) = fact else { return fact }
    guard let placement = placements[sink] else { return nil }
    detection.box = placement.inSource(detection.box)
    return .detection(detection)
  }
}

import RetakeCompare
import RetakeCore
import RetakeGraph
package import RetakeRecord
import RetakeRuntime

/// The measure of `retake find --disagree` for the frames of a recording, one frame at a time: without
/// changed identities, which need the frames before. Implements `retake record --shadow`.
package enum ShadowMeasure {
  /// The second pipeline of a recording, compared with the first one.
  ///
  /// - Parameters:
  ///   - first: The pipeline of the recording.
  ///   - names: Of both pipelines, for errors.
  /// - Throws: `SuiteError` for pipelines whose results cannot be compared.
  package static func shadow(
    _ live: LivePipeline, of first: LivePipeline, names: (first: String, second: String),
    trigger: DisagreementTrigger
  ) throws -> ShadowPipeline {
    let sinks = (
      try Sink(first.pipeline, named: names.first), try Sink(live.pipeline, named: names.second)
    )
    guard sinks.0.isComparable(with: sinks.1) else {
      throw SuiteError(
        "suite.shadow.outputs",
        "the results of \(names.first) and \(names.second) cannot be compared: "
          + "\(sinks.0.kindText) and \(sinks.1.kindText)",
        advice: "Choose two pipelines whose primary sinks both receive boxes, or both numbers",
        kind: .usage)
    }
    return ShadowPipeline(live, trigger: trigger) { tracks in
      let places = (try sinks.0.place(tracks), try sinks.1.place(tracks))
      return { one, other in
        guard let first = sinks.0.results(one, places.0),
          let second = sinks.1.results(other, places.1)
        else { return nil }
        return Disagreement.score(first, second).loss
      }
    }
  }
}

/// The primary sink of a pipeline.
private struct Sink: Sendable {
  let pipeline: Pipeline
  let name: String
  let id: String
  /// `nil` if it is not known from the node before.
  let kind: ValueKind?

  init(_ pipeline: Pipeline, named name: String) throws {
    guard let id = pipeline.primarySink else { throw PipelineRun.noSink(name) }
    (self.pipeline, self.name, self.id) = (pipeline, name, id)
    let sender = pipeline.edges.first { $0.to == id }?.from
    kind = pipeline.nodes.first { $0.id == sender }?.stage.signature.output
  }

  /// Whether both have boxes, or both have numbers, as far as it is known.
  func isComparable(with other: Sink) -> Bool {
    switch (kind, other.kind) {
    case (.detections?, .scalars?), (.scalars?, .detections?): false
    case (.frame?, _), (.classes?, _), (.waveform?, _), (.tensor?, _), (.bytes?, _): false
    case (_, .frame?), (_, .classes?), (_, .waveform?), (_, .tensor?), (_, .bytes?): false
    default: true
    }
  }

  var kindText: String { kind.map { "\($0)" } ?? "values of several stages" }

  /// Where the boxes are in the frames. A ring keeps one track, which all sources read.
  func place(_ tracks: [LiveTrack]) throws -> ImagePlacement {
    var sources: [String: ImagePlacement] = [:]
    for node in pipeline.nodes where node.stage.signature.role == .source {
      guard let track = tracks.first else { continue }
      let shape = ImageShape(width: track.width, height: track.height, format: track.format)
      sources[node.id] = ImagePlacement(track: track.track, shape: shape)
    }
    guard let place = try pipeline.picturePlacements(sources: sources)[id] else {
      throw SuiteError(
        "suite.shadow.place",
        "the boxes of '\(id)' in \(name) have no place in the frame: they are in several images, "
          + "or each in a different region",
        advice: "Send the detector's own boxes to the primary sink")
    }
    return place
  }

  /// `nil` for a frame that did not come to the sink.
  func results(_ result: LiveResult, _ place: ImagePlacement) -> Disagreement.Results? {
    let outcomes = result.frame.result.outcomes
    guard let index = outcomes.firstIndex(where: { $0.sink == id }),
      case .facts(let facts) = outcomes[index].content
    else { return nil }
    var values = SinkValues(facts)
    for box in values.detections.indices {
      values.detections[box].box = place.inSource(values.detections[box].box)
    }
    return Disagreement.Results(
      [(result.frame.result.id, values)], classNames: result.frame.classNames[index])
  }
}

package import RetakeBuffers
import RetakeCore
package import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// A pipeline that is inspected without a run, with the known formats and rates of the frames that
/// its sources produce.
package struct PipelineInspection: Sendable {
  /// The format and the rate of the frames of one source.
  package struct Source: Hashable, Sendable {
    package var node: String
    package var format: PixelFormat?
    /// The mean over the track; `nil` for fewer than two frames.
    package var framesPerSecond: Double?

    fileprivate init(node: String, format: PixelFormat? = nil) {
      self.node = node
      self.format = format
    }
  }

  package let pipeline: Pipeline
  /// An element for each source node. Without a session, the format and rate of a source that
  /// reads a session are unknown.
  package let sources: [Source]
  /// The flattened pipeline, with the conversions that the known pixel formats need.
  package let complete: Pipeline
  /// Inserts the same conversions into a flat pipeline that reads the same sources.
  package let completing: @Sendable (Pipeline) throws -> Pipeline

  /// Opens the session, if there is one, and the sources that have their own frames.
  ///
  /// - Parameter session: A session's folder.
  /// - Throws: `PipelineError`, and errors of the session or of a source when it is opened.
  package init(
    _ pipeline: Pipeline, session: String? = nil, catalog: some StageCatalog
  ) throws {
    self.pipeline = pipeline
    // Before the session is opened: an error of the document does not depend on the session.
    try pipeline.validate()
    let reader = try session.map { try SessionReader(opening: $0) }
    if let reader { try pipeline.requireSensors(in: reader) }
    var sources: [Source] = []
    for node in pipeline.nodes where node.stage.signature.role == .source {
      sources.append(try Self.source(node, reader))
    }
    self.sources = sources
    var formats: [String: PixelFormat] = [:]
    for source in sources { formats[source.node] = source.format }
    let known = formats
    completing = { flat in
      try flat.insertingConversions(sources: known, catalog: catalog)
    }
    complete = try completing(pipeline.flattened())
  }

  private static func source(
    _ node: PipelineNode, _ session: SessionReader?
  ) throws -> Source {
    if node.kind == AnyStage.sessionKind {
      guard let session else { return Source(node: node.id) }
      let track = Replay.track(of: node, in: session)
      guard session.tracks.contains(where: { $0.track == track }) else {
        throw RuntimeError.noSuchTrack(
          node: node.id, track: track, available: session.tracks.map(\.track))
      }
      return try Source(node: node.id, track: track, of: session)
    }
    guard case .source(let body) = node.stage.body, let own = body as? any FrameSource else {
      return Source(node: node.id)
    }
    let reader = try own.open()
    return try Source(node: node.id, track: reader.tracks.first?.track ?? 0, of: reader)
  }

  /// The mean frame rates of the sources, where they are known.
  package var rates: [String: Double] {
    var rates: [String: Double] = [:]
    for source in sources { rates[source.node] = source.framesPerSecond }
    return rates
  }

  /// The conversions that were inserted, with their input and output formats.
  package var conversions: [(node: String, from: String, format: String)] {
    complete.nodes.filter(\.isInserted).map { node in
      let from = node.convertedFrom?.rawValue ?? ""
      guard case .string(let format)? = node.stage.options["format"] else {
        return (node.id, from, "")
      }
      return (node.id, from, format)
    }
  }
}

extension PipelineInspection.Source {
  fileprivate init(node: String, track: Int, of reader: any FrameReader) throws {
    let description = reader.tracks.first { $0.track == track }
    self.init(node: node, format: description?.format)
    let count = description?.frameCount ?? 0
    guard count > 1,
      let first = try reader.entries(of: track, sequences: 0..<1).first,
      let last = try reader.entries(of: track, sequences: (count - 1)..<count).first
    else { return }
    let span = last.timestamp.nanoseconds - first.timestamp.nanoseconds
    if span > 0 { framesPerSecond = Double(count - 1) * 1e9 / Double(span) }
  }
}

extension Project {
  /// Inspects a pipeline that is named on the command line, with the frames of a session.
  ///
  /// - Parameter session: The session's name or folder.
  /// - Throws: `SuiteError`, and as `PipelineInspection.init`.
  package func inspection(of pipeline: String, session: String?) throws -> PipelineInspection {
    try PipelineInspection(
      try self.pipeline(pipeline), session: try session.map { try sessionPath($0) },
      catalog: catalog)
  }
}

import Foundation
import RetakeBuffers
import RetakeCore
package import RetakeGraph

extension PreparedRun {
  /// Connects a pipeline's sources to tracks whose frames arrive over time. Each source that reads
  /// a session reads the track of its option. If there is only one track, it reads that track.
  package init(live pipeline: Pipeline, tracks: [LiveTrack], catalog: some StageCatalog) throws {
    let reader = PushedFrames(tracks: tracks)
    var bindings: [String: Binding] = [:]
    for node in pipeline.nodes where node.kind == AnyStage.sessionKind {
      var track = tracks.first?.track ?? 0
      if case .integer(let option) = node.stage.options["track"], tracks.count > 1 || option != 0 {
        track = Int(option)
      }
      bindings[node.id] = Binding(reader: reader, track: track)
    }
    for node in pipeline.nodes where node.stage.signature.role == .source {
      guard bindings[node.id] == nil else { continue }
      throw RuntimeError.notLive(node: node.id)
    }
    if let program = pipeline.nodes.first(where: { $0.stage.programSinks != nil }) {
      throw RuntimeError.badOption(
        "the timers of the program '\(program.id)' need virtual time: it runs in a replay only"
      )
    }
    try self.init(pipeline, bindings: bindings, catalog: catalog)
  }

  /// The track of each source, by the node's number.
  var liveTracks: [Int: Int] { bindings.mapValues(\.track) }
}

extension LiveRun {
  convenience init(
    _ prepared: PreparedRun, of pipeline: Pipeline, pushed: [LiveTrack], options: LiveOptions,
    clock: any LiveClock,
    tap: (any LiveTap)?, receive: @escaping @Sendable (LiveResult) -> Void
  ) {
    let tracks = prepared.liveTracks
    var sources: [Int: Int] = [:]
    for node in prepared.plan.sources {
      if let track = tracks[node] { sources[track] = node }
    }
    let facts = LiveFacts(
      pipeline: pipeline,
      nodes: prepared.plan.nodes.map {
        LiveNode(
          id: $0.id, kind: $0.stage.signature.kind, version: $0.stage.signature.version,
          options: $0.stage.options)
      }, workers: options.workers, tracks: pushed)
    self.init(
      plan: prepared.plan, facts: facts, sources: sources, options: options, clock: clock,
      tap: tap, receive: receive)
    let descriptions = Dictionary(
      prepared.trackDescriptions.map { ($0.track, $0) }, uniquingKeysWith: { first, _ in first })
    plan.preallocate(memory, for: tracks.compactMapValues { descriptions[$0] }, isLive: true)
  }

  /// Like `finish`, but does not block the calling thread.
  ///
  /// - Throws: `RuntimeError.noThread`, and the errors of `finish`; the run ends in any case.
  func ended() async throws -> RunOutcome {
    try await withCheckedThrowingContinuation { continuation in
      do {
        _ = try NamedThread("retake-stop") { [self] in
          continuation.resume(with: Result { try finish() })
        }
      } catch {
        inbox.close()
        continuation.resume(throwing: error)
      }
    }
  }
}

extension LiveOptions {
  /// The number of processors, but at least 2 and at most 4.
  static var defaultWorkers: Int {
    min(4, max(2, ProcessInfo.processInfo.activeProcessorCount))
  }
}

/// Tracks whose frames come from outside and are never read here.
private struct PushedFrames: FrameReader {
  let tracks: [TrackDescription]

  init(tracks given: [LiveTrack]) {
    tracks = given.sorted { $0.track < $1.track }.map {
      var description = TrackDescription(
        track: $0.track, timeBase: $0.timeBase, format: $0.format, width: $0.width,
        height: $0.height, frameCount: 0)
      // Frames that are pushed later may have any format, and stages must refuse formats that they
      // do not accept.
      for format in PixelFormat.allCases where !format.isBasic {
        description.noteFrame(format, width: 1, height: 1)
      }
      return description
    }
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] { [] }
  func chain(of id: FrameID) -> Int { id.track }

  func frame(_ id: FrameID) throws -> Frame {
    throw RuntimeError.frameUnreadable(id, cause: "it was pushed, not recorded", advice: nil)
  }
}

import RetakeBuffers
import RetakeCompare
package import RetakeCore
import RetakeGraph
import RetakeReplay
package import RetakeRewrite
import RetakeRuntime
package import RetakeSession
import RetakeStages

/// The result of a redaction.
package struct RedactionResult: Hashable, Sendable, Codable {
  package var path: String
  package var status: SessionStatus
  package var frames: Int
  /// Number of frames that cannot be replayed, in the original either.
  package var damagedFrames: Int
  /// Number of boxes that the pipeline found.
  package var boxes: Int
  /// Number of areas that were averaged.
  package var areas: Int
  /// Number of frames with pixels and without an area.
  package var framesWithoutArea: Int
  /// Number of frames in which an object may be visible.
  package var uncertainFrames: Int
  /// The same frames: first and last sequence of each range.
  package var uncertain: [[Int]]
  /// The code of the original's digest; nil without a key.
  package var parent: String?
  package var sessionDigest: Digest128
  /// Remarks for the reader.
  package var notes: [String]
}

/// Makes a copy of a session in which the objects that a pipeline finds are unrecognizable.
package struct RedactionWork {
  /// The pipeline on the session. Its mode is every-frame, without overrides and costs.
  private var job: ReplayJob
  private let options: SessionRedaction.Options
  /// Added at each side of a box, as a share of the box.
  package var margin = 0.2
  /// How long an object is covered before it is found first, and after it is found last.
  package var hold = Duration.seconds(1)
  /// Called with the frames that the pipeline finished, and the number of all frames.
  package var progress: (Int, Int) -> Void = { _, _ in }

  package init(_ job: ReplayJob, _ options: SessionRedaction.Options) {
    (self.job, self.options) = (job, options)
    self.job.definition.mode = .everyFrame
    self.job.definition.costs = .declared
    self.job.definition.overrides = []
  }

  /// - Parameter report: Called with the progress of the copy; returning false stops it.
  /// - Throws: `SuiteError`: a pipeline without boxes of one camera, without a detection, or that was
  ///   halted; and errors of the session and of the run. A failed redaction leaves no files.
  package func run(
    _ report: @escaping @Sendable (SessionCheck.Progress) -> Bool
  ) throws -> RedactionResult {
    guard let session = job.session else { throw Self.noBoxes(job, "it reads no session") }
    // Before the pipeline runs, which may last hours.
    let redaction = try SessionRedaction(of: session, options, report: report)
    let (replay, reader) = try job.open()
    guard let reader, !replay.tracks.isEmpty else {
      throw Self.noBoxes(job, "it reads no session")
    }
    let boxes = try FoundBoxes(replay, reader, named: job.definition.pipeline)
    let summary = try replay.run(observers: [
      ProgressObserver(total: replay.frameCount, progress), boxes,
    ])
    if let halt = summary.halt {
      throw SuiteError(
        "suite.redact.halted", "the pipeline was halted: \(halt)", advice: halt.advice)
    }
    guard boxes.count > 0 else {
      throw SuiteError(
        "suite.redact.noDetections",
        "the pipeline found no object in \(counted(boxes.seen.count, "frame"))",
        advice: "Look at its results: retake replay \(session.shellWord) --pipeline "
          + "\(job.definition.pipeline.shellWord) --overlay boxes.mp4")
    }
    let plan = RedactionPlan(boxes.seen, margin: margin, hold: hold)
    let copy = try redaction.run(
      track: boxes.track, areas: plan.areas, list: plan.list(track: boxes.track))
    return result(copy, plan, boxes, redaction.parent, reader)
  }

  private func result(
    _ copy: SessionCopyResult, _ plan: RedactionPlan, _ boxes: FoundBoxes, _ parent: String?,
    _ reader: SessionReader
  ) -> RedactionResult {
    let others = reader.tracks.map(\.track).filter { $0 != boxes.track }
    let failed = boxes.seen.count { $0.hasImage && $0.isFailed }
    let notes =
      others.map { "track \($0) is left out: its objects are not known" }
      + (failed > 0 ? ["the pipeline failed on \(counted(failed, "frame"))"] : [])
    return RedactionResult(
      path: copy.path, status: copy.status, frames: copy.frames,
      damagedFrames: copy.damagedFrames, boxes: boxes.count,
      areas: plan.areas.reduce(0) { $0 + $1.count },
      framesWithoutArea: boxes.seen.indices.count {
        boxes.seen[$0].hasImage && plan.areas[$0].isEmpty
      },
      uncertainFrames: plan.uncertain.count,
      uncertain: plan.uncertainSpans.map { [$0.lowerBound, $0.upperBound] }, parent: parent,
      sessionDigest: copy.sessionDigest, notes: notes)
  }

  fileprivate static func noBoxes(_ job: ReplayJob, _ problem: String) -> SuiteError {
    noBoxes(job.definition.pipeline, problem)
  }

  fileprivate static func noBoxes(_ pipeline: String, _ problem: String) -> SuiteError {
    SuiteError(
      "suite.redact.noBoxes", "\(pipeline) cannot redact a session: \(problem)",
      advice: "Name a pipeline with a node of kind 'session' whose primary results node receives "
        + "detections")
  }
}

/// Collects the boxes at the primary sink, in pixels of the session's frames.
private final class FoundBoxes: RunObserver {
  let track: Int
  private let sink: String
  private let reader: SessionReader
  private var places: OverlayPlaces
  /// By sequence.
  private(set) var seen: [RedactionPlan.Seen] = []
  private(set) var count = 0

  init(_ replay: Replay, _ reader: SessionReader, named name: String) throws {
    guard let sink = replay.pipeline.primarySink else {
      throw RedactionWork.noBoxes(name, "it has no primary results node")
    }
    let shapes = Dictionary(
      reader.tracks.map { ($0.track, ImageShape($0)) }, uniquingKeysWith: { first, _ in first })
    let sources = replay.tracks.compactMapValues { track in
      shapes[track].map { ImagePlacement(track: track, shape: $0) }
    }
    guard let placement = try replay.pipeline.picturePlacements(sources: sources)[sink] else {
      throw RedactionWork.noBoxes(
        name, "the boxes of '\(sink)' are in several images, or each in a different region")
    }
    (self.sink, self.reader, track) = (sink, reader, placement.track)
    places = OverlayPlaces(replay.pipeline, tracks: replay.tracks, shapes: shapes)
    let frames = reader.tracks.first { $0.track == track }?.frameCount ?? 0
    for entry in try reader.entries(of: track, sequences: 0..<frames) {
      let image = try reader.description(of: entry.id)
      seen.append(
        RedactionPlan.Seen(
          nanoseconds: entry.timestamp.nanoseconds, width: image.width, height: image.height,
          hasImage: !entry.isPayloadMissing && entry.damage == nil, isFailed: true))
    }
  }

  func finished(_ frame: FinishedFrame) throws {
    let id = frame.entry.id
    guard id.track == track, seen.indices.contains(id.sequence) else { return }
    // A frame that never gets here counts as failed.
    seen[id.sequence].isFailed = !frame.failures.isEmpty
    places.use(ImageShape(try reader.description(of: id)), of: track)
    for outcome in frame.result.outcomes where outcome.sink == sink {
      guard case .facts(let facts) = outcome.content else { continue }
      let placed = places.placed(facts, sink: sink)
      // A box whose place is not known is not covered.
      if placed.count < facts.count { seen[id.sequence].isFailed = true }
      for fact in placed {
        guard let found = Self.found(fact) else { continue }
        seen[id.sequence].boxes.append(found)
        count += 1
      }
    }
  }

  /// The box of a detection, or around a mask, points or a line.
  private static func found(_ fact: ResultFact) -> RedactionPlan.Found? {
    switch fact {
    case .detection(let detection):
      return RedactionPlan.Found(box: detection.box, identity: detection.identity)
    case .observation(let item):
      guard case .points(let points) = item.content, let first = points.points.first else {
        return nil
      }
      var (low, high) = ((x: first.x, y: first.y), (x: first.x, y: first.y))
      for point in points.points {
        low = (min(low.x, point.x), min(low.y, point.y))
        high = (max(high.x, point.x), max(high.y, point.y))
      }
      return RedactionPlan.Found(
        box: Box(x: low.x, y: low.y, width: high.x - low.x, height: high.y - low.y),
        identity: item.identity)
    default: return nil
    }
  }
}

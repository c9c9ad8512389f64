import Foundation
package import RetakeCompare
package import RetakeCore
package import RetakeGraph

/// Writes the files of one run as a pending golden, or into the folder of a run.
///
/// Everything is first written to a separate folder and moved into place at the end, golden.yml
/// last: if golden.yml exists, so do all the other files. Frames and decisions are streamed.
package final class GoldenWriter {
  /// The properties of a golden that are known before the first frame.
  package struct Plan: Sendable {
    /// Its summary is filled in at the end, and so are the rules of sinks without a rule.
    package var manifest: GoldenManifest
    /// The rules that determine the form in which sinks are written. If the run is compared with a
    /// golden, these are the golden's rules, because both must have the same form.
    package var writtenRules: CompareRules
    /// The zero of virtual time on the session's time line, in nanoseconds.
    package var origin: Int64
    /// For example linux-x86_64-fma.
    package var platform: String
    /// The sink whose deliveries are counted; if `nil`, the last sink by path.
    package var primarySink: String?
    /// Versions and similar facts, by name.
    package var environment: [String: String]
    package var header: ResultHeader
    package var sinks: [ResultHeader.Sink]
    /// Sources and stages in topological order; empty for a golden without stage digests.
    package var columns: [StageColumn]
    /// The document whose digest is in the manifest; if `nil`, the writer writes no document.
    package var pipeline: PipelineRecord?

    package init(
      manifest: GoldenManifest, header: ResultHeader, sinks: [ResultHeader.Sink],
      columns: [StageColumn] = [], origin: Int64 = 0, platform: String,
      primarySink: String? = nil, environment: [String: String] = [:]
    ) {
      self.manifest = manifest
      writtenRules = manifest.compare
      self.header = header
      self.sinks = sinks
      self.columns = columns
      self.origin = origin
      self.platform = platform
      self.primarySink = primarySink
      self.environment = environment
    }
  }

  private let target: GoldenFolder
  private let scratch: ScratchFolder
  private let plan: Plan
  private let primarySink: String?
  private var results: ResultWriter
  private let decisions: DecisionFileWriter
  private let digests: StageDigestWriter?
  private var delivered = 0
  private var latency = LatencyMeter()
  private var damaged: GoldenManifest.Damage?
  private var modes: [String: SinkRule.Mode] = [:]
  private var imageSinks: Set<String> = []
  private var failure: (any Error)?

  /// - Parameter target: `pending` for `*.new` next to an accepted golden; `accepted` for the
  ///   folder of a run, whose earlier files are replaced.
  package init(_ target: GoldenFolder, plan: Plan) throws {
    var plan = plan
    plan.header.key = plan.manifest.key
    plan.header.platform = plan.platform
    // Written as used, so that golden.yml and the results cannot disagree about the steps.
    for sink in plan.sinks { plan.manifest.precision[sink.path] = sink.precision }
    for track in plan.header.tracks { plan.manifest.input.timeBase[track.index] = track.timeBase }
    self.target = target
    self.plan = plan
    primarySink = plan.primarySink ?? plan.header.sinks.last
    scratch = try ScratchFolder(in: target.url)
    results = ResultWriter(header: plan.header, sinks: plan.sinks)
    decisions = try DecisionFileWriter(
      scratch.file(GoldenFolder.decisionsName), key: plan.manifest.key, origin: plan.origin)
    digests =
      plan.columns.isEmpty
      ? nil
      : try StageDigestWriter(
        scratch.file(GoldenFolder.digestsName(plan.platform)), key: plan.manifest.key,
        columns: plan.columns, writesTrack: plan.header.tracks.count > 1)
  }

  /// Sets the names of a sink's classes, as soon as they are known.
  package func setClasses(_ names: [String], of sink: String) {
    results.setClasses(names, of: sink)
  }

  /// Appends a frame, in (time, track, sequence) order.
  ///
  /// - Throws: `GoldenError.io`, also for a decision before it that could not be written.
  package func append(_ frame: FrameResult) throws {
    // Decisions come from an observer that cannot throw; the next frame reports their error.
    if let failure { throw failure }
    if isDelivered(frame) { delivered += 1 }
    for outcome in frame.outcomes { noteMode(outcome) }
    if let chunk = results.append(frame) { try write(chunk) }
  }

  /// Appends a decision, in the order in which it was made. A write error is thrown for the next
  /// frame.
  package func append(_ decision: DecisionLine) {
    guard failure == nil else { return }
    if decision.kind == .deliver, decision.node == primarySink, let frame = decision.frame {
      latency.delivered(frame, at: decision.time)
    }
    do {
      try decisions.append(decision)
    } catch {
      failure = error
    }
  }

  /// Records when a frame arrived in virtual time, after all of its deliveries have been appended.
  package func noteArrival(of frame: FrameID, at nanoseconds: Int64) {
    latency.finished(frame, arrival: nanoseconds)
  }

  /// Records that the session calls a frame damaged, in the order of the frames.
  package func noteDamage(of frame: FrameID) {
    damaged =
      damaged.map { .init(frames: $0.frames + 1, first: $0.first, last: frame) }
      ?? .init(first: frame, last: frame)
  }

  /// Whether the rules need the pixels of a frame at a sink.
  package func keepsImage(of frame: FrameID, at sink: String) -> Bool {
    let rules = plan.writtenRules.bySink
    // A rule for a sink is stronger than one for all sinks in the mode `pictures`.
    guard let rule = rules[sink] ?? rules[SinkRule.Mode.pictures.rawValue] else { return false }
    return rule.comparesPixels && frame.sequence % rule.pictureEvery == 0
  }

  /// Writes an image among the observations of a frame.
  ///
  /// - Parameter bytes: PNG, or NumPy's form: see `PixelArray.isPicture`.
  package func keep(
    image bytes: [UInt8], of frame: FrameID, at sink: String, index: Int, isPicture: Bool
  ) throws {
    let name = GoldenFolder.imageName(frame, sink: sink, index: index, isPicture: isPicture)
    try OutputFile.write(bytes, to: scratch.file(name))
  }

  /// Writes the image that a sink received.
  package func keep(png: [UInt8], of frame: FrameID, at sink: String) throws {
    try OutputFile.write(png, to: scratch.file(GoldenFolder.pictureName(frame, sink: sink)))
  }

  /// Appends the stage digests of a frame, in the order of the frames.
  package func append(_ row: StageRow) throws {
    try digests?.append(row)
  }

  /// Moves all files into place.
  ///
  /// - Parameter run: Written as run.json, for the folder of a run.
  @discardableResult
  package func finish(
    run: RunSummary? = nil, leavingOut programs: [String] = []
  ) throws -> GoldenManifest {
    // Also here: the failing decision may have come after the last frame.
    if let failure { throw failure }
    if let chunk = results.finish() { try write(chunk) }
    try decisions.finish()
    try digests?.finish()
    try writeEnvironment()
    if let run { try write(run) }
    if let pipeline = plan.pipeline { try write(pipeline) }
    var manifest = finishedManifest()
    for name in programs { manifest.programs[name] = nil }
    try OutputFile.write(manifest.text.utf8, to: scratch.file(GoldenFolder.manifestName))
    try scratch.move(into: target)
    return manifest
  }

  /// Removes all files after a run that failed or was interrupted.
  package func discard() { scratch.remove() }

  private func write(_ chunk: ResultChunkText) throws {
    try OutputFile.write(chunk.bytes, to: scratch.file(chunk.name))
  }

  private func write(_ run: RunSummary) throws {
    let url = scratch.file("run.json")
    let text = try io(url, "encode the run") { try JSONValue(encoding: run).canonicalText }
    try OutputFile.write((text + "\n").utf8, to: url)
  }

  /// A document that would be too large to be read again is not written.
  private func write(_ pipeline: PipelineRecord) throws {
    let text = pipeline.text
    guard text.utf8.count <= PipelineDocument.bytesMax else { return }
    try OutputFile.write(text.utf8, to: scratch.file(GoldenFolder.pipelineName))
  }

  private func writeEnvironment() throws {
    guard !plan.environment.isEmpty else { return }
    let names = plan.environment.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let lines = names.map { name in
      "\(FlowYAML.scalar(name, asKey: true)): \(FlowYAML.scalar(plan.environment[name] ?? ""))\n"
    }
    try OutputFile.write(
      lines.joined().utf8, to: scratch.file(GoldenFolder.environmentName(plan.platform)))
  }

  private func finishedManifest() -> GoldenManifest {
    var manifest = plan.manifest
    manifest.summary = GoldenManifest.Summary(
      captured: results.frames, delivered: delivered, facts: results.facts,
      decisions: decisions.count, decisionDigest: decisions.digest, resultDigest: results.digest)
    manifest.summary.latency = latency.latency
    manifest.summary.damaged = damaged
    // Also for a sink that retake.yml does not name: an accepted golden is judged by its own rules
    // alone, so each sink needs one in golden.yml.
    let rules = plan.header.sinks.map { sink in
      // A sink that received no fact keeps the mode of the golden.
      let old = modes[sink] == nil ? plan.writtenRules.bySink[sink] : nil
      return (
        sink,
        manifest.compare.rule(
          for: sink, suited: modes[sink] ?? old?.mode ?? .boxes,
          hasImages: imageSinks.contains(sink) || old?.comparesPixels == true)
      )
    }
    manifest.compare = CompareRules(Dictionary(rules, uniquingKeysWith: { first, _ in first }))
    return manifest
  }

  private func isDelivered(_ frame: FrameResult) -> Bool {
    let judged = frame.outcomes.filter { $0.sink == primarySink }
    return (judged.isEmpty ? frame.outcomes : judged).allSatisfy {
      if case .facts = $0.content { true } else { false }
    }
  }

  /// The mode that suits the facts of a sink: boxes, else numbers, else pictures if they have a
  /// rule, else exact.
  private func noteMode(_ outcome: SinkOutcome) {
    guard case .facts(let facts) = outcome.content else { return }
    let imageMode = plan.writtenRules.imageMode
    for fact in facts {
      if fact.isImage { imageSinks.insert(outcome.sink) }
      guard modes[outcome.sink] != .boxes else { continue }
      switch fact {
      case .detection: modes[outcome.sink] = .boxes
      case .observation(let item) where item.hasPositions: modes[outcome.sink] = .boxes
      case _ where fact.isImage: modes[outcome.sink] = modes[outcome.sink] ?? imageMode
      case .scalar, .waveform, .classification, .observation:
        // A detector may also report scalars. Boxes need pairing, so they decide about the sink.
        modes[outcome.sink] = .numeric
      default: modes[outcome.sink] = modes[outcome.sink] ?? .exact
      }
    }
  }
}

extension ResultFact {
  fileprivate var isImage: Bool {
    switch self {
    case .frame: true
    case .observation(let item): item.isImage
    default: false
    }
  }
}

public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
public import RetakeRuntime
import RetakeSession
import RetakeTimePlane

/// One case, ready to run: a pipeline, the frames of a session, and how its results are written.
///
/// ```swift
/// let pipeline = Pipeline.named("watch").source(.session()).gray().motion().results("boxes")
/// let session = try SessionReader(opening: "Recordings/yard")
/// let replay = try Replay(
///   pipeline, reader: session, catalog: StageRegistry.builtIn,
///   request: Replay.Request(sessionName: "yard", caseName: "watch"))
/// let summary = try replay.run()
/// print(summary.frames.delivered, summary.resultDigest)  // the same in every run
/// ```
public struct Replay: Sendable {
  /// The settings of a case, in addition to its pipeline.
  public struct Request: Sendable {
    /// `session/case`: the key of its golden.
    public var sessionName: String?
    /// The name of the case, in its golden and in the run's summary.
    public var caseName: String
    /// Mode, workers, seed, and the other options of the run.
    public var options: RunOptions
    /// Track by source node; overrides the node's options.
    public var tracks: [String: Int]
    /// Steps by sink and field; they override the steps of the results node.
    public var precision: [String: [String: Double]]
    /// Changes in addition to the session's content; their order makes no difference.
    package var overrides: [CaseOverride] = []

    /// By default an every-frame run, with the tracks and the steps that the pipeline names.
    /// `Replay` checks the request when it is created.
    public init(
      sessionName: String? = nil, caseName: String, options: RunOptions = RunOptions(),
      tracks: [String: Int] = [:], precision: [String: [String: Double]] = [:]
    ) {
      self.sessionName = sessionName
      self.caseName = caseName
      self.options = options
      self.tracks = tracks
      self.precision = precision
    }
  }

  /// The settings that the replay was created with.
  package let request: Request
  /// The pipeline as the caller passed it. `RunObserver.began` receives the nodes of the run, with
  /// inserted conversions.
  public let pipeline: Pipeline
  /// The track that each session source reads, by node.
  package let tracks: [String: Int]
  package let header: ResultHeader
  /// `session/case`, or the case alone.
  package var key: String { header.key }
  package let sinks: [ResultHeader.Sink]
  let prepared: PreparedRun
  /// The values that earlier runs stored.
  package var cache: RunCache?
  let overrides: [RunOverride]
  private let camera: FaultyCameraReader?

  /// Connects a pipeline to a session.
  ///
  /// - Parameter reader: The session's frames; `nil` for pipelines that bring their own.
  /// - Throws: `PipelineError`, `RuntimeError`, `ReplayError`, and an error about stored detections
  ///   of other frames.
  public init(
    _ pipeline: Pipeline, reader: (any FrameReader)?, catalog: some StageCatalog, request: Request
  ) throws {
    var bindings = try Self.bindings(pipeline, reader: reader, request: request)
    camera = try Self.camera(reader, tracks: Set(bindings.values.map(\.track)), request)
    if let camera { bindings = bindings.mapValues { .init(reader: camera, track: $0.track) } }
    // Only the run uses the changed pipeline. A golden keeps the document as it was written, and
    // names the profile in its costs.
    let modelled = request.options.costs.profile?.applied(to: pipeline) ?? pipeline
    let sensors = try SensorBinding(
      modelled, reader: reader, arrivesAtPresentation: request.options.mode == .everyFrame)
    prepared = try PreparedRun(
      sensors?.applied(to: modelled) ?? modelled, bindings: bindings, catalog: catalog)
    self.request = request
    self.pipeline = pipeline
    tracks = bindings.mapValues(\.track)
    overrides = try CaseOverride.runOverrides(
      request.overrides, in: pipeline, tracks: tracks, catalog: catalog
    ).map { $0.connected(to: sensors) }
    sinks = try Self.sinks(of: pipeline, request)
    let key = (request.sessionName.map { "\($0)/" } ?? "") + request.caseName
    header = ResultHeader(
      key: key, tracks: prepared.trackDescriptions.map { .init($0.track, $0.timeBase) },
      sinks: sinks.map(\.path))
    try requireStoredFrames()
  }

  /// The nodes in topological order, with inserted conversions.
  package var nodes: [RunNode] { prepared.runNodes }

  /// The name of the chosen costs in a golden.
  package var costsText: String {
    // Stages have no costs in that mode, so other costs must not make the golden incomparable.
    request.options.mode == .everyFrame ? "none" : request.options.costs.text
  }

  /// Notes for the user about the chosen costs, as sentences.
  package var costNotes: [String] {
    guard request.options.mode != .everyFrame else { return [] }
    let costs = request.options.costs
    var notes = costs.profile?.notes(for: pipeline) ?? []
    if let timings = costs.timings, let recorded = timings.session,
      let session = request.sessionName,
      recorded != session
    {
      notes.append(
        "the timings \(timings.name) are of the session '\(recorded)', not of '\(session)'")
    }
    return notes
  }

  /// Notes about frames that cannot be checked, as sentences: frames without a stored pixel digest.
  package func pixelNotes(_ reader: (any FrameReader)?) throws -> [String] {
    guard let reader = reader as? SessionReader else { return [] }
    let count = try reader.undigestedFrames(tracks: Set(tracks.values).sorted())
    guard count > 0 else { return [] }
    let frames = counted(count, "frame has", "frames have")
    return [
      "\(frames) no stored digest of the pixels: changes of the pixels cannot be detected "
        + "(retake session recover \(reader.folder.path.shellWord) adds the digests)"
    ]
  }

  /// A note about tracks of the session that no source reads, as a sentence; empty without any.
  package func unreadNotes(_ reader: (any FrameReader)?) -> [String] {
    // A pipeline that brings its own frames reads no session at all.
    guard let reader, !tracks.isEmpty else { return [] }
    let read = Set(tracks.values)
    let unread = reader.tracks.filter { !read.contains($0.track) }.map { track in
      "\(track.track) (\(counted(track.frameCount, "frame")))"
    }
    guard let first = unread.first else { return [] }
    return [
      unread.count == 1
        ? "track \(first) is not read by this pipeline"
        : "tracks \(unread.joined(separator: ", ")) are not read by this pipeline"
    ]
  }

  /// Frames of the sources, including frames without payload.
  public var frameCount: Int {
    prepared.trackDescriptions.reduce(0) { $0 + $1.frameCount }
  }

  /// Virtual time zero on the session's own time line, in nanoseconds.
  package func originNanoseconds() throws -> Int64 { try prepared.originNanoseconds() }

  /// Runs until the sources end, and notifies the observers of everything that happens.
  ///
  /// - Throws: `RuntimeError`, the session's errors for bytes that are not as recorded, and the
  ///   observers' errors.
  public func run(observers: [any RunObserver] = []) throws -> RunSummary {
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    let digester = ResultDigester(header: header, sinks: sinks)
    let counter = ResultCounter(sinks: sinks)
    let repairs = Locked<[StageFailure]>([])
    var options = runOptions
    options.notices = { notice in
      guard notice.kind == .repaired else { return }
      repairs.withLock { if $0.count < RunSummary.failuresMax { $0.append(notice.failure) } }
    }
    let outcome = try prepared.run(
      options, observer: ObserverGroup([digester, counter] + observers))
    // Before the cache is finished: writing and pruning are not part of the run's speed.
    let nanoseconds = clock.monotonicNanoseconds - start
    let use = cache?.finish()
    var summary = summary(
      of: outcome, resultDigest: digester.finish(), nanoseconds: nanoseconds)
    summary.cache = use
    summary.found = counter.finish()
    summary.silentSinks = silentSinks(of: summary)
    // Workers tell them in any order.
    let notices = repairs.withLock { $0 }.sorted { ($0.frame, $0.node) < ($1.frame, $1.node) }
    summary.notices = notices.isEmpty ? nil : notices
    for case let comparison as LiveComparison in observers {
      summary.live = try comparison.agreement(lost: outcome.lostBeforeCapture)
    }
    return summary
  }

  /// The request's options, with its overrides in the form that a run applies.
  var runOptions: RunOptions {
    var options = request.options
    options.overrides += overrides
    options.cache = cache
    return options
  }

  private func summary(
    of outcome: RunOutcome, resultDigest: Digest128, nanoseconds: Int64
  ) -> RunSummary {
    var summary = RunSummary(
      pipeline: pipeline.name, mode: request.options.mode.rawValue,
      workers: request.options.workers, frames: outcome.headline,
      decisionDigest: outcome.decisionDigest, resultDigest: resultDigest)
    summary.session = request.sessionName
    summary.caseName = request.caseName
    summary.lostBeforeCapture = outcome.headlineLost
    let sources = pipeline.nodes.count { $0.stage.signature.role == .source }
    summary.lostBySource =
      sources > 1 && outcome.lostBeforeCapture > 0 ? outcome.lostBySource : nil
    summary.payloadMissing = outcome.payloadMissing
    summary.decisions = outcome.decisions
    summary.costs.source = costsText
    summary.costs.recorded = outcome.recordedCosts
    summary.costs.modelled = outcome.modelledCosts
    summary.wallSeconds = Double(nanoseconds) / 1e9
    summary.framesPerSecond =
      nanoseconds > 0 ? Double(outcome.headline.captured) / summary.wallSeconds : 0
    summary.haltedBy = outcome.halt?.code
    summary.halt = outcome.halt
    if outcome.failureCount > 0 {
      summary.failures = Array(outcome.failures.prefix(RunSummary.failuresMax))
      summary.failureCount = outcome.failureCount
    }
    summary.pools = outcome.pools.isEmpty ? nil : outcome.pools
    summary.waits = outcome.waits.isEmpty ? nil : outcome.waits
    summary.heat = outcome.heat
    summary.screens = outcome.screens.isEmpty ? nil : outcome.screens
    return summary
  }

  /// The sinks that received no result although there were frames; `nil` without such sinks.
  private func silentSinks(of summary: RunSummary) -> [String]? {
    // A halt is an error, and says more; so do the failures if no frame came through.
    guard summary.halt == nil, summary.frames.captured > summary.frames.failed else { return nil }
    let ignored = [AnyStage.discardKind, AnyStage.screenKind]
    let writing = Set(pipeline.nodes.filter { !ignored.contains($0.kind) }.map(\.id))
    let silent = (summary.found ?? []).filter { $0.results.isEmpty && writing.contains($0.sink) }
    return silent.isEmpty ? nil : silent.map(\.sink)
  }

  private static func bindings(
    _ pipeline: Pipeline, reader: (any FrameReader)?, request: Request
  ) throws -> [String: PreparedRun.Binding] {
    let sources = pipeline.nodes.filter { $0.kind == AnyStage.sessionKind }
    for node in request.tracks.keys.sorted() where !sources.contains(where: { $0.id == node }) {
      throw ReplayError.unknownSource(node: node, sources: sources.map(\.id))
    }
    var bindings: [String: PreparedRun.Binding] = [:]
    for node in sources {
      guard let reader else { throw ReplayError.noSession(node: node.id) }
      let track = request.tracks[node.id] ?? Self.track(of: node, in: reader)
      bindings[node.id] = PreparedRun.Binding(reader: reader, track: track)
    }
    return bindings
  }

  /// The session's frames with the faults of a `camera` override; `nil` without one.
  private static func camera(
    _ reader: (any FrameReader)?, tracks: Set<Int>, _ request: Request
  ) throws -> FaultyCameraReader? {
    guard
      let entry = request.overrides.first(where: { if case .camera = $0 { true } else { false } }),
      case .camera(let faults) = entry
    else { return nil }
    guard let reader, !tracks.isEmpty else {
      throw ReplayError.badOverride(
        entry.text, detail: "the pipeline reads no session",
        advice: "Leave the override out, or read a session: {\"kind\": \"session\"}")
    }
    return try FaultyCameraReader(reader, tracks: tracks, faults: faults)
  }

  /// Whether a frame has the image of another frame, so that it is not the frame of the cache.
  package var isFrozen: @Sendable (FrameID) -> Bool {
    { [camera] in camera?.isFrozen($0) ?? false }
  }

  /// The track in the node's options. If the session has no track 0, the default option means the
  /// first track.
  package static func track(of node: PipelineNode, in reader: any FrameReader) -> Int {
    guard case .integer(let option) = node.stage.options["track"], option != 0 else {
      let numbers = reader.tracks.map(\.track)
      return numbers.contains(0) ? 0 : numbers.first ?? 0
    }
    return Int(option)
  }

  private static func sinks(
    of pipeline: Pipeline, _ request: Request
  ) throws -> [ResultHeader.Sink] {
    let nodes = pipeline.nodes.filter { $0.stage.signature.role == .sink }
    let odd = request.precision.keys.sorted().first { id in !nodes.contains { $0.id == id } }
    if let odd { throw ReplayError.unknownSink(node: odd, sinks: nodes.map(\.id)) }
    var sinks: [ResultHeader.Sink] = []
    for node in nodes {
      let precision = node.precision.merging(request.precision[node.id] ?? [:]) { $1 }
      let known = ["box", "score", "scalar"]
      if let odd = precision.keys.sorted().first(where: { !known.contains($0) }) {
        throw ReplayError.badPrecision(
          node: node.id,
          detail: "there is no field '\(odd)'. \(Suggestion.advice(for: odd, among: known))")
      }
      do {
        sinks.append(
          ResultHeader.Sink(
            node.id,
            precision: try Precision(
              box: precision["box"], score: precision["score"], scalar: precision["scalar"])))
      } catch let error as ResultTextError {
        throw ReplayError.badPrecision(node: node.id, detail: error.message)
      }
    }
    return sinks
  }
}

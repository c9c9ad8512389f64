package import RetakeBuffers
import RetakeCore
package import RetakeGraph
package import RetakeTimePlane

/// A pipeline whose sources are connected to frames. It can be run any number of times.
package struct PreparedRun: Sendable {
  /// Which frames a source node reads.
  package struct Binding: Sendable {
    package var reader: any FrameReader
    package var track: Int

    package init(reader: any FrameReader, track: Int) {
      self.reader = reader
      self.track = track
    }
  }

  /// The pipeline as it runs, with inserted conversions.
  package let pipeline: Pipeline
  package internal(set) var plan: GraphPlan
  var bindings: [Int: Binding]

  /// Validates the pipeline and connects its sources.
  ///
  /// - Parameters:
  ///   - bindings: Frames by source node. Sources that bring their own frames need no binding.
  ///   - catalog: Creates `convert` if a stage needs another pixel format.
  /// - Throws: `PipelineError`, `RuntimeError.unboundSource`, `RuntimeError.noSuchTrack`, and the
  ///   errors of a source that is opened.
  package init(
    _ pipeline: Pipeline, bindings given: [String: Binding] = [:], catalog: some StageCatalog
  ) throws {
    try pipeline.validate()
    var bound: [String: Binding] = [:]
    var formats: [String: PixelFormat] = [:]
    for node in pipeline.nodes where node.stage.signature.role == .source {
      let binding = try given[node.id] ?? Self.ownFrames(of: node)
      guard let track = binding.reader.tracks.first(where: { $0.track == binding.track }) else {
        throw RuntimeError.noSuchTrack(
          node: node.id, track: binding.track, available: binding.reader.tracks.map(\.track))
      }
      bound[node.id] = binding
      formats[node.id] = track.format
    }
    try Self.checkTracks(bound)
    let complete = try pipeline.flattened().insertingConversions(
      sources: formats, catalog: catalog)
    self.pipeline = complete
    let plan = try GraphPlan(complete, otherFormats: Self.otherFormats(bound.values))
    self.plan = plan
    var bindings: [Int: Binding] = [:]
    for source in plan.sources { bindings[source] = bound[plan.nodes[source].id] }
    self.bindings = bindings
  }

  /// The formats of later frames that are not in `PixelFormat.basic`.
  private static func otherFormats(
    _ bindings: some Collection<Binding>
  ) -> [PixelFormat] {
    let found = bindings.flatMap { binding in
      binding.reader.tracks.filter { $0.track == binding.track }.flatMap(\.otherFormats)
    }
    return Set(found.filter { !$0.isBasic }).sorted { $0.rawValue < $1.rawValue }
  }

  /// Frames are identified by track and sequence, so two sources of one track would be the
  /// same.
  private static func checkTracks(_ bound: [String: Binding]) throws(RuntimeError) {
    var nodes: [Int: String] = [:]
    for node in bound.keys.sorted() {
      guard let track = bound[node]?.track else { continue }
      if let other = nodes[track] { throw .sameTrack(nodes: [other, node], track: track) }
      nodes[track] = node
    }
  }

  private static func ownFrames(of node: PipelineNode) throws -> Binding {
    guard case .source(let body) = node.stage.body, let source = body as? any FrameSource else {
      throw RuntimeError.unboundSource(node: node.id)
    }
    let reader = try source.open()
    return Binding(reader: reader, track: reader.tracks.first?.track ?? 0)
  }

  /// Runs until the sources end; blocks the calling thread.
  ///
  /// With a watchdog, the run has a separate thread, and calls the observer and the sinks there. A
  /// body that hangs keeps its thread, and everything that the thread holds, until the process
  /// ends.
  ///
  /// - Throws: `RuntimeError`, the reader's errors for frames that are not as recorded, and the
  ///   observer's errors.
  package func run(_ options: RunOptions = RunOptions(), observer: any RunObserver) throws
    -> RunOutcome
  {
    try check(options)
    let origin = try originNanoseconds()
    let sources = try plan.sources.compactMap { node -> SourceState? in
      guard let binding = bindings[node] else { return nil }
      return try SourceState(
        node: node, reader: binding.reader, track: binding.track,
        schedule: ArrivalSchedule(
          reader: binding.reader, track: binding.track, mode: options.mode,
          originNanoseconds: origin))
    }
    try observer.began(nodes: runNodes)
    let limit = options.watchdog
    var (plan, options) = (plan, options)
    let window = options.window ?? automaticWindow(options)
    if let meter = options.costs.meter {
      plan = plan.measured(by: meter)
      options.overrides = options.overrides.map { $0.measured(by: meter) }
    }
    let (runPlan, runOptions) = (plan, options)
    let run = { (watch: RunWatch?) in
      try VirtualRun(
        plan: runPlan, options: runOptions, window: window, sources: sources,
        originNanoseconds: origin,
        changes: RunChanges(plan: runPlan, options: runOptions, sources: sources, origin: origin),
        observer: observer, watch: watch
      ).run()
    }
    guard let limit, limit > .zero else { return try run(nil) }
    do {
      return try WatchedRun(clock: options.clock, limit: limit).run(run)
    } catch let hung as HungBody {
      throw RuntimeError.hung(
        node: plan.nodes[hung.body.node].id, hung.body.frame,
        seconds: Double(limit.nanoseconds) / 1e9)
    }
  }

  private func automaticWindow(_ options: RunOptions) -> Int {
    guard plan.releasesPixelsAhead(options) else {
      return RunOptions.automaticWindow(for: trackDescriptions)
    }
    return RunOptions.windowOfResults(for: trackDescriptions)
  }

  private func check(_ options: RunOptions) throws(RuntimeError) {
    guard options.mode != .reproduce else {
      throw .badOption(
        "a live run is reproduced from its record: retake replay SESSION --mode reproduce")
    }
    guard RunOptions.workersRange.contains(options.workers) else {
      throw .badOption("between 0 and \(Workers.countMax) workers, not \(options.workers)")
    }
    guard options.costs.meter == nil || options.workers == 1 else {
      throw .badOption("stages are measured with one worker, not \(options.workers)")
    }
    if let window = options.window, !(1...4_096).contains(window) {
      throw .badOption("the window is 1 to 4096 frames, not \(window)")
    }
  }

  /// The tracks that are read, in the order of their sources.
  package var trackDescriptions: [TrackDescription] {
    plan.sources.compactMap { node in
      guard let binding = bindings[node] else { return nil }
      return binding.reader.tracks.first { $0.track == binding.track }
    }
  }

  /// The smallest presentation time of the selected tracks.
  package func originNanoseconds() throws -> Int64 {
    try plan.sources.compactMap { node -> Int64? in
      guard let binding = bindings[node] else { return nil }
      return try ArrivalSchedule.start(of: binding.track, in: binding.reader)
    }.min() ?? 0
  }

  /// The virtual time at which the last frame arrives; `nil` without frames.
  package func endNanoseconds(_ mode: RunOptions.Mode) throws -> Int64? {
    let origin = try originNanoseconds()
    return try plan.sources.compactMap { node -> Int64? in
      guard let binding = bindings[node] else { return nil }
      return try ArrivalSchedule.end(of: binding.track, in: binding.reader, mode: mode)
    }.max().map { $0 - origin }
  }

  /// The nodes in topological order, as observers and golden files refer to them.
  package var runNodes: [RunNode] {
    plan.nodes.enumerated().map { index, node in
      RunNode(
        id: node.id, kind: node.stage.signature.kind, role: .init(node.role),
        inputs: node.inEdges.map { plan.nodes[plan.edges[$0].from].id },
        executor: node.executor.map {
          RunExecutor(id: plan.executors[$0].id, servers: plan.executors[$0].count)
        }, track: bindings[index]?.track, computesBatches: node.computesBatches,
        isLoop: node.stage.isLoop)
    }
  }
}

extension RunNode.StageRoleName {
  init(_ role: StageRole) {
    switch role {
    case .source: self = .source
    case .pure: self = .pure
    case .stateful: self = .stateful
    case .throttle: self = .throttle
    case .sample: self = .sample
    case .route: self = .route
    case .join: self = .join
    case .latest: self = .latest
    case .fork: self = .fork
    case .gather: self = .gather
    case .sink: self = .sink
    }
  }
}

extension RunOptions {
  /// Whether an override replaces a stage.
  var hasSwaps: Bool { overrides.contains { if case .swap = $0 { true } else { false } } }

  /// Frames that are computed ahead if frames are small: enough to decode two long groups of
  /// pictures in parallel, the first of which has to be shown before the second.
  static let windowMax = 56
  /// The same for large frames, unless that many would not fit into memory.
  static let windowMin = 24
  /// The same if pixels are released as soon as results are computed: enough to decode two groups
  /// of 250 images in parallel, if that number of decoded frames fits into memory.
  private static let windowOfResultsMax = 320
  /// Bytes that decoded frames may occupy if more than `windowMin` frames are computed ahead.
  private static let manyBytesMax = 48 << 20

  /// The largest memory that a run of these tracks needs for frames, roughly: the frames ahead, and
  /// the frames whose results wait to be reported, each as decoded and in one derived form.
  package static func aheadBytes(of tracks: [TrackDescription]) -> Int {
    2 * 2 * automaticWindow(for: tracks) * frameBytes(of: tracks)
  }

  /// Bytes of one decoded frame of each track together.
  private static func frameBytes(of tracks: [TrackDescription]) -> Int {
    tracks.reduce(0) { $0 + $1.frameBytes }
  }

  static func windowOfResults(
    for tracks: [TrackDescription], budget: PixelBudget = .ofProcess
  ) -> Int {
    window(for: tracks, most: windowOfResultsMax, bytes: budget.resultsBytesMax, budget)
  }

  package static func automaticWindow(
    for tracks: [TrackDescription], budget: PixelBudget = .ofProcess
  ) -> Int {
    window(for: tracks, most: windowMax, bytes: manyBytesMax, budget)
  }

  /// At least one frame is computed ahead, so every run ends, however large its frames are.
  private static func window(
    for tracks: [TrackDescription], most: Int, bytes: Int, _ budget: PixelBudget
  ) -> Int {
    let frame = max(1, frameBytes(of: tracks))
    let few = min(windowMin, budget.aheadBytesMax / frame)
    return max(1, min(most, max(few, bytes / frame)))
  }
}

extension GraphPlan {
  /// Whether pixels that are computed ahead are released after their last reader ahead.
  func releasesPixelsAhead(_ options: RunOptions) -> Bool {
    options.mode == .everyFrame && !options.hasSwaps && !keepsPixelsAhead
  }

  /// The number of frames that may be in memory at once if their pixels are released automatically;
  /// `nil` if only the window bounds them.
  func readsMax(
    _ options: RunOptions, tracks: [TrackDescription?], budget: PixelBudget = .ofProcess
  ) -> Int? {
    guard releasesPixelsAhead(options) else { return nil }
    let frame = tracks.reduce(0) { max($0, $1?.frameBytes ?? 0) }
    // A stage's output frame exists at the same time as its input frame.
    let pictures = 1 + nodes.count { $0.role == .pure && $0.stage.signature.output == .frame }
    return max(1, min(Self.readsMax, budget.aheadBytesMax / max(1, frame * pictures)))
  }

  /// Enough for two threads that decode groups of pictures in parallel, and for slow stages.
  package static let readsMax = 64
}

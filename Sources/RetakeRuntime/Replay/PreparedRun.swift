import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A pipeline whose sources are connected to frames: ready to run, as often as wanted.
public struct PreparedRun: Sendable {
  /// Which frames a source node reads.
  public struct Binding: Sendable {
    public var reader: any FrameReader
    public var track: Int

    public init(reader: any FrameReader, track: Int) {
      self.reader = reader
      self.track = track
    }
  }

  /// The pipeline as it runs, inserted conversions included.
  public let pipeline: Pipeline
  package internal(set) var plan: GraphPlan
  var bindings: [Int: Binding]

  /// Validates the pipeline and connects its sources.
  ///
  /// - Parameters:
  ///   - bindings: Frames by source node; sources that bring their own need none.
  ///   - catalog: Where `convert` is found if a stage needs another pixel format.
  /// - Throws: `PipelineError`, `RuntimeError.unboundSource`, `RuntimeError.noSuchTrack`, and what
  ///   a source throws when it is opened.
  public init(
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
    let plan = try GraphPlan(complete)
    self.plan = plan
    var bindings: [Int: Binding] = [:]
    for source in plan.sources { bindings[source] = bound[plan.nodes[source].id] }
    self.bindings = bindings
  }

  /// Frames are named by track and sequence: two sources of one track would be one.
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
  /// With a watchdog the run has a thread of its own, and the observer and the sinks are called
  /// there. A body that hangs keeps its thread, and whatever it holds, until the process ends.
  ///
  /// - Throws: `RuntimeError`, what a reader throws for frames that are not as recorded, and what
  ///   the observer throws.
  public func run(_ options: RunOptions = RunOptions(), observer: any RunObserver) throws
    -> RunOutcome
  {
    try check(options)
    let origin = try originNanoseconds()
    let sources = try plan.sources.compactMap { node -> SourceState? in
      guard let binding = bindings[node] else { return nil }
      return SourceState(
        node: node, reader: binding.reader, track: binding.track,
        schedule: try ArrivalSchedule(
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
        plan: runPlan, options: runOptions, window: window, sources: sources, origin: origin,
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
    guard options.mode != .reenact else {
      throw .badOption(
        "a live run is reenacted from its record: retake replay SESSION --mode reenact")
    }
    guard (0...Workers.countMax).contains(options.workers) else {
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
  public var trackDescriptions: [TrackDescription] {
    plan.sources.compactMap { node in
      guard let binding = bindings[node] else { return nil }
      return binding.reader.tracks.first { $0.track == binding.track }
    }
  }

  /// The smallest presentation time of the selected tracks.
  public func originNanoseconds() throws -> Int64 {
    try plan.sources.compactMap { node -> Int64? in
      guard let binding = bindings[node] else { return nil }
      return try ArrivalSchedule.start(of: binding.track, in: binding.reader)
    }.min() ?? 0
  }

  /// The nodes in topological order, as observers and golden files name them.
  public var runNodes: [RunNode] {
    plan.nodes.enumerated().map { index, node in
      RunNode(
        id: node.id, kind: node.stage.signature.kind, role: .init(node.role),
        inputs: node.inEdges.map { plan.nodes[plan.edges[$0].from].id },
        executor: node.executor.map {
          RunExecutor(id: plan.executors[$0].id, servers: plan.executors[$0].count)
        }, track: bindings[index]?.track)
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
  /// Whether a stage may take another's place.
  var hasSwaps: Bool { overrides.contains { if case .swap = $0 { true } else { false } } }

  /// How far small frames are computed ahead: enough to decode two long groups of pictures beside each
  /// other, one of which cannot be shown before the other.
  static let windowMax = 56
  /// How far large ones are, unless they are so large that there is no room for as many.
  static let windowMin = 24
  /// How far frames are computed ahead whose pixels go as soon as they are computed: enough to decode two
  /// groups of 250 pictures beside each other, where so many decoded pictures could be held.
  private static let windowOfResultsMax = 320
  /// What more than `windowMin` frames ahead may take, as they are decoded.
  private static let manyBytesMax = 48 << 20

  /// What a run of these tracks needs at most for frames, roughly: those ahead and those whose results
  /// wait to be told, each as it was decoded and as something else.
  package static func aheadBytes(of tracks: [TrackDescription]) -> Int {
    2 * 2 * automaticWindow(for: tracks) * frameBytes(of: tracks)
  }

  /// A decoded frame of each track.
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

  /// One frame is always computed ahead: so every run comes to its end, however large frames are.
  private static func window(
    for tracks: [TrackDescription], most: Int, bytes: Int, _ budget: PixelBudget
  ) -> Int {
    let frame = max(1, frameBytes(of: tracks))
    let few = min(windowMin, budget.aheadBytesMax / frame)
    return max(1, min(most, max(few, bytes / frame)))
  }
}

extension GraphPlan {
  /// Whether pixels that are computed ahead go as soon as those have them who are computed ahead too.
  func releasesPixelsAhead(_ options: RunOptions) -> Bool {
    options.mode == .lossless && !options.hasSwaps && !keepsPixelsAhead
  }

  /// Frames that may be in memory at once where they go by themselves; `nil` where the window alone
  /// bounds them.
  func readsMax(
    _ options: RunOptions, tracks: [TrackDescription?], budget: PixelBudget = .ofProcess
  ) -> Int? {
    guard releasesPixelsAhead(options) else { return nil }
    let frame = tracks.reduce(0) { max($0, $1?.frameBytes ?? 0) }
    // A stage's frame is there beside the one that it was made of.
    let pictures = 1 + nodes.count { $0.role == .pure && $0.stage.signature.output == .frame }
    return max(1, min(Self.readsMax, budget.aheadBytesMax / max(1, frame * pictures)))
  }

  /// Enough for two threads that decode groups of pictures beside each other, and stages that are slow.
  package static let readsMax = 64
}

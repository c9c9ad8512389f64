import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The readers of the pixels of a node's frames. They decide whether a frame has to be decoded now,
/// and whether its pixels are worth keeping.
struct FrameDemand: Sendable {
  /// A reader whose output is not cached reads the pixels: a sink, a join, a stateful stage.
  private(set) var isRead = false
  /// Stages whose outputs are cached, each with the demand for its output.
  private(set) var stages: [Reader] = []

  struct Reader: Sendable {
    var stage: CachedStage
    var demand: FrameDemand
  }

  /// How often a frame is read in a normal run; `nil` if that is not known in advance.
  private(set) var reads: Int? = 0

  /// Pixels that only become other pixels are not kept: in a chain of such stages, the other
  /// readers read the last stage's pixels.
  var keepsPixels: Bool { isRead || stages.contains { !$0.stage.givesFrames } }

  /// Whether no reader will need pixels that are not in the cache.
  func isMet(
    _ outline: FrameOutline, context: StageContext, by cache: any ValueCache
  ) -> Bool {
    if cache.hasPixels(outline.digest, track: context.frame.track) { return true }
    guard !isRead else { return false }
    let input = outline.inputDigest
    return stages.allSatisfy { reader in
      let key = reader.stage.key(input: input, context)
      switch cache.record(key, track: context.frame.track) {
      case .frame(let next)?: return reader.demand.isMet(next, context: context, by: cache)
      case .value?: return true
      case nil: return false
      }
    }
  }

  /// - Parameter epoch: The epoch whose stages are in force.
  init(ofNode node: Int, plan: GraphPlan, stages book: StageState, epoch: Int) {
    // Another frame may reuse this frame's value as its fallback.
    if plan.nodes[node].hasFallback { reads = nil }
    for edge in plan.nodes[node].outEdges {
      let target = plan.edges[edge].to
      switch plan.nodes[target].role {
      case .throttle, .sample:
        let passed = FrameDemand(ofNode: target, plan: plan, stages: book, epoch: epoch)
        isRead = isRead || passed.isRead
        stages += passed.stages
        reads = reads.flatMap { sum in passed.reads.map { sum + $0 } }
      case .pure:
        reads = reads.map { $0 + 1 }
        guard let stage = book.cached(target, epoch: epoch) else {
          isRead = true
          continue
        }
        let demand =
          stage.givesFrames
          ? FrameDemand(ofNode: target, plan: plan, stages: book, epoch: epoch) : FrameDemand()
        stages.append(Reader(stage: stage, demand: demand))
      case .stateful:
        isRead = true
        reads = reads.map { $0 + 1 }
      // A route and a fork read the value to decide, in addition to the readers downstream.
      case .source, .route, .join, .latest, .fork, .gather, .sink:
        isRead = true
        reads = nil
      }
    }
  }

  /// The demand of a node that outputs no frames.
  init() {}
}

/// Reads a source's frame from the cache, or from its reader.
struct CachedRead: Sendable {
  let cache: any ValueCache
  let demand: FrameDemand
  let context: StageContext

  /// - Parameter load: Reads the frame and decodes it.
  func outcome(_ load: @escaping @Sendable () -> ValueOutcome) -> ValueOutcome {
    let track = context.frame.track
    let key: Digest128
    do {
      guard let known = try cache.key(of: context.frame) else { return load() }
      key = known
    } catch {
      return .fault(RuntimeError.unreadable(context.frame, error))
    }
    let record = cache.record(key, track: track)
    if case .frame(var outline)? = record {
      outline.id = context.frame
      outline.timestamp = context.timestamp
      if demand.isMet(outline, context: context, by: cache) {
        cache.count(isKnown: true)
        return .later(.known(outline, demand: demand, by: cache, track: track, load))
      }
    }
    cache.count(isKnown: false)
    let outcome = load()
    guard case .value(let frame as Frame) = outcome else { return outcome }
    if record == nil { cache.keep(.frame(FrameOutline(frame)), under: key, track: track) }
    if demand.keepsPixels { cache.keepPixels(of: frame, track: track) }
    return outcome
  }
}

extension LaterFrame {
  /// A frame that the cache knows. If its pixels are missing or were changed, the frame is computed
  /// as it would be without a cache. That is counted, and the pixels are stored again.
  static func known(
    _ outline: FrameOutline, demand: FrameDemand, by cache: any ValueCache, track: Int,
    _ compute: @escaping @Sendable () -> ValueOutcome
  ) -> LaterFrame {
    let isCounted = Locked(false)
    return LaterFrame(outline: outline, reads: demand.reads) {
      if let frame = cache.frame(outline, track: track) { return .value(frame) }
      let isFirst = isCounted.withLock { isCounted in
        defer { isCounted = true }
        return !isCounted
      }
      if isFirst { cache.countComputedAfterAll() }
      let outcome = compute()
      if case .value(let frame as Frame) = outcome, demand.keepsPixels {
        cache.keepPixels(of: frame, track: track)
      }
      return outcome
    }
  }
}

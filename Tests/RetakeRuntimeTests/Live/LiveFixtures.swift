import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization

@testable import RetakeRuntime
@testable import RetakeTimePlane

/// Keeps everything that a live run reports, as a session would.
final class KeptRun: LiveTap {
  struct Content: Sendable {
    var facts: LiveFacts?
    var events: [StampedEvent] = []
    var decisions: [String] = []
    var spans: [CostSpan] = []
    var results: [LiveResult] = []
    var outcome: RunOutcome?
  }

  private let content = Mutex(Content())

  var kept: Content { content.withLock { $0 } }

  func began(_ facts: LiveFacts) { content.withLock { $0.facts = facts } }

  func told(_ batch: LiveBatch) {
    content.withLock {
      $0.events += batch.events
      $0.decisions += batch.decisions.map(\.description)
      $0.spans += batch.spans
    }
  }

  func finished(_ result: LiveResult) { content.withLock { $0.results.append(result) } }
  func ended(_ outcome: RunOutcome) { content.withLock { $0.outcome = outcome } }
}

/// The tracks of several readers in a single reader.
struct ManyTracks: FrameReader {
  var readers: [TinyFrames]

  var tracks: [TrackDescription] { readers.flatMap(\.tracks).sorted { $0.track < $1.track } }

  private func reader(_ track: Int) throws -> TinyFrames {
    guard let reader = readers.first(where: { $0.track == track }) else {
      throw RuntimeError.noSuchTrack(node: "", track: track, available: [])
    }
    return reader
  }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    try reader(track).entries(of: track, sequences: sequences)
  }

  func chain(of id: FrameID) -> Int { id.track }
  func frame(_ id: FrameID) throws -> Frame { try reader(id.track).frame(id) }

  var live: [LiveTrack] {
    tracks.map {
      LiveTrack(
        track: $0.track, timeBase: $0.timeBase, format: $0.format, width: $0.width,
        height: $0.height)
    }
  }
}

/// A rerun of a run's own decisions, from the content that its tap kept.
struct Reproduced {
  var decisions: [String] = []
  var results: [LiveResult] = []
  var differences = 0
  var headline = FrameLedger()
  var sourcesLost = 0
  var waits: [WaitCounts] = []
  /// Why the record could not be followed to its end.
  var failure: RuntimeError?

  /// - Parameter events: As they are read from a session: parsed from their JSON.
  init(
    _ pipeline: Pipeline, frames: ManyTracks, origin: Int64, events: [StampedEvent],
    workers: Int = 2
  ) throws {
    let lines = Mutex<[String]>([])
    let told = Mutex<[LiveResult]>([])
    let reproducer = try Reproducer(
      pipeline, tracks: frames.live, frames: frames, originNanoseconds: origin,
      workers: workers, catalog: StageRegistry(),
      decided: { line in lines.withLock { $0.append("\(line)") } },
      finished: { result in told.withLock { $0.append(result) } })
    let ids = reproducer.nodeIDs
    let numbers = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
    do {
      for event in events {
        let text = event.json(nodes: ids).canonicalText
        let read = try StampedEvent(
          ordinal: event.ordinal, nanoseconds: event.nanoseconds,
          kind: event.event.kind.rawValue, text: text, nodes: numbers)
        try reproducer.handle(read)
      }
    } catch let error as RuntimeError {
      failure = error
    }
    let outcome = reproducer.finish().outcome
    (headline, sourcesLost, waits) = (outcome.headline, outcome.sourcesLost, outcome.waits)
    differences = reproducer.differenceCount
    decisions = lines.withLock { $0 }
    results = told.withLock { $0 }
  }
}

/// Uses processor time that depends only on a seed, without a clock.
enum Burn {
  /// About a tenth of a microsecond each.
  static func rounds(_ count: Int) {
    var hasher = DigestHasher()
    for round in 0..<count { hasher.append(round) }
    withExtendedLifetime(hasher.finish()) {}
  }

  /// Mostly short, sometimes long: up to about 2 ms.
  static func some(_ bits: UInt64) {
    let isLong = bits % 16 == 0
    rounds(Int(bits >> 8) % (isLong ? 20_000 : 1_500))
  }
}

extension Pipeline {
  /// The same graph with bodies that burn time, which differs for each frame and node.
  func busy(seed: UInt64) -> Pipeline {
    var copy = self
    copy.nodes = nodes.map { $0.busy(seed: seed) }
    return copy
  }
}

extension PipelineNode {
  fileprivate func busy(seed: UInt64) -> PipelineNode {
    var copy = self
    copy.stage = stage.busy(seed: seed ^ Draw.hash(ofNode: id))
    copy.body?.nodes = body?.nodes.map { $0.busy(seed: seed) } ?? []
    return copy
  }
}

extension AnyStage {
  fileprivate func busy(seed: UInt64) -> AnyStage {
    @Sendable func burn(_ context: StageContext) {
      Burn.some(
        Draw.bits(
          seed: seed, node: UInt64(context.frame.track), sequence: context.frame.sequence,
          item: context.item ?? -1, purpose: .perturbation))
    }
    switch body {
    case .pure(let process):
      return replacingBody(
        .pure { input, context in
          burn(context)
          return process(input, context)
        })
    case .stateful(let make):
      return replacingBody(.stateful { BusyInstance(make(), burn: burn) })
    default: return self
    }
  }

  /// A source that reads a pushed track.
  static func pushed(track: Int) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: sessionKind, version: 1, role: .source, input: nil, output: .frame),
      options: .object(["track": .integer(Int64(track))]),
      body: .source(SessionSource(track: track)))
  }
}

private final class BusyInstance: StageInstance {
  private let instance: any StageInstance
  private let burn: @Sendable (StageContext) -> Void

  init(_ instance: any StageInstance, burn: @escaping @Sendable (StageContext) -> Void) {
    self.instance = instance
    self.burn = burn
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    burn(context)
    return instance.process(input, context)
  }

  func reset() { instance.reset() }
}

extension ManyTracks {
  /// A live run over the 40 frames of the single track, in which the device becomes hot before the
  /// 21st.
  func heatedRun(of pipeline: Pipeline) throws -> (outcome: RunOutcome, told: KeptRun.Content) {
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: live, catalog: StageRegistry(), options: LiveOptions(workers: 2),
      tap: kept)
    for sequence in 0..<40 {
      if sequence == 20 { session.push(.thermal(.serious)) }
      session.push(try frame(FrameID(track: 0, sequence: sequence)))
      Burn.rounds(2_000)
    }
    return (try session.finish(), kept.kept)
  }
}

/// A sink that keeps the leases of its frames until a test ends them.
final class HeldLeases: Sendable {
  let held = Mutex<[FrameLease]>([])
  /// Signalled once for each frame that came.
  let delivered = DispatchSemaphore(value: 0)

  /// A camera that leases from a pool, and the sink.
  func pipeline(_ name: String, pool: PipelinePool) -> Pipeline {
    let sink = AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]),
      body: .sink { [self] delivery in
        // A sink also receives the outcome of a frame that was dropped.
        guard let lease = delivery.lease else { return }
        held.withLock { $0.append(lease) }
        delivered.signal()
      })
    var camera = PipelineNode(id: "camera", stage: .pushed(track: 0))
    camera.pool = pool.id
    var pipeline = Pipeline(
      name: name, nodes: [camera, PipelineNode(id: "sink", stage: sink)],
      edges: [PipelineEdge("camera → sink")])
    pipeline.pools = [pool]
    return pipeline
  }
}

import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRuntime

/// A live source whose pool lets its frames wait for a buffer.
@Suite struct WaitingSourceTests {
  @Test func `a frame waits until a sink releases its buffer, and the record repeats every line`()
    throws
  {
    let held = Mutex<[FrameLease]>([])
    let delivered = DispatchSemaphore(value: 0)
    let sink = AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]),
      body: .sink { delivery in
        guard let lease = delivery.lease else { return }
        held.withLock { $0.append(lease) }
        delivered.signal()
      })
    var camera = PipelineNode(id: "camera", stage: .pushed(track: 0))
    camera.pool = "frames"
    var pipeline = Pipeline(
      name: "waiting", nodes: [camera, PipelineNode(id: "sink", stage: sink)],
      edges: [PipelineEdge("camera → sink")])
    pipeline.pools = [
      PipelinePool(id: "frames", capacity: 1, wait: .seconds(3_600), driverFrames: 1)
    ]
    let frames = ManyTracks(readers: [.at(rate: 1_000, count: 4)])
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: frames.live, catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    for sequence in 0..<4 {
      let entry = try frames.entries(of: 0, sequences: sequence..<sequence + 1)[0]
      session.push(entry, try frames.frame(entry.id))
    }
    // No buffer comes back before all four frames are there, so what becomes of them is certain.
    for _ in 0..<3 {
      delivered.wait()
      held.withLock { leases in
        for lease in leases { lease.end() }
        leases = []
      }
    }
    let outcome = try session.finish()
    #expect(outcome.headline.delivered == 3 && outcome.lostBeforeCapture == 1)
    let lines = kept.kept.decisions.compactMap { DecisionLine(parsing: $0) }
    #expect(
      lines.filter { $0.node == "camera" }.map {
        "\($0.frame?.sequence ?? -1) \($0.kind) \($0["reason"] ?? "-")"
      } == [
        "1 wait pool", "2 wait turn", "3 lost wait", "1 waited -", "2 wait pool", "2 waited -",
      ])
    let again = try Reenacted(pipeline, frames: frames, origin: 0, events: kept.kept.events)
    #expect(again.decisions == kept.kept.decisions)
  }
}

import Foundation
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
    let leases = HeldLeases()
    let pipeline = leases.pipeline(
      "waiting",
      pool: PipelinePool(id: "frames", capacity: 1, wait: .seconds(3_600), driverFrames: 1))
    let frames = ManyTracks(readers: [.at(rate: 1_000, count: 4)])
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: frames.live, catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    for sequence in 0..<4 {
      let entry = try frames.entries(of: 0, sequences: sequence..<sequence + 1)[0]
      session.push(entry, try frames.frame(entry.id))
    }
    // No buffer comes back before all four frames are there, so their fates are certain.
    for _ in 0..<3 {
      leases.delivered.wait()
      leases.held.withLock { held in
        for lease in held { lease.end() }
        held = []
      }
    }
    let outcome = try session.finish()
    #expect(session.counts.waits == outcome.waits)
    #expect(outcome.headline.delivered == 3 && outcome.lostBeforeCapture == 1)
    let waits = try #require(outcome.waits.first)
    #expect(outcome.waits.count == 1 && waits.source == "camera")
    #expect(waits.waited == 2 && waits.lost == 1)
    #expect(waits.nanosecondsMax > 0 && waits.nanosecondsMax <= waits.nanoseconds)
    let lines = kept.kept.decisions.compactMap { DecisionLine(parsing: $0) }
    #expect(
      lines.filter { $0.node == "camera" }.map {
        "\($0.frame?.sequence ?? -1) \($0.kind) \($0["reason"] ?? "-")"
      } == [
        "1 wait pool", "2 wait turn", "3 lost wait", "1 waited -", "2 wait pool", "2 waited -",
      ])
    let again = try Reproduced(pipeline, frames: frames, origin: 0, events: kept.kept.events)
    #expect(again.decisions == kept.kept.decisions)
    #expect(again.waits == outcome.waits)
  }
}

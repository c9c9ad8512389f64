import Foundation
import Retake
import RetakeBuffers
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

@testable import RetakeStages

/// Ignores the reports of a run.
private final class Unheard: RunObserver {
  func finished(_ frame: FinishedFrame) {}
}

/// Pools whose memory is made before the first frame.
@Suite struct PreallocatedPoolTests {
  private let tracks = [LiveTrack(format: .nv12, width: 640, height: 480)]

  private func camera(preallocate: Bool) -> Pipeline {
    Pipeline.named("camera").source(.session()).pool("frames")
      .pool("frames", capacity: 3, preallocate: preallocate).luminance().results()
  }

  @Test func `a live pool has the memory of its frames before the first one`() async throws {
    let lazy = try LiveSession(
      camera(preallocate: false), tracks: tracks, catalog: StageRegistry.builtIn)
    #expect(lazy.memory.pools[0].bytes == 0)
    _ = try await lazy.stop()

    let session = try LiveSession(
      camera(preallocate: true), tracks: tracks, catalog: StageRegistry.builtIn)
    let pool = session.memory.pools[0]
    let bytes = pool.bytes
    #expect(bytes >= 3 * 640 * 480 * 3 / 2)
    let frames = (0..<3).map { _ in
      session.makeFrame(format: .nv12, width: 640, height: 480).finish()
    }
    #expect(pool.memory.made == 0 && pool.memory.reused == 3 && pool.bytes == bytes)
    withExtendedLifetime(frames) {}
    _ = try await session.stop()
  }

  @Test func `a stage's pool has it before the first frame of a replay, and decides the same`()
    throws
  {
    func run(preallocate: Bool) throws -> (outcome: RunOutcome, memory: PoolStore.Memory) {
      let scene = SyntheticOptions(scene: .figures, width: 64, height: 48, frames: 40)
      let pipeline = Pipeline.named("copies").source(.synthetic(scene))
        .copy().pool("copies").pool("copies", capacity: 4, preallocate: preallocate)
        .luminance().cost(.fixed(.milliseconds(70))).results()
      let memory = try GraphPlan(pipeline).memory(isVirtual: true)
      var options = RunOptions(mode: .simulate, workers: 0)
      options.memory = memory
      let prepared = try PreparedRun(pipeline, catalog: StageRegistry.builtIn)
      let outcome = try prepared.run(options, observer: Unheard())
      return (outcome, memory.pools[0].memory)
    }
    let (first, second) = (try run(preallocate: false), try run(preallocate: true))
    #expect(first.memory.made > 0)
    #expect(second.memory.made == 0 && second.memory.reused > 0, "\(second.memory)")
    #expect(first.outcome.decisionDigest == second.outcome.decisionDigest)
    #expect(first.outcome.pools.isEmpty == second.outcome.pools.isEmpty)
  }

  @Test func `a document has it only if it is set`() throws {
    for preallocate in [false, true] {
      let pipeline = camera(preallocate: preallocate)
      let text = try PipelineDocument.json(of: pipeline).canonicalText
      #expect(text.contains(#""preallocate":true"#) == preallocate)
      let read = try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
      #expect(read.digest == pipeline.digest && read.pools == pipeline.pools)
    }
  }
}

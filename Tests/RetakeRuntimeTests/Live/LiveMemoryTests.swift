import Dispatch
import RetakeBuffers
import RetakeGraph
import Testing

@testable import RetakeRuntime

/// The memory of the frames of a live run.
@Suite struct LiveMemoryTests {
  private static let track = LiveTrack(format: .gray, width: 4, height: 2)

  private func pipeline(
    _ nodes: [PipelineNode], _ pool: PipelinePool
  ) -> Pipeline {
    var camera = PipelineNode(id: "camera", stage: .pushed(track: 0))
    camera.pool = pool.id
    let edges = zip([camera] + nodes, nodes).map { PipelineEdge(from: $0.id, to: $1.id) }
    return Pipeline(name: "memory", nodes: [camera] + nodes, edges: edges, pools: [pool])
  }

  /// Holds scalars until the gate is open.
  private func hold(_ gate: Gate) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "hold", version: 1, role: .pure, input: .scalars, output: .scalars),
      options: .object([:]),
      body: .pure { input, _ in
        gate.pass()
        return .success(input)
      })
  }

  /// The test would wait for ever if the frame was kept until it has an outcome at the sink.
  @Test func `the input of a stage is released when its output is there`() throws {
    let gate = Gate()
    let session = try LiveSession(
      pipeline(
        [
          .stage("sum", AnyStage(Brightness())), .stage("hold", hold(gate)), .sink(),
        ], PipelinePool(id: "frames", capacity: 2)),
      tracks: [Self.track], options: LiveOptions(workers: 2))
    let released = DispatchSemaphore(value: 0)
    let pixels = Frame(format: .gray, width: 4, height: 2, planes: [Array(repeating: 1, count: 8)])
    session.push(
      Frame(
        format: .gray, width: 4, height: 2,
        storage: FrameStorage(planes: pixels.storage.planes) {
          withExtendedLifetime(pixels) {}
          released.signal()
        }))
    gate.waitUntilEntered()
    released.wait()
    gate.open()
    #expect(try session.finish().headline.delivered == 1)
  }

  @Test func `a pool that shrinks in a live run gives its memory back`() throws {
    let delivered = DispatchSemaphore(value: 0)
    let sink = AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in delivered.signal() })
    let session = try LiveSession(
      pipeline(
        [.stage("sum", AnyStage(Brightness())), PipelineNode(id: "sink", stage: sink)],
        PipelinePool(id: "frames", capacity: 8, adaptive: PoolSizing())),
      tracks: [Self.track])
    let pool = session.memory.pools[0]
    let side = 256
    func made() -> Frame {
      var frame = session.makeFrame(format: .gray, width: side, height: side)
      frame.forEachRow(of: 0) { _, bytes in
        for x in bytes.indices { bytes[x] = 1 }
      }
      return frame.finish()
    }
    do {
      let eight = (0..<8).map { _ in made() }
      withExtendedLifetime(eight) {}
    }
    let one = pool.bytes / 8
    #expect(one >= side * side && pool.report.inUse == 0 && pool.size == 8)
    session.push(.thermal(.serious))
    session.push(made())
    delivered.wait()
    // The frame was decided after the heat.
    #expect(pool.size == 4 && pool.bytes <= 4 * one)
    #expect(try session.finish().headline.delivered == 1)
    #expect(pool.memory.made == 8 && pool.memory.bytesMost == 8 * one)
  }
}

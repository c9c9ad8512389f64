import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

/// Stages that lease the memory of their outputs.
@Suite struct LeasedOutputRunTests {
  /// Adds a constant to each sample, in memory of its node's pool.
  private struct Shifted: PureStage {
    static let kind = "shifted"
    init() {}

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      var output = context.makeFrame(like: frame)
      output.copyPixels(of: frame)
      output.forEachRow(of: 0) { _, bytes in
        for x in bytes.indices { bytes[x] &+= 3 }
      }
      return output.finish()
    }
  }

  /// Writes rows of one value, and leaves the last row as it was unless it has a value for it.
  private struct Rows: PureStage {
    static let kind = "rows"
    var last: UInt8?
    init() {}
    init(last: UInt8?) { self.last = last }

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      var output = context.makeFrame(like: frame)
      output.forEachRow(of: 0) { row, bytes in
        guard let value = row < frame.height - 1 ? 5 : last else { return }
        for x in bytes.indices { bytes[x] = value }
      }
      return output.finish()
    }
  }

  /// A buffer of the kind that a program without Retake would pool.
  private final class OwnBuffer: @unchecked Sendable {
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
    deinit { bytes.deallocate() }
  }

  /// Leases its output from a private pool of six buffers, and fails if the pool is empty.
  private struct OwnPool: PureStage {
    static let kind = "own-pool"
    let pool = BufferPool("own", capacity: 6) { OwnBuffer() }
    init() {}

    func process(_ frame: Frame, _ context: StageContext) throws -> Frame {
      guard let lease = (try? pool.lease(for: "own")) ?? nil else {
        throw StageError(code: "own.empty", message: "all six are in use")
      }
      for (index, byte) in frame.bytes(of: 0).enumerated() { lease.buffer.bytes[index] = byte &+ 1 }
      let plane = FrameStorage.Plane(base: UnsafePointer(lease.buffer.bytes), stride: 4)
      return Frame(
        id: frame.id, timestamp: frame.timestamp, format: .gray, width: 4, height: 2,
        storage: FrameStorage(planes: [plane]) { lease.end() })
    }
  }

  private func chain(_ stages: [AnyStage], frames: Int = 300) -> Pipeline {
    let nodes = stages.enumerated().map { index, stage in
      PipelineNode.stage("s\(index)", stage).with { if index == 1 { $0.pool = "frames" } }
    }
    let edges = (["camera"] + stages.indices.map { "s\($0)" } + ["sink"]).joined(separator: " → ")
    return Pipeline(
      [.source(.at(rate: 30, count: frames))] + nodes + [.sink()], [edges],
      pools: [PipelinePool(id: "frames", capacity: 2)])
  }

  private var shifts: Pipeline {
    chain([AnyStage(Shifted()), AnyStage(Shifted()), AnyStage(Shifted())], frames: 60)
  }

  @Test(arguments: [RunOptions.Mode.everyFrame, .simulate])
  func `leased outputs are the same with any number of workers, poisoned or not`(
    mode: RunOptions.Mode
  ) throws {
    var expected: RunPrint?
    for options in RunOptions.ways(mode: mode, seed: 7) {
      for isPoisoned in [false, true] {
        var options = options
        options.poisonsMemory = isPoisoned
        let print = try RunPrint(shifts, options)
        let difference = expected.flatMap { print.difference(from: $0) }
        #expect(difference == nil, "\(options.workers) workers, poisoned \(isPoisoned)")
        expected = expected ?? print
      }
    }
    #expect(expected?.frames.count == 60)
  }

  @Test func `only the memory of a run with programs is shared with them`() throws {
    let program = AnyStage(
      signature: StageSignature(
        kind: AnyStage.processKind, version: 1, role: .pure, input: .frame, output: .frame),
      options: .object([:]), body: .pure { value, _ in .success(value) })
    for (stage, isShared) in [(AnyStage(Shifted()), false), (program, true)] {
      let memory = try GraphPlan(chain([AnyStage(Shifted()), stage])).memory(isVirtual: true)
      #expect((memory.pools + [memory.shared]).allSatisfy { $0.isShared == isShared })
    }
  }

  @Test func `the memory of outputs is used again, and what is beyond a pool is counted`() throws {
    let pipeline = shifts
    let memory = RunMemory(pools: [("frames", 2)], poolOfNode: ["s1": 0])
    var options = RunOptions(mode: .everyFrame, workers: 0)
    options.memory = memory
    _ = try pipeline.noted(options)
    let report = memory.pools[0].report
    #expect(report.stages.map(\.stage) == ["s1"] && report.stages[0].leased == 60)
    #expect(report.inUse == 0 && report.stalls == 0)
    #expect(memory.pools[0].memory.made + memory.pools[0].memory.reused == 60)
    #expect(memory.shared.report.stages.map(\.stage) == ["camera", "s0", "s2"])
    #expect(memory.shared.memory.reused > 100)
    // Small memory, of one size: no more waits than the pool has buffers.
    #expect(memory.pools[0].bytes <= 2 * 192)
  }

  @Test(arguments: [RunOptions.Mode.everyFrame, .simulate], [0, 1, 2, 4, 8])
  func `a stage with six buffers of its own works in each replay`(
    mode: RunOptions.Mode, workers: Int
  ) throws {
    let pipeline = chain([AnyStage(OwnPool()), AnyStage(Shifted()), AnyStage(OwnPool())])
    let (notes, outcome) = try pipeline.noted(RunOptions(mode: mode, workers: workers))
    #expect(outcome.failureCount == 0, "\(outcome.failures.first?.message ?? "")")
    #expect(notes.frames.count == 300 && outcome.headline.delivered == 300)
  }

  @Test func `a row that a stage leaves shows where memory is poisoned`() throws {
    func digests(last: UInt8?, isPoisoned: Bool) throws -> [[NodeDigest]] {
      let pipeline = chain([AnyStage(Shifted()), AnyStage(Rows(last: last))], frames: 12)
      var options = RunOptions(mode: .everyFrame, workers: 2)
      options.poisonsMemory = isPoisoned
      return try pipeline.noted(options).notes.frames.map(\.digests)
    }
    let poisoned = try digests(last: nil, isPoisoned: true)
    #expect(poisoned.count == 12)
    // Whatever the memory had before: the output of a stage is the same as without poison.
    #expect(try poisoned == digests(last: 0xA5, isPoisoned: false))
    for (one, other) in zip(poisoned, try digests(last: 0xA6, isPoisoned: true)) {
      #expect(one.dropLast() == other.dropLast() && one.last != other.last)
    }
  }
}

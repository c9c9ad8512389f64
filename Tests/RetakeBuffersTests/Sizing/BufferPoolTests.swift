import Testing

@testable import RetakeBuffers

/// A block of samples, as an audio filter fills it.
final class AudioBlock: Sendable {
  let samples: [Float]
  init(samples: Int) { self.samples = Array(repeating: 0, count: samples) }
}

/// A packet from a network.
struct Packet: Hashable, Sendable {
  var bytes: [UInt8]
}

@Suite struct BufferPoolTests {
  /// Counts the buffers that a pool creates, and can be made to fail.
  private final class Maker<Buffer: Sendable>: Sendable {
    private let state = Locked((made: 0, isBroken: false))
    let one: @Sendable () -> Buffer
    init(_ one: @escaping @Sendable () -> Buffer) { self.one = one }

    var made: Int { state.withLock { $0.made } }
    func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    func make() throws -> Buffer {
      let isBroken = state.withLock { state in
        state.made += 1
        return state.isBroken
      }
      if isBroken { throw NoMemory() }
      return one()
    }
  }

  private struct NoMemory: Error {}

  @Test func `blocks of sound are made as they are needed and used again`() throws {
    let maker = Maker { AudioBlock(samples: 1_024) }
    let pool = BufferPool("audio", capacity: 3, make: maker.make)
    for _ in 0..<5 {
      let lease = try #require(try pool.lease(for: "filter"))
      #expect(lease.buffer.samples.count == 1_024)
      lease.end()
    }
    #expect(maker.made == 1)
    let held = try (0..<3).map { _ in try #require(try pool.lease(for: "filter")) }
    #expect(try pool.lease(for: "meter") == nil)
    #expect(maker.made == 3)
    let report = pool.report
    #expect(report.stalls == 1 && report.peak == 3 && report.inUse == 3 && report.size == 3)
    #expect(report.stages == [counts("filter", leased: 8, ended: 5)])
    held.forEach { $0.end() }
    #expect(pool.report.inUse == 0 && pool.report.faults.isEmpty)
  }

  private func counts(
    _ stage: String, leased: Int, ended: Int, leaked: Int = 0, endedTwice: Int = 0
  ) -> PoolReport.Stage {
    PoolReport.Stage(
      stage: stage, leased: leased, ended: ended, leaked: leaked, endedTwice: endedTwice)
  }

  @Test func `a lease that is forgotten is a leak of its stage, and its buffer is not used again`()
    throws
  {
    let maker = Maker { Packet(bytes: [1, 2, 3]) }
    let pool = BufferPool("packets", capacity: 1, make: maker.make)
    var lease = try pool.lease(for: "jitter")
    #expect(lease?.buffer == Packet(bytes: [1, 2, 3]))
    lease = nil
    #expect(pool.report.faults == ["'jitter' leaked 1 of its leases"])
    lease = try pool.lease(for: "decoder")
    #expect(lease != nil && maker.made == 2)
    lease?.end()
    #expect(
      pool.report.stages == [
        counts("decoder", leased: 1, ended: 1), counts("jitter", leased: 1, ended: 0, leaked: 1),
      ])
  }

  @Test func `a lease that ends twice is named by its stage and counted once`() throws {
    let pool = BufferPool("packets", capacity: 2) { Packet(bytes: []) }
    let lease = try #require(try pool.lease(for: "jitter"))
    let other = try #require(try pool.lease(for: "decoder"))
    lease.end()
    lease.end()
    #expect(pool.report.faults == ["'jitter' ended 1 leases twice"])
    #expect(pool.report.inUse == 1)
    other.end()
    #expect(pool.report.stages.map(\.held) == [0, 0])
  }

  @Test func `an adaptive pool follows the load, and lets go of what is too much`() throws {
    let maker = Maker { AudioBlock(samples: 1) }
    var sizing = PoolSizing()
    sizing.off = [.breaker]
    let pool = BufferPool("audio", sizing: sizing, capacity: 4, make: maker.make)
    var time: Int64 = 0
    pool.advance(to: time)
    func windows(_ count: Int, holding: Int) throws {
      for _ in 0..<count {
        let held = try (0..<holding).compactMap { _ in try pool.lease(for: "filter") }
        held.forEach { $0.end() }
        time += 500_000_000
        pool.advance(to: time)
      }
    }
    try windows(40, holding: 9)
    #expect(pool.report.size == 12 && pool.report.peak == 9)
    try windows(60, holding: 1)
    #expect(pool.report.size == 4)
    let made = maker.made
    try windows(1, holding: 4)
    #expect(maker.made == made, "as many as the pool has were kept")
    #expect(pool.ranShortOfMemory(at: time + 1).resize?.to == 3)
    try windows(1, holding: 4)
    #expect(pool.report.size == 3 && pool.report.stalls > 0)
  }

  @Test func `after a buffer could not be made the pool is made anew`() throws {
    let maker = Maker { Packet(bytes: [0]) }
    let pool = BufferPool("packets", sizing: PoolSizing(), capacity: 8, make: maker.make)
    pool.advance(to: 0)
    let old = try #require(try pool.lease(for: "jitter"))
    maker.setBroken(true)
    let error = #expect(throws: PoolError.self) { try pool.lease(for: "jitter") }
    #expect(error?.code == "buffers.pool.allocation")
    #expect(error?.description.contains("'packets'") == true)
    #expect(pool.report.allocationFailures == 1 && pool.report.inUse == 1)
    maker.setBroken(false)
    let steps = pool.advance(to: 500_000_000)
    #expect(steps.map(\.resize?.reason) == [.recreate])
    old.end()
    let made = maker.made
    try #require(try pool.lease(for: "jitter")).end()
    #expect(maker.made == made + 1, "the old buffer is not used again")
  }

  @Test func `quiet hours are skipped`() throws {
    let pool = BufferPool("audio", sizing: PoolSizing()) { AudioBlock(samples: 1) }
    pool.advance(to: 0)
    try #require(try pool.lease(for: "filter")).end()
    pool.advance(to: 100 * 365 * 86_400 * 1_000_000_000)
    #expect(pool.report.size == 4 && pool.report.resizes == 4)
  }

  @Test func `a pool that adapts is not made with options out of their ranges`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var sizing = PoolSizing()
      sizing.windowNanoseconds = 0
      _ = BufferPool("audio", sizing: sizing) { AudioBlock(samples: 1) }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("window is 10ms to 60s"), "\(said)")
    await #expect(processExitsWith: .failure) {
      var sizing = PoolSizing()
      (sizing.min, sizing.max) = (12, 4)
      _ = BufferPool("audio", sizing: sizing) { AudioBlock(samples: 1) }
    }
  }

  @Test func `eight threads take and give back, and the book balances`() async throws {
    let pool = BufferPool("audio", sizing: PoolSizing(), capacity: 4) { AudioBlock(samples: 1) }
    let rounds = 2_000
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for round in 0..<rounds {
            if let lease = try? pool.lease(for: "stage \(thread)") { lease.end() }
            if thread == 0 { pool.advance(to: Int64(round) * 50_000_000) }
          }
        }
      }
    }
    let report = pool.report
    #expect(report.inUse == 0 && report.faults.isEmpty)
    #expect(report.stages.reduce(0) { $0 + $1.leased } + report.stalls == 8 * rounds)
    #expect(report.stages.allSatisfy { $0.leased == $0.ended })
  }
}

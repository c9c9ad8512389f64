import RetakeBench
import RetakeBuffers
import RetakeRuntime
import RetakeTimePlane

/// Thousands of sessions with a live `BufferPool` in virtual time, in which buffers cannot be made
/// once memory is fragmented: until the pool is made again, no new buffer can be made at all.
struct PoolFailures: Sendable {
  static let sessions = 2_000
  private static let seed: UInt64 = 6_001
  private static let seconds = 60
  private static let fps = 30
  /// A new buffer finds the memory fragmented with odds of 1 in this number.
  private static let oddsOfFailure: UInt64 = 1_000

  /// All sessions with one pool.
  struct Row: Sendable {
    var pool: String
    /// Buffers that were made.
    var made = 0
    /// Buffers that could not be made; each loses a frame.
    var failed = 0
    /// Sessions with a failure, and the affected sessions in which buffers could be made again.
    var affected = 0
    var recovered = 0
    /// From the first failure to the new buffers, in nanoseconds.
    var longest: Int64 = 0
  }

  private(set) var rows: [Row] = []

  /// All sessions, run once for all that ask.
  static let all = Result { try PoolFailures { false } }

  init(isInterrupted: () -> Bool) throws {
    for (name, off) in [("4-12", Set<PoolSizing.Policy>()), ("without recreate", [.recreate])] {
      var row = Row(pool: name)
      for session in 0..<Self.sessions {
        if isInterrupted() { throw RuntimeError.interrupted }
        var sizing = PoolSizing()
        sizing.off = off
        var run = Session(session, sizing)
        try run.run(into: &row)
      }
      rows.append(row)
    }
  }

  /// Sessions with a failure in the first row, in hundredths of a percent.
  var affectedPerTenThousand: Int {
    rows[0].affected * 10_000 / Self.sessions
  }

  /// Whether every affected session of the first row recovered with new buffers.
  var allRecovered: Bool { rows[0].recovered == rows[0].affected }

  var result: PoolStudyResult {
    var table = StudyTable(columns: [
      .word("pool"), .init("sessions"), .init("made"), .init("failed"), .init("affected"),
      .init("of all", key: "affectedPercent"), .init("recovered"),
      .init("after", key: "recoveredAfterMilliseconds"),
    ])
    table.rows = rows.map { row in
      [
        .word(row.pool), .count(Self.sessions), .count(row.made), .count(row.failed),
        .count(row.affected), .share(row.affected * 10_000 / Self.sessions),
        .count(row.recovered),
        row.recovered > 0
          ? .decimal(TextTable.tenthsOfMilliseconds(row.longest), places: 1, unit: " ms") : .none,
      ]
    }
    return PoolStudyResult(text: table.lines.joined(separator: "\n"), json: table.json)
  }

  static func bits(_ session: Int, _ item: Int, _ purpose: Draw.Purpose) -> UInt64 {
    Draw.bits(
      seed: seed, node: UInt64(fps), sequence: session, item: item, purpose: purpose)
  }
}

extension PoolFailures {
  /// Memory of which pieces become unusable.
  private final class Memory: Sendable {
    private struct State: Sendable {
      var made = 0
      var failed = 0
      var isFragmented = false
    }

    private struct Fragmented: Error {}

    private let state = Locked(State())
    private let session: Int

    init(session: Int) {
      self.session = session
    }

    var counts: (made: Int, failed: Int) { state.withLock { ($0.made, $0.failed) } }
    var isFragmented: Bool { state.withLock { $0.isFragmented } }

    func makeBuffer() throws -> Int {
      try state.withLock { state in
        let draw = PoolFailures.bits(session, state.made + state.failed, .perturbation)
        if draw % PoolFailures.oddsOfFailure == 0 { state.isFragmented = true }
        guard !state.isFragmented else {
          state.failed += 1
          throw Fragmented()
        }
        state.made += 1
        return state.made
      }
    }

    /// Ends the failure: the pool has made all buffers again and has released the old buffers.
    func repair() { state.withLock { $0.isFragmented = false } }
  }

  /// A minute of a camera: busy and idle in turns, for times that are drawn.
  private struct Session {
    let index: Int
    let memory: Memory
    let pool: BufferPool<Int>
    var held: [(lease: BufferLease<Int>, end: Int64)] = []

    init(_ index: Int, _ sizing: PoolSizing) {
      let memory = Memory(session: index)
      self.index = index
      self.memory = memory
      pool = BufferPool("frames", sizing: sizing) { try memory.makeBuffer() }
    }

    mutating func run(into row: inout Row) throws {
      var (lastEnd, failedAt, recovery) = (Int64(0), Int64?.none, Int64?.none)
      for frame in 0..<PoolFailures.seconds * PoolFailures.fps {
        let now = Int64(frame) * 1_000_000_000 / Int64(PoolFailures.fps)
        while let first = held.first, first.end <= now { held.removeFirst().lease.end() }
        if pool.advance(to: now).contains(where: { $0.resize?.reason == .recreate }) {
          memory.repair()
        }
        do {
          guard let lease = try pool.lease(for: "ocr") else { continue }
          lastEnd = max(lastEnd, now) + cost(of: frame)
          held.append((lease, lastEnd))
          // A lease of a buffer from before the failure does not show that the pool recovered.
          if let failedAt, recovery == nil, !memory.isFragmented { recovery = now - failedAt }
        } catch {
          failedAt = failedAt ?? now
        }
      }
      for (lease, _) in held { lease.end() }
      held = []
      row.made += memory.counts.made
      row.failed += memory.counts.failed
      if failedAt != nil { row.affected += 1 }
      guard let recovery else { return }
      row.recovered += 1
      row.longest = max(row.longest, recovery)
    }

    /// 25-50 ms in a busy span, else 2-4 ms. Spans of 2 seconds are busy or idle by a draw.
    private func cost(of frame: Int) -> Int64 {
      let span = frame / (2 * PoolFailures.fps)
      let isBusy = PoolFailures.bits(index, span, .cost) % 2 == 0
      let bits = PoolFailures.bits(index, 1_000_000 + frame, .cost)
      let range: ClosedRange<Int64> = isBusy ? 25_000_000...50_000_000 : 2_000_000...4_000_000
      return range.lowerBound
        + Int64(bits.multipliedFullWidth(by: UInt64(range.upperBound - range.lowerBound) + 1).high)
    }
  }
}

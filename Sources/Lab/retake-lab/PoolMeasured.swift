import RetakeBuffers
import RetakeRuntime

/// Durations of the operations of a live pool on this machine, in real time. The figures differ
/// from run to run.
struct PoolMeasured: Sendable {
  private static let repeats = 100
  /// New memory is not reused, so the memory of all these buffers exists at once.
  private static let freshBuffers = 24
  /// 1920×1080 at 4 bytes.
  private static let bufferBytes = 8_294_400

  struct Row: Sendable {
    var what: String
    /// Sorted, in nanoseconds.
    var times: [Int64]
  }

  private(set) var rows: [Row] = []

  init() throws {
    let clock = WallClock()
    let fresh = try Self.freshTimes(clock)
    var (made, reused, window): ([Int64], [Int64], [Int64]) = ([], [], [])
    for _ in 0..<Self.repeats {
      let pool = BufferPool("frames", sizing: PoolSizing(), capacity: 8) {
        Self.buffer
      }
      let start = clock.monotonicNanoseconds
      let lease = try pool.lease(for: "resize")
      let between = clock.monotonicNanoseconds
      made.append(between - start)
      lease?.end()
      let again = clock.monotonicNanoseconds
      try pool.lease(for: "resize")?.end()
      let end = clock.monotonicNanoseconds
      reused.append(end - again)
      pool.advance(to: 0)
      let before = clock.monotonicNanoseconds
      pool.advance(to: 500_000_000)
      window.append(clock.monotonicNanoseconds - before)
    }
    rows = [
      Row(what: "a new buffer of 1920x1080 BGRA, of new memory", times: fresh),
      Row(what: "the same, of memory that was released before", times: made.sorted()),
      Row(what: "a lease of an existing buffer, and its end", times: reused.sorted()),
      Row(what: "the end of a window", times: window.sorted()),
    ]
  }

  /// Filled with 1 instead of 0, because memory that was never written costs no time yet.
  private static var buffer: [UInt8] { [UInt8](repeating: 1, count: bufferBytes) }

  /// Sorted times of leases whose memory comes from the system.
  private static func freshTimes(_ clock: WallClock) throws -> [Int64] {
    let pool = BufferPool("frames", capacity: freshBuffers) { buffer }
    var leases: [BufferLease<[UInt8]>] = []
    var times: [Int64] = []
    for _ in 0..<freshBuffers {
      let start = clock.monotonicNanoseconds
      guard let lease = try pool.lease(for: "resize") else { break }
      times.append(clock.monotonicNanoseconds - start)
      leases.append(lease)
    }
    for lease in leases { lease.end() }
    return times.sorted()
  }

  private static func ranks(_ sorted: [Int64]) -> [Int64] {
    [sorted[sorted.count / 2], sorted[sorted.count * 95 / 100], sorted[sorted.count - 1]]
  }

  var result: PoolStudyResult {
    var table = StudyTable(columns: [
      .init("measured on this machine", key: "what", isWord: true),
      .init("p50 us", key: "p50Microseconds"), .init("p95 us", key: "p95Microseconds"),
      .init("max us", key: "maxMicroseconds"),
    ])
    table.rows = rows.map { row in
      [.word(row.what)]
        + Self.ranks(row.times).map { .decimal(Int($0 + 5) / 10, places: 2) }
    }
    return PoolStudyResult(text: table.lines.joined(separator: "\n"), json: table.json)
  }
}

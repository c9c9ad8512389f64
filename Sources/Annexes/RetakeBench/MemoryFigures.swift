import RetakeCore
import RetakeRuntime

/// The resident memory of a process with one pool, under the load of `MemoryTrial`.
package struct MemoryFigures: Hashable, Sendable, Codable {
  /// One part of the load.
  package struct Part: Hashable, Sendable, Codable {
    package var phase: String
    /// Frames at which memory was measured.
    package var frames = 0
    /// Over the frames, in bytes.
    package var meanBytes = 0
    package var mostBytes = 0
    /// At the last frame.
    package var endBytes = 0
    private var sum = 0

    private enum CodingKeys: CodingKey { case phase, frames, meanBytes, mostBytes, endBytes }

    init(phase: String) { self.phase = phase }

    mutating func add(_ bytes: Int) {
      frames += 1
      sum += bytes
      meanBytes = sum / frames
      mostBytes = max(mostBytes, bytes)
      endBytes = bytes
    }
  }

  package var pool: String
  package var speed: Int
  package var parts: [Part] = []
  /// Frames that arrived.
  package var frames = 0
  /// Frames that found no buffer.
  package var stalls = 0
  /// Changes of the pool's size.
  package var resizes = 0
  /// The pool's size at the end, in buffers.
  package var size = 0

  init(pool: String, speed: Int) { (self.pool, self.speed) = (pool, speed) }

  mutating func finish(_ outcome: RunOutcome, size: Int) {
    self.size = size
    frames = outcome.headline.captured + outcome.lostBeforeCapture
    stalls = outcome.lostBeforeCapture
    resizes = outcome.pools.reduce(0) { $0 + $1.resizes }
  }

  /// Over all frames.
  package var meanBytes: Int {
    parts.reduce(0) { $0 + $1.meanBytes * $1.frames } / max(1, parts.reduce(0) { $0 + $1.frames })
  }

  private static let headings = [
    "pool", "stalls", "", "mean MB", "text", "peak", "idle", "at the end", "buffers", "resizes",
  ]

  /// A table for people, in columns.
  package static func table(_ rows: [MemoryFigures]) -> String {
    TextTable(headings: headings, rows: rows.map(\.cells), wordColumns: [0]).lines
      .joined(separator: "\n")
  }

  private var cells: [String] {
    let percent = FixedPoint.padded((stalls * 10_000 + frames / 2) / max(1, frames), digits: 2)
    let most = parts.map { TextTable.megabytes($0.mostBytes) }
    return [pool, "\(stalls)", percent + " %", TextTable.megabytes(meanBytes)] + most
      + [TextTable.megabytes(parts.last?.endBytes ?? 0), "\(size)", "\(resizes)"]
  }
}

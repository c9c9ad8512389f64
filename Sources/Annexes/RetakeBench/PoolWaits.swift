import RetakeCore

/// How long frames waited if the camera waits for a buffer. Times are in nanoseconds.
package struct PoolWaits: Hashable, Sendable, Encodable {
  /// A frame that has a buffer within this time is prompt.
  static let promptNanoseconds: Int64 = 5_000_000

  /// Frames that were captured after a wait.
  package var captured: Int
  /// Frames that waited to the limit, or that came while another one waited.
  package var lost: Int
  /// The nearest rank of the waits of captured frames; 0 without such a frame.
  package var median: Int64
  package var p95: Int64
  package var longest: Int64
  /// Frames that had a buffer within 5 ms, in hundredths of a percent of all frames.
  package var promptPerTenThousand: Int

  /// - Parameter stalls: Frames that waited or were lost.
  init(_ waits: [Int64], lost: Int, stalls: Int, frames: Int) {
    let sorted = waits.sorted()
    captured = sorted.count
    self.lost = lost
    median = sorted.nearestRank(percent: 50) ?? 0
    p95 = sorted.nearestRank(percent: 95) ?? 0
    longest = sorted.last ?? 0
    let prompt = frames - stalls + sorted.count { $0 <= Self.promptNanoseconds }
    // Rounded down, so that 100 % are all frames.
    promptPerTenThousand = prompt * 10_000 / max(1, frames)
  }

  static let headings = [
    "load", "pool", "stalls", "", "lost", "p50 ms", "p95 ms", "max ms", "in 5 ms", "mean",
  ]

  /// The cells of a camera that does not wait: each frame that stalls is lost.
  static func cells(withoutWait row: PoolFigures) -> [String] {
    let prompt = (row.frames - row.stalls) * 10_000 / max(1, row.frames)
    return ["\(row.stalls)", "-", "-", "-", FixedPoint.padded(prompt, digits: 2) + " %"]
  }

  var cells: [String] {
    [
      "\(lost)", TextTable.milliseconds(median), TextTable.milliseconds(p95),
      TextTable.milliseconds(longest),
      FixedPoint.padded(promptPerTenThousand, digits: 2) + " %",
    ]
  }
}

import RetakeCompare
import RetakeCore

/// The frames that golden.yml marks as changed and known.
struct ExpectedFrames {
  private var ranges: [(first: FrameID, last: FrameID)] = []

  init(_ marks: [GoldenManifest.Expected], track: Int) {
    for mark in marks {
      let ends = mark.frames.split(separator: "..", omittingEmptySubsequences: false)
        .compactMap { Self.frame($0, track) }
      if let first = ends.first, let last = ends.last { ranges.append((first, last)) }
    }
  }

  private static func frame(_ text: Substring, _ track: Int) -> FrameID? {
    let numbers = text.split(separator: ":").compactMap { Int($0) }
    switch numbers.count {
    case 1: return FrameID(track: track, sequence: numbers[0])
    case 2: return FrameID(track: numbers[0], sequence: numbers[1])
    default: return nil
    }
  }

  /// Whether every finding is about marked frames.
  func cover(_ comparison: Comparison) -> Bool {
    guard comparison.findingCount == comparison.findings.count else { return false }
    return comparison.findings.allSatisfy { finding in
      guard let frame = finding.frame else { return false }
      let last = FrameID(track: frame.track, sequence: frame.sequence + finding.frameCount - 1)
      return ranges.contains { $0.first <= frame && last <= $0.last }
    }
  }
}

import RetakeCompare
import RetakeCore

/// The changes that golden.yml marks as known, each with its frames.
struct ExpectedFrames {
  private struct Mark {
    var mark: GoldenManifest.Expected
    var first: FrameID
    var last: FrameID

    func holds(_ finding: Finding) -> Bool {
      guard let frame = finding.frame else { return false }
      // A finding may cover many lost frames. All of them must be marked, or a run that ends early
      // would be excused by a mark on its first missing frame.
      let end = FrameID(track: frame.track, sequence: frame.sequence + finding.frameCount - 1)
      return first <= frame && end <= last
    }
  }

  private var marks: [Mark] = []

  init(_ marks: [GoldenManifest.Expected], track: Int) {
    for mark in marks {
      // golden.yml has no other form: its reader rejects them.
      guard let frames = Self.span(mark.frames, track: track) else { continue }
      self.marks.append(Mark(mark: mark, first: frames.lowerBound, last: frames.upperBound))
    }
  }

  /// The frames of `120`, `120..130` or `1:120..1:130`; `nil` for any other form.
  static func span(_ text: String, track: Int) -> ClosedRange<FrameID>? {
    let ends = text.split(separator: "..", omittingEmptySubsequences: false)
      .map { frame($0, track) }
    guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2,
      first <= last
    else { return nil }
    return first...last
  }

  private static func frame(_ text: Substring, _ track: Int) -> FrameID? {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard let sequence = numbers.last ?? nil, sequence >= 0 else { return nil }
    switch numbers.count {
    case 1: return FrameID(track: track, sequence: sequence)
    case 2: return numbers[0].map { FrameID(track: $0, sequence: sequence) }
    default: return nil
    }
  }

  /// Whether every finding concerns marked frames.
  func cover(_ comparison: Comparison) -> Bool {
    // Findings beyond the limit are only counted. A mark may or may not cover them, so the case
    // does not pass.
    guard !marks.isEmpty, comparison.findingCount == comparison.findings.count else {
      return false
    }
    return comparison.findings.allSatisfy { finding in marks.contains { $0.holds(finding) } }
  }

  /// The marks with findings, for the report.
  func known(_ comparison: Comparison) -> [KnownChange] {
    marks.filter { mark in comparison.findings.contains { mark.holds($0) } }.map {
      KnownChange(id: $0.mark.id, url: $0.mark.url)
    }
  }

  /// The marks that cover one of the findings.
  func marks(holding findings: [Finding]) -> [GoldenManifest.Expected] {
    marks.filter { mark in findings.contains { mark.holds($0) } }.map(\.mark)
  }

  /// A finding for each mark without a difference: such a mark would hide the next change.
  func vanished(_ comparison: Comparison) -> [Finding] {
    // A difference beyond the limit may be the difference that this mark is about.
    guard comparison.findingCount == comparison.findings.count else { return [] }
    return marks.filter { mark in !comparison.findings.contains { mark.holds($0) } }.map { mark in
      Finding(
        .knownChangeGone, frame: mark.first, golden: mark.mark.frames,
        message: "the known change '\(mark.mark.id)' is gone from the frames "
          + "\(mark.mark.frames); remove its mark from golden.yml")
    }
  }
}

import RetakeCore

/// Boxes without a partner at one sink, held back until there are too many of them.
struct UnmatchedBoxes {
  let allowed: Int
  private(set) var count = 0
  private(set) var first: FrameID?
  private var held: [Finding] = []

  init(allowed: Int) {
    self.allowed = allowed
  }

  /// The findings that become valid now: no finding, all findings so far, or only this finding.
  mutating func add(_ finding: Finding) -> [Finding] {
    count += 1
    first = first ?? finding.frame
    var finding = finding
    finding.allowed = Double(allowed)
    if count <= allowed {
      held.append(finding)
      return []
    }
    defer { held = [] }
    return held + [finding]
  }
}

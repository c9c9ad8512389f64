import RetakeCore

/// Why a decision differs, as far as the decisions tell: the ones before it that differ too, at the
/// same frame or, failing that, at the same node.
struct DecisionChain {
  /// Links of one chain.
  static let linksMax = 4

  private var lastAtFrame: [FrameID: Int] = [:]
  private var lastAtNode: [String: Int] = [:]

  /// Gives each finding, in the order of virtual time, what it follows from.
  mutating func link(_ findings: inout [Finding]) {
    for index in findings.indices {
      let finding = findings[index]
      let before =
        finding.frame.flatMap { lastAtFrame[$0] } ?? finding.node.flatMap { lastAtNode[$0] }
      if let before {
        let cause = findings[before]
        findings[index].because = Array(
          ([cause.message] + cause.because).prefix(Self.linksMax))
      }
      if let frame = finding.frame { lastAtFrame[frame] = index }
      if let node = finding.node { lastAtNode[node] = index }
    }
  }
}

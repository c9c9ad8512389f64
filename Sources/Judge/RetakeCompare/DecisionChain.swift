import RetakeCore

/// Why a decision differs, as far as the decisions show it: the earlier differing decisions at the
/// same frame or, without any, at the same node.
struct DecisionChain {
  /// The most links of one chain.
  static let linksMax = 4

  private var lastAtFrame: [FrameID: Int] = [:]
  private var lastAtNode: [String: Int] = [:]

  /// Sets the causes of each finding. The findings are in the order of virtual time.
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

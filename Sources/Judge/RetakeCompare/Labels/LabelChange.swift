/// The difference between two scores against the same labels.
package struct LabelChange: Hashable, Sendable {
  package enum Word: String, Hashable, Sendable, Codable {
    /// By the sum of the losses; `mixed` if it is the same though frames differ, or if `ap50` says
    /// the opposite.
    case better, worse, mixed, same
  }

  /// Losses that differ by less are equal.
  static let leastDifference = 1e-9

  /// Frames whose loss fell, and rose.
  package var better = 0
  package var worse = 0
  /// The frame whose loss rose most, as it is now; of equal frames the first; `nil` if no loss rose.
  package var worst: FrameLoss?
  package var word = Word.same

  /// Frames are in their order; a frame of only one side is skipped.
  init(from before: [FrameLoss], to after: [FrameLoss]) {
    let old = Dictionary(
      before.map { ($0.frame, $0.loss) }, uniquingKeysWith: { first, _ in first })
    var (sum, most) = (0.0, 0.0)
    for frame in after {
      guard let loss = old[frame.frame] else { continue }
      let change = frame.loss - loss
      guard abs(change) >= Self.leastDifference else { continue }
      sum += change
      if change < 0 { better += 1 } else { worse += 1 }
      if change > most { (worst, most) = (frame, change) }
    }
    if better + worse > 0 {
      word = abs(sum) < Self.leastDifference ? .mixed : sum < 0 ? .better : .worse
    }
  }
}

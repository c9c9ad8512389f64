import RetakeCore

/// The largest errors of masks and embeddings. Other numbers of observations have the measures of
/// detections and scalars.
struct ObservationMeter {
  private typealias Worst = (error: Double, frame: FrameID)

  private var mask: Worst?
  private var embedding: Worst?

  /// - Parameter overlap: Intersection over union of two masks that differ.
  mutating func measureMask(
    overlap: Double, _ rule: SinkRule, _ frame: FrameID
  ) -> ErrorMeter.Measured {
    let error = 1 - overlap
    Self.note(error, frame, in: &mask)
    let isAllowed = rule.mode != .exact && overlap >= rule.maskIoUMin - 1e-9
    let allowed = rule.mode == .exact ? 0 : rule.maskErrorMax
    return ErrorMeter.Measured(error: error, allowed: allowed, isAllowed: isAllowed)
  }

  /// - Parameter distance: Cosine distance of two embeddings that differ; infinite if there is no
  ///   such distance.
  mutating func measureEmbedding(
    distance: Double, _ rule: SinkRule, _ frame: FrameID
  ) -> ErrorMeter.Measured {
    Self.note(distance, frame, in: &embedding)
    // Vectors of one direction and other lengths have the distance 0, and are not equal.
    let isAllowed =
      rule.mode != .exact && rule.cosineMax > 0 && distance <= rule.cosineMax * (1 + 1e-9)
    let allowed = rule.mode == .exact ? 0 : rule.cosineMax
    return ErrorMeter.Measured(error: distance, allowed: allowed, isAllowed: isAllowed)
  }

  private static func note(_ error: Double, _ frame: FrameID, in worst: inout Worst?) {
    guard error > worst?.error ?? 0 else { return }
    worst = (error, frame)
  }

  /// A row for each quantity with an error.
  func headroom(sink: String, _ rule: SinkRule) -> [ErrorHeadroom] {
    [("mask", mask, rule.maskErrorMax), ("embedding", embedding, rule.cosineMax)]
      .compactMap { quantity, worst, allowed in
        worst.map {
          ErrorHeadroom(
            sink: sink, quantity: quantity, largest: $0.error.isFinite ? $0.error : nil,
            allowed: rule.mode == .exact ? 0 : allowed, frame: $0.frame)
        }
      }
  }
}

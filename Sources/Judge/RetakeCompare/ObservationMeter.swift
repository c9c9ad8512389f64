import RetakeCore

/// The errors of masks and embeddings. Other numbers of observations have the measures of detections
/// and scalars.
struct ObservationMeter {
  private enum Quantity: String, CaseIterable {
    case mask, embedding

    func allowed(_ rule: SinkRule) -> Double {
      guard rule.mode != .exact else { return 0 }
      return self == .mask ? rule.maskErrorMax : rule.cosineMax
    }
  }

  private struct Errors {
    var worst = WorstError()
    /// The largest error of the frame that is compared now.
    var current = 0.0
    /// By track.
    var curves: [Int: CurveMeter] = [:]

    mutating func note(_ error: Double, _ frame: FrameID) {
      current = max(current, error)
      worst.note(error, frame)
    }

    mutating func endFrame(_ frame: FrameID) {
      if current > 0 { curves[frame.track, default: CurveMeter()].add(current, at: frame.sequence) }
      current = 0
    }
  }

  /// In the order of the quantities.
  private var errors = Quantity.allCases.map { _ in Errors() }

  /// - Parameter overlap: Intersection over union of two masks that differ.
  mutating func measureMask(
    overlap: Double, _ rule: SinkRule, _ frame: FrameID
  ) -> ErrorMeter.Measured {
    let error = 1 - overlap
    errors[0].note(error, frame)
    let isAllowed = rule.mode != .exact && overlap >= rule.maskIoUMin - 1e-9
    return ErrorMeter.Measured(
      error: error, allowed: Quantity.mask.allowed(rule), isAllowed: isAllowed)
  }

  /// - Parameter distance: Cosine distance of two embeddings that differ; infinite if there is no
  ///   such distance.
  mutating func measureEmbedding(
    distance: Double, _ rule: SinkRule, _ frame: FrameID
  ) -> ErrorMeter.Measured {
    errors[1].note(distance, frame)
    // Vectors of one direction and other lengths have the distance 0, and are not equal.
    let isAllowed =
      rule.mode != .exact && rule.cosineMax > 0 && distance <= rule.cosineMax * (1 + 1e-9)
    return ErrorMeter.Measured(
      error: distance, allowed: Quantity.embedding.allowed(rule), isAllowed: isAllowed)
  }

  /// Adds the errors since the last call to the curves, as one frame.
  mutating func endFrame(_ frame: FrameID) {
    for index in errors.indices { errors[index].endFrame(frame) }
  }

  /// A row for each quantity with an error.
  func headroom(sink: String, _ rule: SinkRule) -> [ErrorHeadroom] {
    zip(Quantity.allCases, errors).compactMap { quantity, errors in
      errors.worst.frame.map {
        ErrorHeadroom(
          sink: sink, quantity: quantity.rawValue,
          largest: errors.worst.error.isFinite ? errors.worst.error : nil,
          allowed: quantity.allowed(rule), frame: $0)
      }
    }
  }

  /// The curves of quantities with an error, in the order of the tracks.
  func errorCurves(sink: String, _ rule: SinkRule) -> [ErrorCurve] {
    zip(Quantity.allCases, errors).flatMap { quantity, errors in
      errors.curves.sorted { $0.key < $1.key }.map { track, meter in
        ErrorCurve(
          sink: sink, quantity: quantity.rawValue, track: track, framesPerBin: meter.framesPerBin,
          largest: meter.largest, least: meter.least, allowed: quantity.allowed(rule))
      }
    }
  }
}

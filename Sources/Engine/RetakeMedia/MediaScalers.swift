package import RetakeBuffers

/// A scaler for many threads: each call borrows its own `MediaScaler`.
package final class MediaScalers: Sendable {
  /// Maximum number of scalers kept for later; beyond that they are created for each call.
  private static let waitingMax = 16

  private let algorithm: MediaScaler.Algorithm?
  private let waiting = Locked<[MediaScaler]>([])

  /// - Parameter algorithm: nil uses area for shrinking, otherwise bilinear.
  package init(algorithm: MediaScaler.Algorithm? = nil) {
    self.algorithm = algorithm
  }

  /// Like `MediaScaler.scale`, from any thread.
  ///
  /// - Throws: `MediaError.scale` if FFmpeg does not support the conversion.
  package func scale(
    _ frame: Frame, width: Int? = nil, height: Int? = nil, format: PixelFormat? = nil
  ) throws(MediaError) -> Frame {
    let scaler = waiting.withLock { $0.popLast() } ?? MediaScaler(algorithm: algorithm)
    defer {
      waiting.withLock { if $0.count < Self.waitingMax { $0.append(scaler) } }
    }
    return try scaler.scale(frame, width: width, height: height, format: format)
  }
}

extension SampleAspect {
  /// The pixels' aspect after scaling, so that the image keeps its shape; square if it does not fit
  /// into 32 bits.
  package func scaled(from old: (width: Int, height: Int), to new: (width: Int, height: Int))
    -> SampleAspect
  {
    let over = Int128(numerator) * Int128(old.width) * Int128(new.height)
    let under = Int128(denominator) * Int128(old.height) * Int128(new.width)
    guard over > 0, under > 0 else { return .square }
    var (a, b) = (over, under)
    // Ends: the remainder gets smaller every time.
    while b != 0 { (a, b) = (b, a % b) }
    guard let numerator = Int32(exactly: over / a), let denominator = Int32(exactly: under / a)
    else { return .square }
    return SampleAspect(numerator, denominator)
  }
}

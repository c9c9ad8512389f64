import RetakeCore

/// How the results of one sink are compared: which differences are allowed.
///
/// 0 is a tolerance and does not mean "unset". The smallest tolerance that allows anything is one
/// precision of the sink.
package struct SinkRule: Hashable, Sendable {
  package enum Mode: String, Hashable, Sendable, Encodable, CaseIterable {
    /// Lines must be equal.
    case exact
    /// Numbers within `scalar` and `score`; detections are compared one by one, in their order.
    case numeric
    /// Detections paired by overlap and identity, then compared within `position` and `score`.
    case boxes
    /// Images by their pixels, as far as golden and run keep them: `psnrMin`, `ssimMin` and
    /// `densestMax` must all hold. Other facts as in `numeric`.
    case pictures
  }

  package enum Order: String, Hashable, Sendable, Encodable, CaseIterable {
    case any
    /// The n-th detection is compared with the n-th.
    case significant
  }

  package var mode: Mode = .boxes
  /// Whether a rule of another mode than `pictures` limits the images among a sink's results, too.
  package var limitsImages = false
  /// The smallest overlap (intersection over union, 0 to 1) of two boxes that are the same object.
  package var iou = 0.5
  /// The largest difference of each of x, y, width and height, and of x and y of a key point, in
  /// pixels.
  package var position = 0.0
  /// The largest difference of a score.
  package var score = 0.0
  /// The largest difference of scalars, of waveform samples and of numbers in JSON.
  package var scalar = 0.0
  /// A tolerance like `scalar`, as a fraction of the golden number. The larger of the two
  /// tolerances applies.
  package var relative = 0.0
  /// Waveforms are compared by shape instead of sample by sample if this, `correlationMin` or
  /// `lagMax` is set. This is the largest root mean square of the differences at the best lag.
  package var rmsMax = 0.0
  /// The smallest correlation of a waveform at the best lag.
  package var correlationMin = 0.0
  /// The largest allowed shift of a waveform, in samples.
  package var lagMax = 0
  /// The smallest peak signal-to-noise ratio of two images, in decibels; 0 means that it is not
  /// checked.
  package var psnrMin = 0.0
  /// The smallest structural similarity of two images, 0 to 1.
  package var ssimMin = 1.0
  /// The largest fraction of changed pixels in any window of 16 x 16, 0 to 1.
  package var densestMax = 0.0
  /// One image in every `pictureEvery` frames is kept and compared.
  package var pictureEvery = 1
  /// The smallest overlap (intersection over union) of a mask and its partner, 0 to 1.
  package var maskIoUMin = 1.0
  /// The largest cosine distance of an embedding and its partner, 0 to 2; with 0 they must be equal.
  package var cosineMax = 0.0
  /// The most boxes without a partner, in either run, over all frames.
  package var unmatchedMax = 0
  /// The largest difference between the mean error of 1,000 frames and the mean error of the 1,000
  /// frames before, in pixels; for sinks without boxes, in the unit of the scalar.
  package var driftPer1000 = 0.0
  package var order: Order = .any

  /// Whether images are kept, and compared by their pixels. Otherwise their digests decide.
  package var comparesPixels: Bool { mode == .pictures || limitsImages }

  /// `maskIoUMin` as an error, which grows as other errors do.
  package var maskErrorMax: Double {
    get { FixedDecimal(1 - maskIoUMin, decimals: 6).value }
    // Through decimals, so that golden.yml gets 0.97 and not 0.9700000000000001.
    set { maskIoUMin = FixedDecimal(max(0, 1 - newValue), decimals: 6).value }
  }

  package init(mode: Mode = .boxes) {
    self.mode = mode
  }

  /// This rule with the limits of images, and the limits of numbers in maps, of another rule.
  func limitingImages(like other: SinkRule) -> SinkRule {
    var rule = self
    rule.limitsImages = true
    (rule.psnrMin, rule.ssimMin) = (other.psnrMin, other.ssimMin)
    (rule.densestMax, rule.pictureEvery) = (other.densestMax, other.pictureEvery)
    for path in [\SinkRule.scalar, \.relative, \.rmsMax] where other[keyPath: path] > 0 {
      rule[keyPath: path] = other[keyPath: path]
    }
    return rule
  }

  /// Boxes are paired by overlap, and no difference is allowed.
  package static let standard = SinkRule()
}

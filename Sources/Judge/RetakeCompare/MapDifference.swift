import RetakeCore

/// How much two maps of numbers of the same size differ.
struct MapDifference: Sendable {
  /// The number that comes closest to the allowed error, or exceeds it the most.
  private(set) var worst = (golden: 0.0, actual: 0.0, error: 0.0, allowed: 0.0)
  private(set) var worstX = 0
  private(set) var worstY = 0
  /// Pixels with a number whose error is not allowed.
  private(set) var exceeding = 0
  /// The root of the mean square of all errors; infinite if only one of two numbers is finite.
  private(set) var rms = 0.0
  /// The largest fraction of such pixels in one window.
  private(set) var densest = 0.0
  private(set) var densestX = 0
  private(set) var densestY = 0

  /// The numbers from one question for an interruption to the next.
  private static let numbersBetweenChecks = 1 << 20

  /// `nil` unless both have numbers, and the same size and type; also if it was interrupted.
  init?(
    golden: PixelArray, actual: PixelArray, _ rule: SinkRule,
    isInterrupted: () -> Bool = { false }
  ) {
    guard golden.form == actual.form, let mine = golden.bytes, let theirs = actual.bytes else {
      return nil
    }
    var exceeds = [UInt8](repeating: 0, count: golden.width * golden.height)
    var squares = 0.0
    for index in 0..<mine.count / golden.element.size {
      if index % Self.numbersBetweenChecks == 0, isInterrupted() { return nil }
      let (left, right) = (golden.element.number(mine, index), actual.element.number(theirs, index))
      guard left != right, !(left.isNaN && right.isNaN) else { continue }
      let difference = (left - right).magnitude
      let error = difference.isFinite ? difference : .infinity
      let allowed = max(rule.scalar, left.isFinite ? rule.relative * left.magnitude : 0)
      squares += error * error
      let pixel = index / golden.channels
      // Shares of the tolerance are compared without a division, because the tolerance may be 0.
      let isWorse =
        worst.allowed == allowed
        ? error > worst.error : error * worst.allowed > worst.error * allowed
      if isWorse || worst.error == 0 {
        worst = (left, right, error, allowed)
        (worstX, worstY) = (pixel % golden.width, pixel / golden.width)
      }
      if error > allowed * (1 + 1e-9) { exceeds[pixel] = UInt8(ImageDifference.changedLevels) }
    }
    rms = (squares / Double(mine.count / golden.element.size)).squareRoot()
    exceeding = exceeds.count { $0 > 0 }
    (densest, densestX, densestY) = ImageDifference.densest(
      exceeds, width: golden.width, height: golden.height)
  }
}

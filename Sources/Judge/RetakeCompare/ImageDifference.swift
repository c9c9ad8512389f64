import Foundation

/// How much two images of the same size differ, by three measures: over all pixels, in the
/// structure, and at the place with the most changes.
package struct ImageDifference: Hashable, Sendable {
  /// The side of the windows for the structural similarity, in pixels.
  static let structureSide = 8
  /// The step from one of these windows to the next.
  static let structureStep = 4
  /// The side of the windows in which changed pixels are counted.
  package static let windowSide = 16
  /// The levels by which a pixel must differ to count as changed in such a window: a difference of
  /// 1 level is noise.
  package static let changedLevels = 2

  /// Peak signal-to-noise ratio in decibels over all planes; infinite for equal images.
  package var psnr: Double
  /// Structural similarity (Wang et al. 2004; uniform windows, sample covariance), averaged over
  /// the planes; 1 for equal images.
  package var ssim: Double
  /// The largest fraction of changed pixels in one window.
  package var densest: Double
  /// The position of that window, in pixels.
  package var densestX: Int
  package var densestY: Int
  /// Pixels that differ at all.
  package var changedPixels: Int
  /// The largest difference of two levels.
  package var levelsMax: Int

  /// `nil` for images of different sizes, and if it was interrupted.
  package init?(
    golden: ImagePixels, actual: ImagePixels, isInterrupted: () -> Bool = { false }
  ) {
    guard golden.width == actual.width, golden.height == actual.height,
      golden.planes.count == actual.planes.count, !golden.planes.isEmpty
    else { return nil }
    let (width, height) = (golden.width, golden.height)
    var squares = 0
    var similarity = 0.0
    // At each pixel, the largest difference over all planes.
    var levels = [UInt8](repeating: 0, count: width * height)
    for (left, right) in zip(golden.planes, actual.planes) {
      if isInterrupted() { return nil }
      for index in left.indices where left[index] != right[index] {
        let difference =
          left[index] > right[index]
          ? left[index] - right[index] : right[index] - left[index]
        squares += Int(difference) * Int(difference)
        levels[index] = max(levels[index], difference)
      }
      guard
        let similar = Self.similarity(
          left, right, width: width, height: height, isInterrupted)
      else { return nil }
      similarity += similar
    }
    let samples = width * height * golden.planes.count
    psnr =
      squares == 0
      ? .infinity : 10 * log10(255 * 255 * Double(samples) / Double(squares))
    ssim = similarity / Double(golden.planes.count)
    changedPixels = levels.count { $0 > 0 }
    levelsMax = Int(levels.max() ?? 0)
    (densest, densestX, densestY) = Self.densest(levels, width: width, height: height)
  }

  /// The root of the mean square of the differences, in levels.
  var rms: Double { Self.rms(psnr: psnr) }

  static func rms(psnr: Double) -> Double { 255 / pow(10, psnr / 20) }

  /// The mean over windows of 8 x 8 pixels, in steps of 4 pixels.
  private static func similarity(
    _ left: [UInt8], _ right: [UInt8], width: Int, height: Int, _ isInterrupted: () -> Bool
  ) -> Double? {
    let side = structureSide
    // Without a window there is no measure in between.
    guard width >= side, height >= side else { return left == right ? 1 : 0 }
    var sum = 0.0
    var count = 0
    // Up to three rows and columns at the far edges are in no window. `densest` covers every pixel.
    for top in stride(from: 0, through: height - side, by: structureStep) {
      if isInterrupted() { return nil }
      for start in stride(from: 0, through: width - side, by: structureStep) {
        sum += similarity(left, right, at: top * width + start, width: width)
        count += 1
      }
    }
    return sum / Double(count)
  }

  private static func similarity(
    _ left: [UInt8], _ right: [UInt8], at corner: Int, width: Int
  ) -> Double {
    var (sumLeft, sumRight, squares, products) = (0, 0, 0, 0)
    for row in 0..<structureSide {
      let start = corner + row * width
      for index in start..<start + structureSide {
        let (a, b) = (Int(left[index]), Int(right[index]))
        sumLeft += a
        sumRight += b
        squares += a * a + b * b
        products += a * b
      }
    }
    // Computed with sums instead of means: n = 64 pixels, variances over n - 1.
    let n = Double(structureSide * structureSide)
    let (a, b) = (Double(sumLeft), Double(sumRight))
    let variances = Double(squares) * n - a * a - b * b
    let covariance = Double(products) * n - a * b
    // K1 = 0.01 and K2 = 0.03 are the constants of the paper. The factors with n come from the sums
    // above.
    let meanConstant = 0.01 * 0.01 * 255 * 255 * n * n
    let varianceConstant = 0.03 * 0.03 * 255 * 255 * n * (n - 1)
    return (2 * a * b + meanConstant) * (2 * covariance + varianceConstant)
      / ((a * a + b * b + meanConstant) * (variances + varianceConstant))
  }

  /// The window with the largest fraction of changed pixels, computed from a summed-area table.
  static func densest(
    _ levels: [UInt8], width: Int, height: Int
  ) -> (share: Double, x: Int, y: Int) {
    let (wide, high) = (min(windowSide, width), min(windowSide, height))
    var sums = [Int32](repeating: 0, count: (width + 1) * (height + 1))
    for y in 0..<height {
      var row: Int32 = 0
      for x in 0..<width {
        if levels[y * width + x] >= changedLevels { row += 1 }
        sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
      }
    }
    var best: (count: Int32, x: Int, y: Int) = (0, 0, 0)
    for y in 0...(height - high) {
      let (above, below) = (y * (width + 1), (y + high) * (width + 1))
      for x in 0...(width - wide) {
        let count =
          sums[below + x + wide] - sums[below + x] - sums[above + x + wide]
          + sums[above + x]
        // Strictly more: of equal windows the first is named, in every run.
        if count > best.count { best = (count, x, y) }
      }
    }
    return (Double(best.count) / Double(wide * high), best.x, best.y)
  }
}

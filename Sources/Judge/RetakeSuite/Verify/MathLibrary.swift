import Foundation
import RetakeCore

/// The math functions of the C library, which return different bits on different processors.
enum MathLibrary {
  /// The digest of functions that are known to differ, at enough values to show it.
  static var digest: Digest128 {
    var hasher = DigestHasher()
    for index in 1...places {
      let x = Double(index) * 0.37
      for value in [exp(x / 8), log2(x), sin(x), cos(x), pow(x, 1.7)] { hasher.append(value) }
    }
    return hasher.finish()
  }

  private static let places = 1_000
}

import Foundation
import RetakeCore

/// The C library's mathematics, which gives other bits on other processors.
enum MathLibrary {
  /// Of functions that are known to do so, at enough places to see it.
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

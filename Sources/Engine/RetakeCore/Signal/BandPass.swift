/// A Butterworth band-pass of second-order sections, run forwards and backwards, so that it adds no
/// delay.
///
/// The analogue prototype has the poles e^(iπ(2k + n + 1) / 2n), k = 0 to n − 1. They are moved to
/// the band with s² − p·w·s + m² = 0 (w: the band's width, m²: the product of its edges), and to
/// the z plane with the bilinear transform, after the edges were warped with tan(π f / rate)
/// (Oppenheim, Schafer: Discrete-Time Signal Processing, chapter 7). Sines come from `Angle`, and
/// the rest is arithmetic and square roots, so the coefficients have the same bits everywhere.
package struct BandPass: Hashable, Sendable {
  /// The highest order: beyond it the poles of a low band are too close for 64 bits.
  package static let orderMax = 6

  let sections: [Section]
  /// Samples by which a signal is extended at both ends: a period of the lower edge.
  private let padding: Int

  /// - Parameters:
  ///   - low: The lower edge in hertz, above 0.
  ///   - high: The upper edge in hertz, above `low` and below half the rate.
  ///   - order: Of the prototype, 1 to `orderMax`: there are as many sections. Both passes together
  ///     halve the amplitude at the edges.
  ///   - rate: Samples per second.
  package init(low: Double, high: Double, order: Int, rate: Double) {
    requirement((1...Self.orderMax).contains(order), "the order is 1 to \(Self.orderMax)")
    requirement(
      low > 0 && low < high && 2 * high < rate && rate.isFinite,
      "the band is above 0 and below half the rate")
    sections = Self.sections(
      low: Self.warped(low / rate), high: Self.warped(high / rate), order: order)
    padding = Int(min(1e6, (rate / low).rounded(.up)))
  }

  /// The filtered samples, as many as there were. The ends are extended by a point reflection, as
  /// SciPy's `sosfiltfilt` does with `padtype="odd"`.
  package func filtered(_ samples: [Double]) -> [Double] {
    guard let first = samples.first, let last = samples.last else { return [] }
    let reach = min(padding, samples.count - 1)
    let before = samples[1..<1 + reach].reversed().map { 2 * first - $0 }
    let after = samples[(samples.count - 1 - reach)..<samples.count - 1].reversed()
      .map { 2 * last - $0 }
    var signal = before + samples + after
    pass(&signal)
    signal.reverse()
    pass(&signal)
    return signal[reach..<reach + samples.count].reversed()
  }

  private func pass(_ signal: inout [Double]) {
    var level = signal.first ?? 0
    for section in sections {
      section.filter(&signal, settledAt: level)
      // A section has a zero at 0 Hz: the next one begins at rest.
      level = 0
    }
  }

  // MARK: Design

  /// tan(π · fraction), the frequency of the analogue filter in units of twice the rate.
  private static func warped(_ fraction: Double) -> Double {
    let turn = Angle(fraction / 2)
    return turn.sine / turn.cosine
  }

  private static func sections(low: Double, high: Double, order: Int) -> [Section] {
    let (width, middle) = (high - low, low * high)
    var sections: [Section] = []
    // Poles come in conjugate pairs: the upper half, and the real one of an odd order.
    for index in 0..<(order + 1) / 2 {
      let turn = Angle(Double(2 * index + order + 1) / Double(4 * order))
      let pole = Complex(turn.cosine, 2 * index + 1 == order ? 0 : turn.sine)
      let half = pole * Complex(width / 2, 0)
      let root = (half * half - Complex(middle, 0)).squareRoot
      let (one, other) = ((half + root).bilinear, (half - root).bilinear)
      // Of a real pole, both roots are real or each other's conjugate: they share a section.
      if 2 * index + 1 == order {
        sections.append(Section(pole: one, and: other))
      } else {
        sections.append(Section(pole: one, and: one.conjugate))
        sections.append(Section(pole: other, and: other.conjugate))
      }
    }
    // The gain is 1 in the middle of the band, shared by all sections.
    let center = Complex(0, middle.squareRoot()).bilinear
    for index in sections.indices {
      sections[index].gain = 1 / sections[index].response(at: center)
    }
    return sections
  }
}

/// gain · (1 − z⁻²) / (1 + a₁ z⁻¹ + a₂ z⁻²).
struct Section: Hashable, Sendable {
  var gain = 1.0
  let a1: Double
  let a2: Double

  fileprivate init(pole one: Complex, and other: Complex) {
    a1 = -(one + other).real
    a2 = (one * other).real
  }

  /// The magnitude of the response at a point of the unit circle.
  fileprivate func response(at z: Complex) -> Double {
    let square = z * z
    let above = square - Complex(1, 0)
    let below = square + z * Complex(a1, 0) + Complex(a2, 0)
    return gain * (above.squared / below.squared).squareRoot()
  }

  /// Transposed direct form II, beginning as if the input had always been `level`.
  fileprivate func filter(_ signal: inout [Double], settledAt level: Double) {
    var (one, two) = (-gain * level, -gain * level)
    for index in signal.indices {
      let input = gain * signal[index]
      let output = input + one
      one = two - a1 * output
      two = -input - a2 * output
      signal[index] = output
    }
  }
}

private struct Complex {
  var real: Double
  var imaginary: Double

  init(_ real: Double, _ imaginary: Double) {
    (self.real, self.imaginary) = (real, imaginary)
  }

  var conjugate: Complex { Complex(real, -imaginary) }
  /// The square of the magnitude.
  var squared: Double { real * real + imaginary * imaginary }

  /// With a real part that is not negative.
  var squareRoot: Complex {
    let magnitude = squared.squareRoot()
    let root = ((magnitude + real) / 2).squareRoot()
    let other = max(0, (magnitude - real) / 2).squareRoot()
    return Complex(root, imaginary < 0 ? -other : other)
  }

  /// (1 + s) / (1 − s).
  var bilinear: Complex {
    let (above, below) = (Complex(1, 0) + self, Complex(1, 0) - self)
    let product = above * below.conjugate
    return Complex(product.real / below.squared, product.imaginary / below.squared)
  }

  static func + (left: Complex, right: Complex) -> Complex {
    Complex(left.real + right.real, left.imaginary + right.imaginary)
  }

  static func - (left: Complex, right: Complex) -> Complex {
    Complex(left.real - right.real, left.imaginary - right.imaginary)
  }

  static func * (left: Complex, right: Complex) -> Complex {
    Complex(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }
}

/// The discrete Fourier transform of a power of two of samples: radix 2, decimation in time
/// (Cooley, Tukey 1965), in an order of operations that is always the same.
package struct FourierTransform: Sendable {
  /// The most points of a transform: 2 minutes at 240 samples a second, padded to four times that.
  package static let sizeMax = 1 << 17

  package let size: Int
  /// e^(−2πi k / tableSize) for the first half turn; `stride` apart for this size.
  private let table: [Angle]
  private let stride: Int

  /// Shared, because computing the table of a usual size is slower than the transform.
  private static let sharedSize = 1 << 13
  private static let shared = halfTurn(of: sharedSize)

  /// - Parameter size: A power of two, 2 to `sizeMax`.
  package init(size: Int) {
    requirement(
      (2...Self.sizeMax).contains(size) && size & (size - 1) == 0,
      "the size of a transform is a power of two from 2 to \(Self.sizeMax)")
    self.size = size
    let isShared = size <= Self.sharedSize
    table = isShared ? Self.shared : Self.halfTurn(of: size)
    stride = isShared ? Self.sharedSize / size : 1
  }

  private static func halfTurn(of size: Int) -> [Angle] {
    (0..<size / 2).map { Angle(-Double($0) / Double(size)) }
  }

  /// The power |X(k)|² of bins 0 to size / 2 of real samples; missing samples are zeros.
  package func power(of samples: [Double]) -> [Double] {
    requirement(samples.count <= size, "the samples fit into the transform")
    var real = [Double](repeating: 0, count: size)
    var imaginary = real
    let bits = size.trailingZeroBitCount
    for (index, sample) in samples.enumerated() { real[Self.reversed(index, bits)] = sample }
    transform(&real, &imaginary)
    return (0...size / 2).map { real[$0] * real[$0] + imaginary[$0] * imaginary[$0] }
  }

  /// The circular cross-correlation of two real signals: element k is Σ a(n) b(n + k), over all n,
  /// with missing samples as zeros. A negative lag −k is at `size` − k.
  ///
  /// Both transforms are computed at once, as the real and the imaginary part of one signal.
  package func correlation(of a: [Double], with b: [Double]) -> [Double] {
    requirement(a.count <= size && b.count <= size, "the samples fit into the transform")
    let bits = size.trailingZeroBitCount
    var (real, imaginary) = (
      [Double](repeating: 0, count: size), [Double](repeating: 0, count: size)
    )
    for (index, sample) in a.enumerated() { real[Self.reversed(index, bits)] = sample }
    for (index, sample) in b.enumerated() { imaginary[Self.reversed(index, bits)] = sample }
    transform(&real, &imaginary)
    var (productReal, productImaginary) = (real, imaginary)
    for bin in 0..<size {
      let mirror = (size - bin) & (size - 1)
      // The spectra of a and of b, from the even and the odd part.
      let (aRe, aIm) = (
        (real[bin] + real[mirror]) / 2, (imaginary[bin] - imaginary[mirror]) / 2
      )
      let (bRe, bIm) = (
        (imaginary[bin] + imaginary[mirror]) / 2, (real[mirror] - real[bin]) / 2
      )
      // conj(A) B; its conjugate goes into the forward transform, which then is the inverse one.
      let place = Self.reversed(bin, bits)
      productReal[place] = aRe * bRe + aIm * bIm
      productImaginary[place] = -(aRe * bIm - aIm * bRe)
    }
    transform(&productReal, &productImaginary)
    return productReal.map { $0 / Double(size) }
  }

  private static func reversed(_ index: Int, _ bits: Int) -> Int {
    var (left, result) = (index, 0)
    for _ in 0..<bits {
      result = result << 1 | left & 1
      left >>= 1
    }
    return result
  }

  private func transform(_ real: inout [Double], _ imaginary: inout [Double]) {
    var half = 1
    while half < size {
      let step = size / (2 * half) * stride
      for block in Swift.stride(from: 0, to: size, by: 2 * half) {
        for index in block..<block + half {
          let turn = table[(index - block) * step]
          let other = index + half
          let re = real[other] * turn.cosine - imaginary[other] * turn.sine
          let im = real[other] * turn.sine + imaginary[other] * turn.cosine
          (real[other], imaginary[other]) = (real[index] - re, imaginary[index] - im)
          (real[index], imaginary[index]) = (real[index] + re, imaginary[index] + im)
        }
      }
      half *= 2
    }
  }
}

/// The errors of one sink over the frames of one track: the largest error of each frame, in bins of
/// equal size.
package struct ErrorCurve: Hashable, Sendable, Codable {
  package var sink: String
  /// `position`, `score`, `scalar`, `mask` or `embedding`.
  package var quantity: String
  package var track: Int
  /// The first bin begins at frame 0.
  package var framesPerBin: Int
  /// The largest error of each bin, in the unit of the compared values, or as a fraction if
  /// `isShare`; infinite if only one of two numbers is finite.
  package var largest: [Double]
  /// The smallest error of each bin: 0 if a frame in it is equal or was not compared.
  package var least: [Double]
  /// The error that the rule allows.
  package var allowed: Double
  /// Whether the errors are fractions of the allowed error, because that depends on the golden's
  /// numbers.
  package var isShare = false

  package init(
    sink: String, quantity: String, track: Int, framesPerBin: Int, largest: [Double],
    least: [Double], allowed: Double, isShare: Bool = false
  ) {
    self.sink = sink
    self.quantity = quantity
    self.track = track
    self.framesPerBin = framesPerBin
    self.largest = largest
    self.least = least
    self.allowed = allowed
    self.isShare = isShare
  }
}

/// Collects an error curve. The bins become longer as the number of frames grows.
struct CurveMeter {
  /// At this number of bins, each two are merged into one of twice the length.
  static let binsMax = 8_192

  private struct Bin {
    var least = Float.infinity
    var largest: Float = 0
    /// The number of frames with an error.
    var frames = 0

    mutating func add(_ other: Bin) {
      least = min(least, other.least)
      largest = max(largest, other.largest)
      frames += other.frames
    }
  }

  private var bins: [Bin] = []
  private(set) var framesPerBin = 1

  /// Adds the largest error of one frame. Frames without an error need not be added.
  mutating func add(_ error: Double, at sequence: Int) {
    // A golden is text that may have been edited, and its grammar allows a negative sequence.
    guard sequence >= 0 else { return }
    // Ends: each merge doubles `framesPerBin`.
    while sequence / framesPerBin >= Self.binsMax { merge() }
    let place = sequence / framesPerBin
    if place >= bins.count {
      bins.append(contentsOf: repeatElement(Bin(), count: place + 1 - bins.count))
    }
    bins[place].add(Bin(least: Float(error), largest: Float(error), frames: 1))
  }

  private mutating func merge() {
    bins = stride(from: 0, to: bins.count, by: 2).map { place in
      var bin = bins[place]
      if place + 1 < bins.count { bin.add(bins[place + 1]) }
      return bin
    }
    framesPerBin *= 2
  }

  var isEmpty: Bool { bins.isEmpty }

  var largest: [Double] { bins.map { Double($0.largest) } }

  var least: [Double] {
    // Frames without an error are not added, so a bin that lacks frames has one with the error 0.
    bins.map { $0.frames < framesPerBin ? 0 : Double($0.least) }
  }
}

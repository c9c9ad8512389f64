import RetakeCore

/// The errors of one sink over the frames of one track: of each frame the largest, in bins of equal
/// size.
public struct ErrorCurve: Hashable, Sendable, Codable {
  public var sink: String
  /// `position`, `score` or `scalar`.
  public var quantity: String
  public var track: Int
  /// The first bin begins at frame 0.
  public var framesPerBin: Int
  /// The largest of each bin, in the unit of what is compared, or as `isShare` says; infinite where
  /// a number stands against none.
  public var largest: [Double]
  /// The least of each bin: 0 where a frame of it is equal or was not compared.
  public var least: [Double]
  /// What the rule allows.
  public var allowed: Double
  /// The errors are shares of what is allowed, which follows the golden's numbers.
  public var isShare = false

  public init(
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

/// Gathers an error curve; the bins become longer as the frames become more.
struct CurveMeter {
  /// Beyond these, two bins become one of twice the length.
  static let binsMax = 8_192

  private struct Bin {
    var least = Float.infinity
    var largest: Float = 0
    /// Frames with an error.
    var frames = 0

    mutating func add(_ other: Bin) {
      least = min(least, other.least)
      largest = max(largest, other.largest)
      frames += other.frames
    }
  }

  private var bins: [Bin] = []
  private(set) var framesPerBin = 1

  /// The largest error of one frame; frames without one need not be told.
  mutating func add(_ error: Double, at sequence: Int) {
    guard sequence >= 0 else { return }
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
    bins.map { $0.frames < framesPerBin ? 0 : Double($0.least) }
  }
}

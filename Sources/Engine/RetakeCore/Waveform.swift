/// Samples at an even rate.
public struct Waveform: Hashable, Sendable, Codable {
  /// The name in results.
  public var name: String
  /// Samples per second.
  public var rate: Double
  /// The earliest first, `1 / rate` seconds apart, in a unit of the stage's choice.
  public var samples: [Double]

  /// `rate` is in samples per second; the values are not checked.
  public init(name: String, rate: Double, samples: [Double]) {
    self.name = name
    self.rate = rate
    self.samples = samples
  }
}

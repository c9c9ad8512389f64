public import RetakeCore
public import RetakeGraph

/// The latest seconds of some numbers at an even rate, and why they begin where they do: the output
/// of `resample`.
///
/// A results sink writes each channel as a waveform, and the beginning as the string `began`.
public struct SignalWindow: StageValue, Hashable {
  /// The name of the type in stored values.
  public static let typeName = "signal-window"
  /// The version of the format that `encoded()` writes.
  public static let typeVersion = 1

  /// The channels, in the order of the numbers. They have the same rate and number of samples;
  /// empty if no sample has arrived since the last gap.
  public var waveforms: [Waveform]
  /// The presentation time of the latest samples; `nil` without samples.
  public var end: Timestamp?
  /// `start`, or the reason why the window before ended: `gap 620 ms`, `earlier 40 ms`.
  public var began: String

  package init(waveforms: [Waveform], end: Timestamp?, began: String) {
    (self.waveforms, self.end, self.began) = (waveforms, end, began)
  }

  /// The channel of this name; `nil` if no channel has it.
  public subscript(name: String) -> Waveform? { waveforms.first { $0.name == name } }

  /// The beginning, the end and the samples of all channels, as bytes that `init(decoding:)` reads.
  public func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(began)
    writer.append(end == nil ? 0 : 1)
    writer.append(Int(end?.nanoseconds ?? 0))
    writer.append(waveforms.count)
    for waveform in waveforms {
      writer.append(waveform.name)
      writer.append(waveform.rate)
      writer.append(waveform.samples.count)
      for sample in waveform.samples { writer.append(sample) }
    }
    return writer.bytes
  }

  /// - Throws: An error if the bytes do not encode a window.
  public init(decoding bytes: [UInt8]) throws {
    var reader = ByteReader(bytes[...])
    let began = try reader.text()
    let (hasEnd, end) = (try reader.integer(), try reader.integer())
    var waveforms: [Waveform] = []
    for _ in 0..<(try reader.count()) {
      let (name, rate) = (try reader.text(), try reader.double())
      var samples: [Double] = []
      for _ in 0..<(try reader.count()) { samples.append(try reader.double()) }
      waveforms.append(Waveform(name: name, rate: rate, samples: samples))
    }
    try reader.end()
    self.init(
      waveforms: waveforms, end: hasEnd == 1 ? Timestamp(nanoseconds: Int64(end)) : nil,
      began: began)
  }

  /// A waveform for each channel, and the text `began`.
  public var facts: [ResultFact] {
    waveforms.map { .waveform($0) } + [.text(name: "began", text: began)]
  }
}

extension Resampler.Beginning {
  /// Milliseconds, rounded down: enough to find the place, and the same in every locale.
  var text: String {
    switch self {
    case .start: "start"
    case .gap(let nanoseconds): "gap \(nanoseconds / 1_000_000) ms"
    case .earlier(let nanoseconds): "earlier \(nanoseconds / 1_000_000) ms"
    }
  }
}

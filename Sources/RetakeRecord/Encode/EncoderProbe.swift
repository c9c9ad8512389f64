import RetakeBuffers
import RetakeCore
import RetakeRuntime

/// Measures an encoder with a source's own frames before anything is recorded.
public struct EncoderProbe: Sendable {
  public enum Policy: String, Hashable, Sendable, Codable, CaseIterable {
    /// A source that is faster than the encoder is refused.
    case refuse
    /// It is recorded, and the result tells.
    case warn
    case skip
  }

  public struct Measurement: Hashable, Sendable, Codable {
    public var frames: Int
    /// Of the encoder, with its decoder beside it.
    public var framesPerSecond: Double
    /// What the source needs; nil when nobody knows.
    public var needed: Double?

    /// The encoder has so little to spare that frames may be shed.
    public var isTight: Bool { needed.map { framesPerSecond < $0 * Self.tightRatio } ?? false }
    var isTooSlow: Bool { needed.map { framesPerSecond < $0 } ?? false }

    private static let tightRatio = 1.3
  }

  /// Different frames that are encoded again and again.
  static let sampleFrames = 8
  static let framesMax = 48
  static let nanosecondsMax: Int64 = 300_000_000

  let preset: RecordingPreset
  let clock: any LiveClock

  /// - Throws: `RecordError`, or the source's own error.
  func measure(_ source: any RecordingSource) throws -> Measurement {
    let stream = try source.open()
    var samples: [Frame] = []
    while samples.count < Self.sampleFrames, let next = try stream.next() {
      samples.append(next.frame)
    }
    guard !samples.isEmpty else { throw RecordError.noFrames(source: source.description.name) }
    return try measure(
      samples, timeBase: source.description.timeBase, needed: source.description.framesPerSecond)
  }

  func measure(_ samples: [Frame], timeBase: TimeBase, needed: Double?) throws -> Measurement {
    let encoder = FrameEncoder(preset: preset, timeBase: timeBase)
    let step = Int64(1e9 / max(needed ?? 30, 1))
    // The first frame also opens the encoder, which is not measured.
    _ = try encoder.encode(samples[0], wantsKey: false, hasTime: true)
    let start = clock.monotonicNanoseconds
    var (count, passed) = (0, Int64(0))
    while count < Self.framesMax, passed < Self.nanosecondsMax {
      var frame = samples[(count + 1) % samples.count]
      frame.timestamp = samples[0].timestamp + Int64(count + 1) * step
      _ = try encoder.encode(frame, wantsKey: false, hasTime: true)
      count += 1
      passed = clock.monotonicNanoseconds - start
    }
    return Measurement(
      frames: count, framesPerSecond: Double(count) * 1e9 / Double(max(passed, 1)), needed: needed)
  }
}

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
    /// Of the encoded frames, on average.
    public var bytesPerFrame: Double = 0

    /// The encoder has so little to spare that frames may be shed.
    public var isTight: Bool { needed.map { framesPerSecond < $0 * Self.tightRatio } ?? false }
    var isTooSlow: Bool { needed.map { framesPerSecond < $0 } ?? false }

    /// What so much time of the source takes; nil when nobody knows its rate.
    func bytes(of time: Duration) -> Int64? {
      needed.map { Int64(min($0 * bytesPerFrame * Double(time.nanoseconds) / 1e9, 1e15)) }
    }

    private static let tightRatio = 1.3
  }

  /// Different frames that are encoded again and again.
  static let sampleFrames = 8
  static let framesMax = 48
  static let nanosecondsMax: Int64 = 300_000_000

  let preset: RecordingPreset
  let clock: any LiveClock

  /// Where nobody knows how many frames a source gives, its own times tell.
  ///
  /// - Throws: `MediaError` when a sample cannot be encoded.
  func measure(
    _ samples: [SourceFrame], of description: SourceDescription
  ) throws -> Measurement {
    let times = samples.map(\.frame.timestamp.nanoseconds)
    let passed = (times.last ?? 0) - (times.first ?? 0)
    let counted = passed > 0 ? Double(samples.count - 1) * 1e9 / Double(passed) : nil
    return try measure(
      samples, tracks: description.tracks, needed: description.framesPerSecond ?? counted)
  }

  private func measure(
    _ samples: [SourceFrame], tracks: [SourceTrack], needed: Double?
  ) throws -> Measurement {
    let encoders = tracks.map { FrameEncoder(preset: preset, timeBase: $0.timeBase) }
    let step = Int64(1e9 / max(needed ?? 30, 1))
    // A track's first frame also opens its encoder, which is not measured.
    for track in tracks.indices {
      guard let sample = samples.first(where: { $0.track == track }) else { continue }
      _ = try encoders[track].encode(sample.frame, wantsKey: false, hasTime: true)
    }
    let start = clock.monotonicNanoseconds
    var (count, bytes, passed) = (0, 0, Int64(0))
    while count < Self.framesMax, passed < Self.nanosecondsMax {
      let sample = samples[(count + 1) % samples.count]
      var frame = sample.frame
      frame.timestamp = samples[0].frame.timestamp + Int64(count + 1) * step
      let encoded = try encoders[sample.track].encode(frame, wantsKey: false, hasTime: true)
      bytes += encoded.packet.size
      count += 1
      passed = clock.monotonicNanoseconds - start
    }
    return Measurement(
      frames: count, framesPerSecond: Double(count) * 1e9 / Double(max(passed, 1)), needed: needed,
      bytesPerFrame: Double(bytes) / Double(max(count, 1)))
  }
}

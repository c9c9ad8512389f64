import RetakeCore
import RetakeRuntime

/// Measures an encoder with the source's own frames before the recording begins.
public struct EncoderProbe: Sendable {
  /// How to handle an encoder that is slower than the source, or a ring whose memory is too small
  /// for its time.
  public enum Policy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Refuse a source that is faster than the encoder.
    case refuse
    /// Record it, and report it in the result.
    case warn
    /// Skip the measurement.
    case skip
  }

  /// How fast the encoder is on this machine, with frames of the source.
  package struct Measurement: Hashable, Sendable, Codable {
    /// Number of frames that were encoded for it, at most 48.
    package var frames: Int
    /// The encoder's rate, including the decoder that checks its packets.
    package var framesPerSecond: Double
    /// The source's rate; nil when unknown.
    package var needed: Double?
    /// Average over the encoded frames.
    package var bytesPerFrame: Double = 0

    /// The encoder has so little headroom that frames may be shed.
    package var isTight: Bool { needed.map { framesPerSecond < $0 * Self.tightRatio } ?? false }
    var isTooSlow: Bool { needed.map { framesPerSecond < $0 } ?? false }

    /// The size of this much of the source; nil when its rate is unknown.
    func bytes(of time: Duration) -> Int64? {
      needed.map { Int64(min($0 * bytesPerFrame * Double(time.nanoseconds) / 1e9, 1e15)) }
    }

    private static let tightRatio = 1.3
  }

  /// Distinct frames, which are encoded repeatedly.
  static let sampleFrames = 8
  static let framesMax = 48
  static let nanosecondsMax: Int64 = 300_000_000

  let preset: RecordingPreset
  let clock: any LiveClock

  /// If the source does not declare its frame rate, it is measured from the samples' times.
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
    // A track's first frame also opens its encoder. That time is not measured.
    for track in tracks.indices {
      guard let sample = samples.first(where: { $0.track == track }) else { continue }
      _ = try encoders[track].encode(sample.frame, wantsKey: false, hasTime: true)
    }
    let start = clock.monotonicNanoseconds
    var (count, bytes, passed) = (0, 0, Int64(0))
    while count < Self.framesMax, passed < Self.nanosecondsMax {
      let sample = samples[(count + 1) % samples.count]
      var frame = sample.frame
      // The samples repeat, and times must rise, because key frames are scheduled by them.
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

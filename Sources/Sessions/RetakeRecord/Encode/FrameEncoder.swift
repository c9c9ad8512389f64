import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession

/// Encodes the frames of one source. One thread at a time uses it.
final class FrameEncoder: PacketMaker {
  private let preset: RecordingPreset
  private let timeBase: TimeBase
  private let color: ColorLabels
  private let keyInterval: Duration
  private let note: @Sendable (String) -> Void
  private let scaler = MediaScaler()
  private var nextEpoch = 0
  private var active: Active?

  /// One encoder, for frames of one shape.
  private struct Active {
    var settings: EncoderSettings
    var rotationDegrees: Int
    var encoder: MediaEncoder
    var epoch: StreamEpoch
    var witness: PixelVerifier
    var timeline = ContainerTimeline()
    var keys: KeySchedule
  }

  /// - Parameters:
  ///   - timeBase: Time base of the source.
  ///   - color: The color labels of the source's samples.
  ///   - segmentMax: Longest interval between key frames, if it is below one second.
  ///   - note: Called with a description of the data that a lossless preset drops; may be called
  ///     again.
  init(
    preset: RecordingPreset, timeBase: TimeBase, color: ColorLabels = ColorLabels(),
    segmentMax: Duration = .seconds(1), note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.note = note
    self.preset = preset
    self.timeBase = timeBase
    self.color = color
    // A segment can end only at a key frame, so shorter segments need them closer together.
    keyInterval = min(.seconds(1), segmentMax)
  }

  func packet(
    of frame: Frame, original: OriginalPacket?, wantsKey: Bool, hasTime: Bool
  ) throws -> EncodedFrame? {
    try encode(frame, wantsKey: wantsKey, hasTime: hasTime)
  }

  /// - Parameters:
  ///   - wantsKey: Whether a key frame is needed now.
  ///   - hasTime: Whether there is time to decode the frame for its pixel hash.
  /// - Throws: `MediaError`; the next frame then begins another epoch.
  func encode(
    _ frame: Frame, wantsKey: Bool, hasTime: Bool
  ) throws -> EncodedFrame {
    let format = preset.format(for: frame.format)
    if frame.format != format, let loss = preset.loss(of: frame.format) { note(loss) }
    let frame = frame.format == format ? frame : try scaler.scale(frame, format: format)
    var settings = preset.settings(for: frame)
    settings.color = color
    var active = try activated(for: frame, settings: settings)
    // Stays nil if encoding throws, so that the next frame begins another epoch.
    self.active = nil
    let time = frame.timestamp.nanoseconds
    let isKey = wantsKey || active.keys.wantsKey(atNanoseconds: time)
    let packets = try active.encoder.encode(
      frame, pts: active.timeline.milliseconds(atNanoseconds: time), isKey: isKey)
    // A row names the packet of its own frame; an encoder with a delay would return another frame's
    // packet.
    guard packets.count == 1 else {
      throw MediaError.encode(
        encoder: settings.encoder, cause: "it returned \(counted(packets.count, "packet")) at once")
    }
    let packet = try stored(packets[0])
    // The flag and not the request: encoders make key frames unasked, and ffv1 ignores requests.
    if packet.flags.contains(.key) { active.keys.keyMade(atNanoseconds: time) }
    let sight = active.witness.sight(of: packet, hasTime: hasTime)
    self.active = active
    return EncodedFrame(epoch: active.epoch, packet: packet, sight: sight)
  }

  /// Opens an encoder for frames like this one, and closes it.
  ///
  /// - Throws: `MediaError` if there is no encoder for their format or their size.
  func check(_ frame: Frame) throws {
    let format = preset.format(for: frame.format)
    let frame = frame.format == format ? frame : try scaler.scale(frame, format: format)
    _ = try MediaEncoder(preset.settings(for: frame))
  }

  private func activated(
    for frame: Frame, settings: EncoderSettings
  ) throws -> Active {
    if let active, active.settings == settings, active.rotationDegrees == frame.rotationDegrees {
      return active
    }
    let encoder = try MediaEncoder(settings)
    var stream = encoder.stream
    stream.timeBase = timeBase
    (stream.rotationDegrees, stream.isMirrored) = (frame.rotationDegrees, frame.isMirrored)
    if preset == .h264 {
      guard let configuration = AnnexB.configuration(stream.extradata) else {
        throw MediaError.encode(encoder: settings.encoder, cause: "it returned no parameter sets")
      }
      stream.extradata = configuration
    }
    let epoch = StreamEpoch(
      number: nextEpoch, stream: stream,
      shape: "\(frame.width)x\(frame.height) \(frame.format.rawValue)")
    nextEpoch += 1
    return Active(
      settings: settings, rotationDegrees: frame.rotationDegrees, encoder: encoder, epoch: epoch,
      witness: PixelVerifier(stream: stream),
      keys: KeySchedule(intervalNanoseconds: keyInterval.nanoseconds))
  }

  /// The packet in the form that the container stores.
  private func stored(_ packet: MediaPacket) throws -> MediaPacket {
    var stored = packet
    if preset == .h264 {
      stored = try MediaPacket(
        index: packet.index, pts: packet.pts, dts: packet.dts, duration: packet.duration,
        flags: packet.flags, bytes: AnnexB.lengthPrefixed(packet.bytes))
    }
    // For a decoder, a packet without bytes is the end of the stream.
    guard stored.size > 0 else {
      throw MediaError.encode(
        encoder: preset.encoder ?? preset.rawValue, cause: "it returned a packet without an image")
    }
    stored.dts = stored.dts ?? stored.pts
    return stored
  }
}

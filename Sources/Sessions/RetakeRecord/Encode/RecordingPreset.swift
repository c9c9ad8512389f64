import RetakeBuffers
import RetakeCore
import RetakeMedia
package import RetakeSession

/// Named encoder settings. No preset delays frames, and each produces a key frame at least every
/// second.
public enum RecordingPreset: String, Hashable, Sendable, Codable, CaseIterable {
  /// Small and quick to decode; the images are very close to the camera's. The default.
  case mpeg4
  /// Every frame is independent; the quickest to encode.
  case mjpeg
  /// Lossless with independent frames, for most pixel formats; slow for large images.
  case ffv1
  /// Lossless H.264; quicker to decode than ffv1.
  case h264
  /// The source's own packets, without encoding. For cameras, streams and files whose packets are
  /// in the order of their frames.
  case copy

  /// The presets that encode and that this build of FFmpeg supports.
  package static var available: [RecordingPreset] {
    allCases.filter { $0.encoder.map(MediaLibraries.hasEncoder) ?? false }
  }

  /// Finds a preset by name.
  ///
  /// - Throws: `RecordError.unknownPreset`, with a suggestion.
  package static func named(_ name: String) throws -> RecordingPreset {
    let preset = uses[name] ?? RecordingPreset(rawValue: name)
    guard let preset, preset == .copy || available.contains(preset) else {
      let known = available.map(\.rawValue) + [copy.rawValue] + uses.keys.sorted()
      throw RecordError.unknownPreset(
        name: name, known: known, suggestion: Suggestion.nearest(to: name, among: known))
    }
    return preset
  }

  /// Aliases by purpose: `archive` keeps every pixel, `fast` decodes in the least time (half of
  /// mjpeg's, a fifteenth of ffv1's, frames in order).
  private static let uses: [String: RecordingPreset] = ["archive": .ffv1, "fast": .mpeg4]

  /// Whether the decoded pixels equal the source's.
  package var isLossless: Bool {
    switch self {
    case .ffv1, .h264, .copy: true
    case .mpeg4, .mjpeg: false
    }
  }

  /// Whether each packet can be decoded alone.
  var isIntraOnly: Bool {
    switch self {
    case .mjpeg, .ffv1: true
    case .mpeg4, .h264, .copy: false
    }
  }

  /// FFmpeg's name of the encoder; nil for `copy`.
  var encoder: String? {
    switch self {
    case .mpeg4, .mjpeg, .ffv1: rawValue
    case .h264: "libx264"
    case .copy: nil
    }
  }

  /// The pixel format that a frame is converted to before it is encoded.
  func format(for format: PixelFormat) -> PixelFormat {
    switch (self, format) {
    case (.copy, _): format
    // FFmpeg's encoder of MPEG-4 has no other format.
    case (.mpeg4, _): .i420
    case (_, .i420), (_, .i422), (_, .i444): format
    case (.ffv1, .gray), (.ffv1, .bgra): format
    // Of the RGB formats with 8 bits, FFmpeg's ffv1 supports only the formats with 32 bits a pixel.
    case (.ffv1, .rgb), (.ffv1, .bgr), (.ffv1, .rgba): .bgra
    // All samples are kept; only the planes differ.
    case (_, .nv12), (_, .gray): .i420
    case (_, .rgb), (_, .bgr), (_, .bgra), (_, .rgba): .i444
    // The decoder of H.264 adds neutral chroma to deep gray; x264 encodes only this depth of gray.
    case (.h264, .gray(bits: 10)): .i420(bits: 10)
    // Lossless presets keep the depth, or refuse the format.
    case (.ffv1, _), (.h264, _): format
    // JPEG has 8 bits.
    case (.mjpeg, _): self.format(for: format.nearestBasic)
    }
  }

  /// The loss when a frame is converted for an otherwise lossless preset; nil without a loss.
  func loss(of format: PixelFormat) -> String? {
    let stored = self.format(for: format)
    guard isLossless, format.isRGB, !stored.isRGB else { return nil }
    let opacity = [.rgb, .bgr].contains(format) ? "" : ", and their opacity is left out"
    return "\(rawValue) stores \(format.rawValue) as \(stored.rawValue): colors are rounded"
      + opacity + "; --preset ffv1 keeps every sample"
  }

  /// Settings for frames like this one, which already has the preset's format.
  func settings(for frame: Frame) -> EncoderSettings {
    var settings = EncoderSettings(
      encoder: encoder ?? rawValue, for: frame, timeBase: ContainerTimeline.timeBase)
    settings.keyFrameInterval = isIntraOnly ? 1 : Self.framesPerKeyMax
    switch self {
    case .mpeg4: settings.quantizer = 3
    case .mjpeg: settings.quantizer = 3
    case .ffv1: settings.options = [.init("level", "3"), .init("slices", "4")]
    // With qp 0 x264 is lossless, so its preset changes speed and size alone.
    case .h264: settings.options = [.init("preset", "ultrafast"), .init("qp", "0")]
    case .copy: preconditionFailure("what is copied is not encoded")
    }
    return settings
  }

  /// Key frames are scheduled by time. This bound matters only for sources faster than any camera.
  private static let framesPerKeyMax = 240
}

extension RecordingPreset {
  /// The preset for replay copies; nil for `copy`, which has no encoder.
  package var replayEncoding: ReplayEncoding? {
    guard encoder != nil else { return nil }
    return ReplayEncoding(
      name: rawValue, isLossless: isLossless, isIntraOnly: isIntraOnly,
      format: { format(for: $0) }, settings: { settings(for: $0) })
  }
}

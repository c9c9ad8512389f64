/// The FFmpeg libraries that this process uses.
package enum MediaLibraries {
  /// Library names and versions, sorted by name, such as `libavcodec 59.37.100`.
  package static var versions: [String] {
    LibraryVersions.all.map { "\($0.name) \($0.version)" }
  }

  /// All versions as one line. Results with the same pixels have the same fingerprint.
  package static var fingerprint: String { versions.joined(separator: ", ") }

  /// Whether an encoder of this name is built in, such as `libx264`.
  package static func hasEncoder(_ name: String) -> Bool { LibraryVersions.hasEncoder(name) }

  /// Whether a decoder for this codec is built in, such as `h264`.
  package static func hasDecoder(codec: String) -> Bool { LibraryVersions.hasDecoder(codec) }

  /// The video encoders that Retake uses and this build of FFmpeg has, best for recording first.
  package static var recordingEncoders: [String] {
    ["libx264", "mpeg4", "mjpeg", "ffv1", "mpeg2video"].filter(hasEncoder)
  }
}

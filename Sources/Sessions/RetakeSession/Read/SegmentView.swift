package import RetakeMedia

/// A track within one segment, ready for a decoder.
package struct SegmentView: Sendable {
  package var file: MediaFile
  package var stream: MediaStream
  /// The packets may refer to packets of the segment before, so its decoder continues.
  package var continues: Bool

  package init(file: MediaFile, stream: MediaStream, continues: Bool = false) {
    (self.file, self.stream, self.continues) = (file, stream, continues)
  }

  /// Whether a segment may refer to the pictures of the segment before it in the same track.
  static func continues(_ stream: MediaStream, _ before: MediaStream) -> Bool {
    stream.codec == "h264" && before.codec == stream.codec && before.extradata == stream.extradata
      && (before.width, before.height) == (stream.width, stream.height)
  }
}

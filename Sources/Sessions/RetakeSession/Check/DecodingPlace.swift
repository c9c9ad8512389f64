package import RetakeCore

/// A frame that a check decodes, and the packet from which it decodes the frame.
///
/// Frames with the same entry are a group of pictures. A check in a restricted process reports each
/// place before it decodes the frame, so that an error can name the frame that ended the process.
package struct DecodingPlace: Hashable, Sendable, Codable {
  package var frame: FrameID
  package var entry: Int

  package init(frame: FrameID, entry: Int) {
    (self.frame, self.entry) = (frame, entry)
  }

  /// A group of pictures that is not decoded, because its frame ended the process of an earlier
  /// check.
  package struct Loss: Hashable, Sendable, Codable {
    package var place: DecodingPlace
    /// Such as `signal 11`.
    package var cause: String

    package init(place: DecodingPlace, cause: String) {
      (self.place, self.cause) = (place, cause)
    }

    func concerns(_ frame: EntryCheck.Candidate) -> Bool {
      frame.id.track == place.frame.track && frame.picture.entry == place.entry
    }
  }
}

/// Why the pixels of a packet's picture cannot be trusted, although a decoder may report nothing:
/// the raw value is the cause that a session stores.
package enum StreamDamage: String, Hashable, Sendable {
  /// The picture refers to a picture that the stream does not contain, or to one that does.
  case referenceMissing = "media.reference.missing"
  /// A part of the picture is not in the stream, or the picture refers to such a picture.
  case sliceMissing = "media.slice.missing"
  /// The picture is another one than that of its time.
  case misplaced = "media.picture.misplaced"
}

/// Why the pixels of a packet's picture cannot be trusted, although a decoder may report no error.
/// The raw value is the cause that a session stores.
package enum StreamDamage: String, Hashable, Sendable {
  /// The picture depends, directly or through other pictures, on a picture that the stream lacks.
  case referenceMissing = "media.reference.missing"
  /// A part of the picture is not in the stream, or the picture depends on such a picture.
  case sliceMissing = "media.slice.missing"
  /// The picture belongs to another time.
  case misplaced = "media.picture.misplaced"
}

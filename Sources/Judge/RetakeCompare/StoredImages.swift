package import RetakeCore

/// The images that golden and run keep in files.
package struct StoredImages: Sendable {
  /// One image of a sink.
  package struct Place: Hashable, Sendable {
    package var frame: FrameID
    package var sink: String
    /// Counts the images among the observations of this frame and sink; `nil` for a frame that the
    /// sink received.
    package var index: Int?

    package init(frame: FrameID, sink: String, index: Int?) {
      (self.frame, self.sink, self.index) = (frame, sink, index)
    }
  }

  /// An image of an observation that should be in a file.
  package enum Kept: Sendable {
    case array(PixelArray)
    case absent
    /// The file is no image.
    case unreadable

    package var array: PixelArray? { if case .array(let array) = self { array } else { nil } }
  }

  /// Measures the difference of two frames; `nil` if one of them was not kept.
  var frames: @Sendable (_ golden: Place, _ actual: Place) -> ImageDifference?
  /// Reads two images of observations.
  var arrays: @Sendable (_ golden: Place, _ actual: Place) -> (golden: Kept, actual: Kept)

  package init(
    frames: @escaping @Sendable (_ golden: Place, _ actual: Place) -> ImageDifference?,
    arrays: @escaping @Sendable (_ golden: Place, _ actual: Place) -> (golden: Kept, actual: Kept)
  ) {
    (self.frames, self.arrays) = (frames, arrays)
  }
}

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
  }

  /// Measures the difference of two frames; `nil` if one of them was not kept.
  var frames: @Sendable (_ golden: Place, _ actual: Place) -> ImageDifference?
  /// Reads two images of observations; `nil` if one of them was not kept.
  var arrays:
    @Sendable (_ golden: Place, _ actual: Place) -> (golden: PixelArray, actual: PixelArray)?

  package init(
    frames: @escaping @Sendable (_ golden: Place, _ actual: Place) -> ImageDifference?,
    arrays:
      @escaping @Sendable (_ golden: Place, _ actual: Place)
      -> (golden: PixelArray, actual: PixelArray)?
  ) {
    (self.frames, self.arrays) = (frames, arrays)
  }
}

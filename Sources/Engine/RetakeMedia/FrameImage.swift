public import RetakeBuffers

extension Frame {
  /// Reads a still image: a PNG, JPEG, BMP, TIFF or WebP file, whatever its name ends in.
  ///
  /// ```swift
  /// let pipeline = try Pipeline.named("faces")
  ///   .source(.frames([Frame(image: "face_happy.png"), Frame(image: "face_sad.png")]))
  ///   .detect(.faces, model: "centerface.onnx")
  ///   .results()
  /// ```
  ///
  /// Pixels keep the file's format if Retake has it: gray, RGB and RGBA with 8 or 16 bits, and the
  /// planes of a JPEG or WebP. Palettes and other layouts with 8 bits become RGB or RGBA.
  /// `rotationDegrees` comes from the EXIF data of a JPEG; a stage gets the pixels as they are
  /// stored. Color profiles are not applied. Only the first page of a TIFF file is read, and no
  /// animation.
  ///
  /// The same file has the same pixels on every machine. `AnyStage.images(path:fps:)` is a source
  /// of the images in a folder, which does not keep them in memory.
  ///
  /// - Parameter path: Relative to the working folder, or absolute. At most 256 MB.
  /// - Throws: `MediaError.missing` or another error of the file; `.notImage` for a file of another
  ///   kind, or a damaged file; `.pixelFormat` for CMYK and other pixels that no frame has.
  public init(image path: String) throws {
    self = try MediaImage.read(file: path)
  }
}

public import RetakeCore

/// An error of the frames of built-in sources.
public enum StagesError: RetakeError, Hashable {
  /// A frame was requested that the reader does not have.
  case noSuchFrame(FrameID, count: Int)
  /// The path of an image source does not exist.
  case notFound(path: String)
  /// A folder has no PNG or JPEG file.
  case noImages(path: String)

  package var facts: ErrorFacts {
    switch self {
    case .noSuchFrame(let id, let count):
      ErrorFacts(
        "stages.reader.noSuchFrame", "the source has no frame \(id); it has \(count) on track 0",
        frame: id)
    case .notFound(let path):
      ErrorFacts(
        "stages.images.notFound", "there is no such file or folder", at: path,
        advice: "Set the option 'path' of the 'images' node to a file or folder that exists")
    case .noImages(let path):
      ErrorFacts(
        "stages.images.none", "the folder has no PNG or JPEG file", at: path,
        advice: "Add images whose names end in .png, .jpg or .jpeg")
    }
  }

  /// A stable, dotted name of the case, with the module first: `"stages.images.notFound"`.
  public var code: String { facts.code }
  /// One sentence in the user's terms, without the place and without advice.
  public var message: String { facts.message }
  /// The requested frame, or the path in the options.
  public var place: Place? { facts.place }
  /// The next step for the user; `nil` if a frame does not exist.
  public var advice: String? { facts.advice }
}

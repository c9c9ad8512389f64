import RetakeCore

/// An error of the frames of built-in sources.
public enum StagesError: CodedError, Hashable {
  /// A frame was requested that the reader does not have.
  case noSuchFrame(FrameID, count: Int)
  /// The path of an image source does not exist.
  case notFound(path: String)
  /// A folder has no PNG or JPEG file.
  case noPictures(path: String)

  public var code: String {
    switch self {
    case .noSuchFrame: "stages.reader.noSuchFrame"
    case .notFound: "stages.images.notFound"
    case .noPictures: "stages.images.none"
    }
  }

  public var message: String {
    switch self {
    case .noSuchFrame(let id, let count):
      "the source has no frame \(id); it has \(count) on track 0"
    case .notFound: "there is no such file or folder"
    case .noPictures: "the folder has no PNG or JPEG file"
    }
  }

  public var place: Place? {
    switch self {
    case .noSuchFrame(let id, _): Place(frame: id)
    case .notFound(let path), .noPictures(let path): Place(file: path)
    }
  }

  public var advice: String? {
    switch self {
    case .noSuchFrame: nil
    case .notFound: "Set the option 'path' of the 'images' node to a file or folder that exists"
    case .noPictures: "Put pictures there whose names end in .png, .jpg or .jpeg"
    }
  }
}

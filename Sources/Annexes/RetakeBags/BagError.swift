package import RetakeCore

/// An error of a bag: a file or folder with messages of ROS 2 or Foxglove.
package enum BagError: RetakeError {
  /// The file or folder is not a bag.
  case notBag(path: String, cause: String, remedy: String? = nil)
  /// A folder of images whose times are not known.
  case imageTimes(path: String, cause: String, remedy: String? = nil)
  /// Bytes, rows or records that do not fit the format.
  case damaged(BagPlace, cause: String)
  /// A message that is not of its topic's type.
  case message(BagPlace, cause: String)
  /// An image whose pixels Retake has no format for.
  case imageEncoding(BagPlace, encoding: String)
  /// A compressed image, or video, of a codec that Retake does not import.
  case imageFormat(BagPlace, format: String)
  /// A size that is larger than Retake accepts.
  case tooLarge(BagPlace, what: String, bytes: UInt64, bytesMax: UInt64)
  /// The bag has no topic of this name.
  case unknownTopic(path: String, topic: String, known: [String])
  /// The topic can become neither a track nor sensors.
  case unusableTopic(path: String, topic: String, reason: String)
  /// No topic of the bag can become a track.
  case noImages(path: String, topics: [String], cut: String?)
  /// The bag cannot be read.
  case unreadable(path: String, cause: String)
  /// There was not enough memory.
  case memory(path: String)
  /// A folder without results, or results that do not belong to the session.
  case nothingToExport(session: String, cause: String)
  /// The exported file does not read back as it was written.
  case exportDiffers(path: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .notBag(let path, let cause, let remedy):
      ErrorFacts(
        "bag.open.notBag", "this is not a bag", cause: cause, at: path,
        advice: remedy
          ?? "Name a .db3, .mcap or .bag file, or the folder that 'ros2 bag record' wrote")
    case .imageTimes(let path, let cause, let remedy):
      ErrorFacts(
        "bag.images.times", "the images cannot be imported", cause: cause, at: path,
        advice: remedy ?? "Correct the list, so that each image has one time")
    case .damaged(let place, let cause):
      ErrorFacts(
        "bag.damaged", "the bag is damaged: \(cause)", place: Self.place(place),
        advice: "Record or copy it again; of a truncated bag, import reads the intact part")
    case .message(let place, let cause):
      ErrorFacts(
        "bag.message", "the message is not of its topic's type: \(cause)",
        place: Self.place(place), advice: "Import other topics: --topic NAME")
    case .imageEncoding(let place, let encoding):
      ErrorFacts(
        "bag.image.encoding", "images of the encoding '\(encoding)' cannot be imported",
        cause: [RawEncoding.problem(of: encoding), "supported: " + RawEncoding.names]
          .compactMap(\.self).joined(separator: "; "), place: Self.place(place),
        advice: "Import other topics: --topic NAME")
    case .imageFormat(let place, let format):
      ErrorFacts(
        "bag.image.encoding", "images of the format '\(format)' cannot be imported",
        cause: [
          RawEncoding.problem(of: format), "supported: JPEG and PNG images, H.264 and H.265 video",
        ].compactMap(\.self).joined(separator: "; "), place: Self.place(place),
        advice: "Import other topics: --topic NAME")
    case .tooLarge(let place, let what, let bytes, let most):
      ErrorFacts(
        "bag.tooLarge", "\(what) has \(bytes) bytes; at most \(most) are read",
        place: Self.place(place), advice: "Import other topics: --topic NAME")
    case .unknownTopic(let path, let topic, let known):
      ErrorFacts(
        "bag.topic.unknown", "the bag has no topic '\(topic)'",
        cause: "it has " + (known.isEmpty ? "none" : known.joined(separator: ", ")), at: path,
        advice: known.first.map { "Choose one: --topic \($0.shellWord)" }, kind: .usage)
    case .unusableTopic(let path, let topic, let reason):
      ErrorFacts(
        "bag.topic.unusable", "the topic '\(topic)' cannot be imported", cause: reason,
        at: path, advice: "Import other topics: --topic NAME")
    case .noImages(let path, let topics, let cut):
      ErrorFacts(
        "bag.image.none", "the bag has no images that can be imported",
        cause: Self.withoutImages(topics, cut), at: path,
        advice: "See docs/bags.md for the types and encodings that can")
    case .unreadable(let path, let cause):
      ErrorFacts(
        "bag.read", "the bag cannot be read", cause: cause, at: path,
        advice: "Check the disk, and the file's permissions")
    case .memory(let path):
      ErrorFacts("bag.memory", "there is not enough memory", at: path, kind: .memory)
    case .nothingToExport(let session, let cause):
      ErrorFacts(
        "bag.export.nothing", "there is nothing to export", cause: cause, at: session,
        advice: "List its content: retake session info \(session.shellWord)")
    case .exportDiffers(let path, let cause):
      ErrorFacts(
        "bag.export.differs", "the exported file does not read back as it was written",
        cause: cause, at: path, advice: "Check the disk, and export again")
    }
  }

  /// A bag may have thousands of topics; an error lists only the first topics.
  private static let topicsMax = 20

  private static func withoutImages(_ topics: [String], _ cut: String?) -> String {
    var texts = cut.map { [$0] } ?? []
    texts += topics.prefix(topicsMax)
    if topics.count > topicsMax { texts.append("\(topics.count - topicsMax) more topics") }
    if topics.isEmpty { texts.append("it has no topics") }
    return texts.joined(separator: "; ")
  }

  private static func place(_ place: BagPlace) -> Place {
    Place(file: place.file, part: place.part)
  }

  /// A rate for images that have times.
  static func rateOfTimes(path: String) -> BagError {
    .imageTimes(
      path: path, cause: "its images have times, and a rate would replace them",
      remedy: "Leave out --rate")
  }

  package var code: String { facts.code }
  package var message: String { facts.message }
  package var cause: String? { facts.cause }
  package var place: Place? { facts.place }
  package var advice: String? { facts.advice }

  /// In one line, for the list of losses.
  var lossText: String {
    switch self {
    case .damaged(let place, let cause), .message(let place, let cause): "\(place): \(cause)"
    case .imageEncoding(let place, let encoding):
      "\(place): images of the encoding '\(encoding)' cannot be imported"
        + (RawEncoding.problem(of: encoding).map { "; \($0)" } ?? "")
    case .imageFormat(let place, let format):
      "\(place): images of the format '\(format)' cannot be imported"
        + (RawEncoding.problem(of: format).map { "; \($0)" } ?? "")
    case .tooLarge(let place, let what, let bytes, let most):
      "\(place): \(what) has \(bytes) bytes; at most \(most) are read"
    default: cause.map { "\(message) (\($0))" } ?? message
    }
  }
}

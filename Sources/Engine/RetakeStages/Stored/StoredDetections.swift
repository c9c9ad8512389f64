package import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// Returns the detections that a file has for each frame, in place of a detector: so a tracker and
/// everything after it runs without the model.
///
/// A box is in pixels of the stage's input, like the boxes of the detector that it replaces. In a
/// file of MOT or COCO, a frame without a box has no detections. Results of Retake name each frame:
/// a frame that is not in the file, or that ended before its detections, fails.
package struct StoredDetections: PureStage, StoredStage {
  package static let kind = "detections"
  package static let summary = "returns stored detections in place of a detector"

  package let options: StoredOptions
  private let file: StoredFile

  /// Reads the file.
  ///
  /// - Throws: `OptionError`, `StoredError`, `ResultTextError`.
  package init(options: StoredOptions) throws {
    try self.init(options: options, at: { $0 })
  }

  /// Reads the file at another place than the options say.
  init(options: StoredOptions, at place: (String) throws -> String) throws {
    try options.checkRanges()
    guard Set(options.classNames).count == options.classNames.count else {
      throw OptionError(key: "classNames", message: "must name each class once")
    }
    file = try StoredFile.file(options, at: place)
    if let region = file.content.region { throw StoredError.region(options.file, region) }
    self.options = options
  }

  package var storedFiles: [String: String] { file.digests }

  package var fingerprint: String {
    file.digests.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ")
  }

  package func process(
    _ frame: Frame, _ context: StageContext
  ) throws(StageError) -> Detections {
    let content = file.content
    guard context.item == nil else {
      throw halt("inForEach", "stored detections are of complete frames, not of regions")
    }
    let id = content.isOfRun ? context.frame : FrameID(track: 0, sequence: context.frame.sequence)
    guard let stored = content.frames[id] else {
      guard content.isOfRun else { return Detections([], classNames: content.classNames) }
      throw StageError(
        code: "detections.noFrame", message: "\(file.name) has no result of the frame \(id)")
    }
    if let ended = stored.ended {
      throw StageError(
        code: "detections.noResult",
        message: "the frame \(id) has no detections in \(file.name): \(ended)")
    }
    if let size = stored.size, size != [frame.width, frame.height] {
      throw halt(
        "otherSize",
        "\(file.name) is for images of \(size[0])x\(size[1]), and the frame \(id) has "
          + "\(frame.width)x\(frame.height): place the node where frames have that size")
    }
    if options.outside == .refuse { try requireInside(stored, frame, id) }
    return Detections(stored.items, classNames: content.classNames)
  }

  private func requireInside(
    _ stored: StoredFrame, _ frame: Frame, _ id: FrameID
  ) throws(StageError) {
    let (width, height) = (frame.width, frame.height)
    // Results of a run have the boxes that a stage returned.
    let index = stored.items.firstIndex {
      $0.isOutside(width: width, height: height) || !file.content.isOfRun && $0.hasNoArea
    }
    guard let index else { return }
    let place = file.content.unit.words(stored.places.isEmpty ? 0 : stored.places[index])
    guard !stored.items[index].hasNoArea else {
      throw halt(
        "noArea",
        "\(file.name), \(place): a box of the frame \(id) has no area, so it can match no object; "
          + "remove it, or set 'outside' to 'keep'")
    }
    throw halt(
      "outside",
      "\(file.name), \(place): no pixel of the frame \(id) of \(width)x\(height) is in "
        + "the box; place the node where frames have the size of the file, or set 'outside' to "
        + "'keep'")
  }

  /// A file that is for other frames makes no later frame right.
  private func halt(_ word: String, _ message: String) -> StageError {
    StageError(code: "detections.\(word)", message: message, severity: .unrecoverable)
  }
}

// MARK: - The frames of a session

extension StoredDetections {
  package func requireFrames(_ counts: [Int: Int]) throws {
    let content = file.content
    let most = counts.values.max() ?? 0
    if let count = content.frameCount, count != most {
      throw StoredError.frames(
        file.name,
        "the file has \(counted(count, "image")), and the session "
          + counted(most, "frame"),
        advice: "Name the file of this session, or set the option 'firstFrame'")
    }
    if content.isOfRun, !content.frames.isEmpty,
      !content.frames.keys.contains(where: { counts[$0.track] != nil })
    {
      throw StoredError.frames(
        file.name, "the results are of other tracks than the pipeline reads",
        advice: "Replay the track of the results: --track NODE=NUMBER")
    }
    // The first one in the order of frames: the order of a Dictionary differs between runs.
    let beyond = content.frames.filter { id, _ in
      id.sequence >= (content.isOfRun ? counts[id.track] ?? .max : most)
    }
    guard let (id, frame) = beyond.min(by: { $0.key < $1.key }) else { return }
    let number = content.firstFrame.map { "\(id.sequence + $0)" } ?? "\(id)"
    let place = if case .frame = content.unit { "" } else { "\(content.unit.words(frame.place)): " }
    throw StoredError.frames(
      file.name,
      "\(place)the frame \(number) is after the session's last frame; the session has "
        + counted(counts[id.track] ?? most, "frame"),
      advice: "Name the file of this session"
        + (content.firstFrame == nil ? "" : ", or set the option 'firstFrame'"))
  }
}

package import RetakeCompare
package import RetakeCore
import RetakeStages

/// The labels of a session, with drafts: the file `Labels/SESSION.json`. docs/labels.md has its
/// format.
package struct LabelDocument: Hashable, Sendable {
  package struct Frame: Hashable, Sendable {
    package var labels: FrameLabels
    /// Proposed, and not yet corrected by a person.
    package var isDraft = false
    /// `file_name`, for tools that show the frame.
    package var imageName: String?

    package init(_ labels: FrameLabels = FrameLabels(), isDraft: Bool = false) {
      (self.labels, self.isDraft) = (labels, isDraft)
    }
  }

  /// The most boxes in a frame: each has a number of its frame's own.
  static let boxesMax = 9_999

  /// Without `LabelBox.ignoreLabel`.
  package var classes: [String] = []
  package var frames: [FrameID: Frame] = [:]
  /// By labelled track, the digest of its recording. A track that is not here belongs to any
  /// recording of the session's name.
  package var recordings: [Int: Digest128] = [:]

  package init() {}

  /// The labels that are scored: all frames but the drafts.
  package var labels: Labels {
    let corrected = frames.filter { !$0.value.isDraft }
    return Labels(
      classes: classes, frames: corrected.mapValues(\.labels),
      drafts: frames.count - corrected.count)
  }

  /// Of the canonical text: a file that was only formatted has the same digest.
  package var digest: Digest128 { Digest128(of: text) }

  /// Adds the class of a box that is not known yet.
  package mutating func note(_ label: String) {
    if label != LabelBox.ignoreLabel, !classes.contains(label) { classes.append(label) }
  }
}

// MARK: - Reading

extension LabelDocument {
  /// Reads a file that `text` wrote, or that a person or a tool for COCO changed.
  ///
  /// - Throws: `StoredError` for a file that is not COCO, `LabelError`.
  package init(_ bytes: [UInt8], file: String) throws {
    var document = COCODocument(file: file, firstFrame: 0)
    let content = try document.content(bytes)
    guard let images = content.images else {
      throw LabelError.element(file, "/images", "the file has no 'images'")
    }
    classes = content.classNames.filter { $0 != LabelBox.ignoreLabel }
    recordings = try Self.recordings(content.info, file)
    for (number, image) in images.sorted(by: { $0.key < $1.key }) {
      let reader = Element(file: file, number: number, json: image.element)
      var frame = try reader.frame()
      if let boxes = content.frames[FrameID(track: 0, sequence: number)] {
        frame.labels.boxes = zip(boxes.items, boxes.notes).map {
          LabelBox($0, $1, names: content.classNames)
        }
      }
      guard frames.updateValue(frame, forKey: try reader.id()) == nil else {
        throw LabelError.element(file, reader.place, "the frame is there twice")
      }
    }
  }

  private static func recordings(_ info: JSONValue?, _ file: String) throws -> [Int: Digest128] {
    guard case .object(let members)? = info?["recordings"] else { return [:] }
    var recordings: [Int: Digest128] = [:]
    for (track, value) in members {
      guard let track = Int(track), case .string(let text) = value,
        let digest = Digest128(hex: text)
      else {
        throw LabelError.element(
          file, "/info/recordings/\(track.pointerEscaped)", "it is not the digest of a recording")
      }
      recordings[track] = digest
    }
    return recordings
  }

  /// An element of `images`.
  private struct Element {
    let file: String
    let number: Int
    let json: JSONValue

    var place: String { "/images with the id \(number)" }

    func id() throws -> FrameID {
      guard case .string(let text)? = json["frame"], let id = FrameID(labelled: text) else {
        throw LabelError.element(
          file, place, "an image has a 'frame', such as \"0:26\": track 0, frame 26",
          advice: "Import a file of another program: retake label import FILE --session SESSION")
      }
      return id
    }

    func frame() throws -> Frame {
      var frame = Frame(isDraft: try flag("draft", or: false))
      frame.labels.hasBoxes = try flag("boxes", or: true)
      if case .string(let name)? = json["file_name"] { frame.imageName = name }
      switch json["scalars"] {
      case nil: break
      case .object(let members)?:
        for (name, value) in members {
          switch value {
          case .integer(let value): frame.labels.scalars[name] = Double(value)
          case .number(let value): frame.labels.scalars[name] = value
          default: throw LabelError.element(file, place, "the scalar '\(name)' is not a number")
          }
        }
      default:
        throw LabelError.element(file, place, "'scalars' must be an object with numbers")
      }
      return frame
    }

    private func flag(_ key: String, or standard: Bool) throws -> Bool {
      switch json[key] {
      case nil: return standard
      case .bool(let value)?: return value
      default: throw LabelError.element(file, place, "'\(key)' must be true or false")
      }
    }
  }
}

extension FrameID {
  /// Reads `0:26`.
  package init?(labelled text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let track = parts[0], let sequence = parts[1], track >= 0,
      sequence >= 0
    else { return nil }
    self.init(track: track, sequence: sequence)
  }
}

extension LabelBox {
  init(_ detection: Detection, _ note: StoredNote, names: [String]) {
    let index = detection.classIndex
    self.init(
      box: detection.box, label: names.indices.contains(index) ? names[index] : "\(index)",
      identity: detection.identity, isIgnored: note.isIgnored, text: note.text)
  }
}

// MARK: - Writing

extension LabelDocument {
  /// Canonical JSON with one annotation, category or image in a line, so that a change of one frame
  /// changes the lines of that frame alone.
  package var text: String {
    let names = classes + (hasIgnored ? [LabelBox.ignoreLabel] : [])
    let categories = Dictionary(
      names.enumerated().map { ($1, $0 + 1) }, uniquingKeysWith: { first, _ in first })
    // The number of the frame for one track; for several, numbers of tracks alternate.
    let tracks = Set(frames.keys.map(\.track)).sorted()
    var annotations: [JSONValue] = []
    var images: [JSONValue] = []
    for (id, frame) in frames.sorted(by: { $0.key < $1.key }) {
      let image = id.sequence * tracks.count + (tracks.firstIndex(of: id.track) ?? 0)
      images.append(frame.json(id, image: image))
      for (index, box) in frame.labels.boxes.enumerated() {
        annotations.append(
          box.json(
            number: image * (Self.boxesMax + 1) + index + 1, image: image,
            category: categories[box.label] ?? 0))
      }
    }
    let lists = [
      ("annotations", annotations),
      (
        "categories",
        names.map { .object(["id": .integer(Int64(categories[$0] ?? 0)), "name": .string($0)]) }
      ), ("images", images),
    ]
    var parts = lists.map { name, elements in
      let lines = elements.map(\.canonicalText).joined(separator: ",\n")
      return "\"\(name)\":[" + (lines.isEmpty ? "]" : "\n\(lines)\n]")
    }
    if !recordings.isEmpty {
      let digests = Dictionary(
        recordings.map { ("\($0.key)", JSONValue.string("\($0.value)")) },
        uniquingKeysWith: { first, _ in first })
      parts.append(
        "\"info\":" + JSONValue.object(["recordings": .object(digests)]).canonicalText)
    }
    return "{\n\(parts.joined(separator: ",\n"))\n}\n"
  }

  private var hasIgnored: Bool {
    frames.values.contains { $0.labels.boxes.contains { $0.label == LabelBox.ignoreLabel } }
  }
}

extension LabelDocument.Frame {
  fileprivate func json(_ id: FrameID, image: Int) -> JSONValue {
    var members: [String: JSONValue] = [
      "id": .integer(Int64(image)), "frame": .string("\(id)"),
    ]
    if let imageName { members["file_name"] = .string(imageName) }
    if isDraft { members["draft"] = .bool(true) }
    if !labels.hasBoxes { members["boxes"] = .bool(false) }
    if !labels.scalars.isEmpty {
      members["scalars"] = .object(labels.scalars.mapValues { .number($0) })
    }
    return .object(members)
  }
}

extension LabelBox {
  /// With the `area` and `iscrowd` that pycocotools requires.
  fileprivate func json(number: Int, image: Int, category: Int) -> JSONValue {
    var members: [String: JSONValue] = [
      "id": .integer(Int64(number)), "image_id": .integer(Int64(image)),
      "category_id": .integer(Int64(category)),
      "bbox": .array([box.x, box.y, box.width, box.height].map { .number($0) }),
      "area": .number(box.area), "iscrowd": .integer(isIgnored ? 1 : 0),
    ]
    if let identity { members["track_id"] = .integer(Int64(identity)) }
    if let text { members["utf8_string"] = .string(text) }
    return .object(members)
  }
}

// MARK: - Correcting

extension LabelDocument {
  /// Replaces the labels of frames, after the checks of an import. New class names are added.
  ///
  /// - Parameters:
  ///   - corrected: The new labels; `nil` for a frame that is not labelled any more.
  ///   - footage: The tracks of the session.
  ///   - file: The file of these labels, for an error.
  /// - Throws: `LabelError`; then some of the frames are replaced.
  package mutating func correct(
    _ corrected: [FrameID: Frame?], footage: [LabelFootage], file: String
  ) throws {
    for (id, frame) in corrected.sorted(by: { $0.key < $1.key }) {
      guard var frame else {
        frames[id] = nil
        continue
      }
      // The checks name a track that the session does not have.
      guard let footage = footage.first(where: { $0.track == id.track }) ?? footage.first else {
        throw LabelError.other(
          file, "the session has no track", advice: "Correct labels of another session")
      }
      var builder = LabelBuilder(file: file, footage: footage)
      try builder.add(id, place: "")
      for (index, box) in frame.labels.boxes.enumerated() {
        let place = "box \(index + 1)"
        guard !box.label.isEmpty else {
          throw LabelError.other(
            file, "\(place): the box has no class in the frame \(id)", advice: "Name its class")
        }
        try builder.add(box, to: id, place: place)
      }
      builder.document.classes.forEach { note($0) }
      frame.imageName = frames[id]?.imageName
      frames[id] = frame
    }
  }
}

// MARK: - Merging

extension LabelDocument {
  /// Boxes and numbers are two layers: labels with one of them keep the other.
  private enum Layer {
    case boxes
    case numbers(Set<String>)
  }

  /// These labels with the labels of a file. Boxes replace boxes, and numbers replace numbers; drafts of
  /// other frames stay. Labels of the track that belong to another recording are removed.
  ///
  /// - Parameters:
  ///   - replaces: Whether labels of the same track and kind are removed; otherwise such
  ///     labels are an error.
  ///   - file: The file of these labels, for an error.
  /// - Throws: `LabelError`.
  package func adding(
    _ other: LabelDocument, track: Int, replaces: Bool, file: String
  ) throws -> LabelDocument {
    var result = self
    result.recordings.merge(other.recordings) { $1 }
    if let old = recordings[track], let new = other.recordings[track], old != new {
      guard replaces else { throw LabelError.exists(file, "labels of another recording") }
      result.frames = frames.filter { $0.key.track != track }
    }
    for layer in other.layers {
      for (id, frame) in result.frames where id.track == track && !frame.isDraft {
        var left = frame.labels
        let what: String
        switch layer {
        case .boxes:
          guard left.hasBoxes else { continue }
          (left.boxes, left.hasBoxes, what) = ([], false, "labelled boxes")
        case .numbers(let names):
          let known = names.intersection(left.scalars.keys).sorted()
          guard !known.isEmpty else { continue }
          for name in known { left.scalars[name] = nil }
          what = "numbers named '\(known[0])'"
        }
        guard replaces else { throw LabelError.exists(file, what) }
        let isEmpty = !left.hasBoxes && left.scalars.isEmpty
        result.frames[id]?.labels = left
        if isEmpty { result.frames[id] = nil }
      }
    }
    for (id, frame) in other.frames { result.add(frame.labels, to: id) }
    result.listClasses(adding: other.classes)
    return result
  }

  private var layers: [Layer] {
    let names = frames.values.reduce(into: Set<String>()) { $0.formUnion($1.labels.scalars.keys) }
    return (frames.values.contains { $0.labels.hasBoxes } ? [.boxes] : [])
      + (names.isEmpty ? [] : [.numbers(names)])
  }

  private mutating func add(_ labels: FrameLabels, to id: FrameID) {
    var merged = frames[id]?.labels ?? FrameLabels(hasBoxes: false)
    var isDraft = frames[id]?.isDraft ?? false
    if labels.hasBoxes { (merged.boxes, merged.hasBoxes, isDraft) = (labels.boxes, true, false) }
    merged.scalars.merge(labels.scalars) { $1 }
    frames[id, default: Frame()].labels = merged
    frames[id]?.isDraft = isDraft
  }

  /// Keeps the classes that are new or that a box has, in their order.
  private mutating func listClasses(adding new: [String]) {
    let used = frames.values.reduce(into: Set<String>()) {
      $0.formUnion($1.labels.boxes.map(\.label))
    }
    classes = classes.filter { used.contains($0) || new.contains($0) }
    for name in new { note(name) }
  }
}

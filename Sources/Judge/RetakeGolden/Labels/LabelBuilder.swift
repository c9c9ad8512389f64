import RetakeCompare
import RetakeCore

/// Labels of a file, checked against their session one by one.
struct LabelBuilder {
  let file: String
  let footage: LabelFootage
  private(set) var document = LabelDocument()
  /// By frame, the identities and the boxes without an identity: a file with one of them twice
  /// cannot be read.
  private var objects: [FrameID: Set<LabelBox>] = [:]

  init(file: String, footage: LabelFootage) {
    (self.file, self.footage) = (file, footage)
    document.recordings[footage.track] = footage.digest
  }

  /// - Parameters:
  ///   - size: Width and height of the labelled image, if the file says so.
  ///   - place: The frame in the file, such as `line 12`; empty if the file has no place for it.
  mutating func add(_ id: FrameID, size: [Int]? = nil, place: String) throws {
    try require(id, place)
    if let size { try require(size: size, place) }
    guard document.frames.updateValue(LabelDocument.Frame(), forKey: id) == nil else {
      throw LabelError.other(
        file, "\(prefix(place))the frame \(id) is there twice", advice: "Remove one of them")
    }
  }

  /// Adds a box to a frame that was added.
  mutating func add(_ box: LabelBox, to id: FrameID, place: String) throws {
    let prefix = prefix(place)
    let numbers = [box.box.x, box.box.y, box.box.width, box.box.height]
    guard numbers.allSatisfy({ $0.isFinite && $0.magnitude <= 1_000_000 }), box.box.width > 0,
      box.box.height > 0
    else {
      throw LabelError.other(
        file, "\(prefix)the box has no area, or is not finite",
        advice: "Remove it, or export the labels again")
    }
    guard box.box.x < Double(footage.width), box.box.y < Double(footage.height),
      box.box.x + box.box.width > 0, box.box.y + box.box.height > 0
    else {
      throw LabelError.other(
        file,
        "\(prefix)no pixel of the frame \(id) of \(footage.width)x\(footage.height) is in the box",
        advice: "Import the labels of this session, in pixels of its stored frames")
    }
    let object =
      box.identity.map {
        LabelBox(box: Box(x: 0, y: 0, width: 0, height: 0), label: "", identity: $0)
      } ?? LabelBox(box: box.box, label: box.label)
    guard objects[id, default: []].insert(object).inserted else {
      let what = box.identity.map { "the identity \($0)" } ?? "the same box"
      throw LabelError.other(
        file, "\(prefix)\(what) is there twice in the frame \(id)",
        advice: "Remove one of the boxes, or correct its identity")
    }
    guard
      document.frames[id, default: LabelDocument.Frame()].labels.boxes.count
        < LabelDocument.boxesMax
    else {
      throw LabelError.other(
        file, "\(prefix)the frame \(id) has more than \(LabelDocument.boxesMax) boxes",
        advice: "Label a crowd as one region")
    }
    document.note(box.label)
    document.frames[id]?.labels.boxes.append(box)
  }

  /// Adds a number to a frame whose boxes are not labelled.
  mutating func add(_ name: String, _ value: Double, to id: FrameID, place: String) throws {
    try require(id, place)
    document.frames[id, default: LabelDocument.Frame(FrameLabels(hasBoxes: false))]
      .labels.scalars[name] = value
  }

  private func require(_ id: FrameID, _ place: String) throws {
    guard id.sequence < 0 || id.sequence >= footage.frames || id.track != footage.track else {
      return
    }
    throw LabelError.other(
      file,
      "\(prefix(place))the session '\(footage.session)' has no frame \(id): its track "
        + "\(footage.track) has \(counted(footage.frames, "frame"))",
      advice:
        "Import the labels of this session; if the file counts from another number, say which "
        + "number frame 0 has: --first-frame 1")
  }

  func require(size: [Int], _ place: String) throws {
    guard size != [footage.width, footage.height] else { return }
    let isTurned = footage.rotationDegrees % 180 != 0 && size == [footage.height, footage.width]
    throw LabelError.other(
      file,
      "\(prefix(place))the labels are for images of \(size.map(String.init).joined(separator: "x"))"
        + ", and the stored frames have \(footage.width)x\(footage.height)"
        + (isTurned ? ": players turn them by \(footage.rotationDegrees) degrees" : ""),
      advice: "Label the stored frames: retake session export --png writes them")
  }

  private func prefix(_ place: String) -> String { place.isEmpty ? "" : "\(place): " }
}

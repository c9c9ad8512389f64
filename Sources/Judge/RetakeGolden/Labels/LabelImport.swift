import Foundation
import RetakeCompare
import RetakeCore
import RetakeStages

/// Labels of another program for a session.
package struct LabelImport {
  package enum Format: String, CaseIterable, Sendable {
    /// COCO JSON with `images` and `annotations`.
    case coco
    /// MOTChallenge text: `gt.txt`.
    case mot
    /// "CVAT for images 1.1" or "CVAT for video 1.1".
    case cvat
    /// A folder with a text file for each image.
    case yolo
    /// JSON lines of Retake.
    case lines
    /// Numbers by frame or by time.
    case table
  }

  /// The largest file that is read.
  static let bytesMax: Int64 = 256 << 20

  package let file: String
  /// `nil`: by the content.
  package var format: Format?
  /// The file's number of the session's frame 0; `nil`: 1 for MOT, 0 for CVAT and tables, and the
  /// order of the names for COCO and YOLO.
  package var firstFrame: Int?
  /// Names by the number of a class.
  package var classes: [Int: String] = [:]
  /// Whether `classes` are names in their order, without numbers. MOT has no common first number.
  package var areClassesInOrder = false

  package init(_ file: String) { self.file = file }

  /// Reads the file, and checks it against the session.
  ///
  /// - Throws: `LabelError`, `StoredError`.
  package func document(for footage: LabelFootage) throws -> LabelDocument {
    var builder = LabelBuilder(file: file, footage: footage)
    var isFolder = ObjCBool(false)
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
      throw LabelError.unreadable(file, cause: RegularFile.Refusal.missing.description)
    }
    if isFolder.boolValue {
      guard format == nil || format == .yolo else {
        throw LabelError.unreadable(file, cause: RegularFile.Refusal.folder.description)
      }
      try YOLOLabels(folder: file, firstFrame: firstFrame, classes: classes).read(into: &builder)
      return builder.document
    }
    let bytes = try Self.bytes(of: file)
    guard let format = format ?? Self.format(of: bytes) else {
      throw LabelError.unknownFormat(file)
    }
    guard classes.isEmpty || format == .mot else { throw namedClasses }
    if format == .mot, areClassesInOrder, !classes.isEmpty {
      throw LabelError.unclear(
        file, "the classes of MOT are numbers, and --classes does not say which",
        advice: "Write each name with its number: --classes 1=person,3=car")
    }
    if format == .coco, Self.hasDrafts(bytes) {
      throw LabelError.unclear(
        file, "the file has drafts, which are proposed and not corrected",
        advice:
          "Correct them and remove \"draft\": true; a file of 'retake label propose' needs no "
          + "import")
    }
    switch format {
    case .yolo:
      throw LabelError.unreadable(file, cause: "it is a file, and YOLO's labels are a folder")
    case .cvat: try CVATLabels(file: file, firstFrame: firstFrame ?? 0).read(bytes, into: &builder)
    case .table: try ScalarTable(file: file, firstFrame: firstFrame).read(bytes, into: &builder)
    case .coco, .mot, .lines: try readStored(format, into: &builder)
    }
    return builder.document
  }

  private var namedClasses: LabelError {
    .unclear(
      file, "the file names its classes, so --classes has no effect", advice: "Leave out --classes")
  }

  static func bytes(of file: String) throws -> [UInt8] {
    do {
      let data = try RegularFile.contents(file, links: .followed, bytesMax: bytesMax)
      if LargeFilePointer(data) != nil { throw LabelError.pointer(file) }
      // Programs of Windows put a byte order mark before the text.
      return [UInt8](data.starts(with: [0xef, 0xbb, 0xbf]) ? data.dropFirst(3) : data)
    } catch let error as RegularFile.Refusal {
      throw LabelError.unreadable(file, cause: error.description)
    }
  }

  private static func hasDrafts(_ bytes: [UInt8]) -> Bool {
    guard let document = try? JSONValue(parsing: Data(bytes)),
      case .array(let images)? = document["images"]
    else { return false }
    return images.contains { $0["draft"] == .bool(true) }
  }

  private static func format(of bytes: [UInt8]) -> Format? {
    if bytes.first(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) == UInt8(ascii: "<") {
      return .cvat
    }
    if ScalarTable.isHeader(bytes.prefix { $0 != 0x0a }) { return .table }
    switch StoredFormat.of(bytes) {
    case .coco: return .coco
    case .mot: return .mot
    case .lines: return .lines
    case .automatic, .golden, nil: return nil
    }
  }

  // MARK: Files that `detections` nodes read, too

  private func readStored(_ format: Format, into builder: inout LabelBuilder) throws {
    var options = StoredOptions(file: file)
    options.format = format == .coco ? .coco : format == .mot ? .mot : .lines
    options.firstFrame = firstFrame ?? -1
    let content = try StoredContent(reading: options)
    if format == .coco { try checkImages(content, builder.footage) }
    for (id, size) in labelled(content, track: builder.footage.track) {
      try builder.add(id, size: size, place: "")
      // Without tracks in the file, its frames are of track 0.
      let key = content.isOfRun ? id : FrameID(track: 0, sequence: id.sequence)
      guard let frame = content.frames[key] else { continue }
      for (index, item) in frame.items.enumerated() {
        try builder.add(
          try box(item, frame.notes.indices.contains(index) ? frame.notes[index] : nil, content),
          to: id, place: frame.places.isEmpty ? "" : content.unit.words(frame.places[index]))
      }
    }
  }

  private func checkImages(_ content: StoredContent, _ footage: LabelFootage) throws {
    guard content.images != nil else {
      throw LabelError.unclear(
        file, "the file has no 'images', so it does not say which frames are labelled",
        advice: "Export annotations with their images, not results")
    }
    guard let count = content.frameCount, count != footage.frames else { return }
    throw LabelError.other(
      file,
      "the file has \(counted(count, "image")), and the session "
        + counted(footage.frames, "frame"),
      advice: "If the ids of the images number the frames, say which id frame 0 has: "
        + "--first-frame 0")
  }

  /// The frames that the file labels, in their order.
  private func labelled(_ content: StoredContent, track: Int) -> [(FrameID, size: [Int]?)] {
    if content.isOfRun {
      return content.frames.filter { $0.value.ended == nil }.keys.sorted().map { ($0, nil) }
    }
    if let images = content.images {
      return images.sorted { $0.key < $1.key }.map {
        (FrameID(track: track, sequence: $0.key), $0.value.size)
      }
    }
    // MOTChallenge labels each frame, and has no line for one without objects.
    let known = content.frames.keys.map(\.sequence)
    guard let first = known.min(), let last = known.max() else { return [] }
    return (first...last).map { (FrameID(track: track, sequence: $0), nil) }
  }

  private func box(
    _ item: Detection, _ note: StoredNote?, _ content: StoredContent
  ) throws -> LabelBox {
    // MOTChallenge: a box with the confidence 0 is not evaluated.
    if content.images == nil, !content.isOfRun, item.score == 0 {
      return LabelBox(box: item.box, label: LabelBox.ignoreLabel, isIgnored: true)
    }
    let index = item.classIndex
    let known = content.classNames.indices.contains(index) ? content.classNames[index] : nil
    guard let label = classes[index] ?? known else {
      throw LabelError.unclear(
        file, "the class \(index) has no name",
        advice: "Name the classes of the file: --classes \(index)=person")
    }
    return LabelBox(
      box: item.box, label: label, identity: item.identity,
      isIgnored: (note?.isIgnored ?? false) || label == LabelBox.ignoreLabel,
      text: note?.text ?? (content.isOfRun ? item.classes.first?.label : nil))
  }
}

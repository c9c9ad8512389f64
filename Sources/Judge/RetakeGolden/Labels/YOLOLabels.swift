import Foundation
import RetakeCompare
import RetakeCore

/// Reads a folder of YOLO's text files: `NAME.txt` for each image, with a line
/// `class center-x center-y width height` for each box, relative to the image's size.
///
/// An empty file is a frame without objects; a frame without a file is not labelled.
struct YOLOLabels {
  /// The most files of a folder.
  private static let filesMax = 1_000_000
  /// Files that name classes, and not boxes.
  private static let nameFiles = ["classes.txt", "obj.names", "data.yaml"]

  let folder: String
  let firstFrame: Int?
  let classes: [Int: String]

  func read(into builder: inout LabelBuilder) throws {
    let footage = builder.footage
    let names = classes.isEmpty ? try self.names() : classes
    for (sequence, name) in try files(footage) {
      let path = "\(folder)/\(name)"
      let id = FrameID(track: footage.track, sequence: sequence)
      try builder.add(id, place: name)
      let text = String(decoding: try LabelImport.bytes(of: path), as: UTF8.self)
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
        let box = try box(String(line), path, index + 1, names, footage)
        try builder.add(box, to: id, place: "\(name), line \(index + 1)")
      }
    }
  }

  private func box(
    _ line: String, _ path: String, _ number: Int, _ names: [Int: String], _ footage: LabelFootage
  ) throws -> LabelBox {
    let fields = line.split(whereSeparator: \.isWhitespace).map { Double($0) }
    let numbers = fields.compactMap(\.self).filter(\.isFinite)
    guard fields.count == 5, numbers.count == 5, let index = Int(exactly: numbers[0]) else {
      throw LabelError.line(
        path, number, "a line is: class center-x center-y width height",
        advice: "Export boxes, not polygons or keypoints")
    }
    guard numbers.dropFirst().allSatisfy({ (-1...2).contains($0) }) else {
      throw LabelError.line(
        path, number, "coordinates are shares of the image's size, 0 to 1",
        advice: "Export the labels as YOLO's normalized coordinates")
    }
    guard let label = names[index] else {
      throw LabelError.unclear(
        path, "the class \(index) has no name",
        advice: "Name the classes in their order: --classes car,person")
    }
    // A thousandth of a pixel: shares have six decimals.
    func pixels(_ share: Double, _ side: Int) -> Double {
      (share * Double(side) * 1_000).rounded() / 1_000
    }
    let (width, height) = (numbers[3], numbers[4])
    return LabelBox(
      box: Box(
        x: pixels(numbers[1] - width / 2, footage.width),
        y: pixels(numbers[2] - height / 2, footage.height),
        width: pixels(width, footage.width), height: pixels(height, footage.height)),
      label: label, isIgnored: label == LabelBox.ignoreLabel)
  }

  /// Each text file with its frame, in the order of the frames.
  private func files(_ footage: LabelFootage) throws -> [(Int, String)] {
    let entries = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".txt") && !Self.nameFiles.contains($0) && !$0.hasPrefix(".") }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !entries.isEmpty, entries.count <= Self.filesMax else {
      throw LabelError.unreadable(
        folder, cause: entries.isEmpty ? "it has no text file" : "it has too many files")
    }
    guard let firstFrame else {
      guard entries.count == footage.frames else {
        throw LabelError.unclear(
          folder,
          "it has \(counted(entries.count, "text file")) for "
            + "\(counted(footage.frames, "frame")), so their order does not say which frames they "
            + "are of",
          advice: "If the names end in the number of the frame, say which number frame 0 has: "
            + "--first-frame 0")
      }
      return Array(entries.enumerated().map { ($0, $1) })
    }
    return try entries.map { name in
      let digits = name.dropLast(4).reversed().prefix { $0.isASCII && $0.isNumber }
      guard let number = Int(String(digits.reversed())) else {
        throw LabelError.unclear(
          "\(folder)/\(name)", "the name does not end in the number of a frame",
          advice: "Name the files like frame_000026.txt")
      }
      return (number - firstFrame, name)
    }.sorted { $0.0 < $1.0 }
  }

  // MARK: Names

  /// The names in a file of the folder, or of the two folders around it.
  private func names() throws -> [Int: String] {
    let around = URL(fileURLWithPath: folder).standardizedFileURL.deletingLastPathComponent()
    for place in [folder, around.path, around.deletingLastPathComponent().path] {
      for name in Self.nameFiles {
        let path = "\(place)/\(name)"
        guard RegularFile.isTaken(path) else { continue }
        let text = String(decoding: try LabelImport.bytes(of: path), as: UTF8.self)
        return name.hasSuffix(".yaml") ? try Self.names(yaml: text, path) : Self.names(lines: text)
      }
    }
    throw LabelError.unclear(
      folder, "neither it nor the folders around it have classes.txt, obj.names or data.yaml",
      advice: "Name the classes in their order: --classes car,person")
  }

  private static func names(lines: String) -> [Int: String] {
    let names = lines.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { $0.filter { $0 != "\r" } }
    return Dictionary(
      uniqueKeysWithValues: names.enumerated().filter { !$1.isEmpty }.map { ($0, $1) })
  }

  /// `names` of data.yaml: a list, or names by their numbers.
  private static func names(yaml text: String, _ path: String) throws -> [Int: String] {
    switch (try? JSONValue(yaml: text))?["names"] {
    case .array(let names)?:
      return Dictionary(
        uniqueKeysWithValues: names.enumerated().compactMap { index, name in
          if case .string(let name) = name { (index, name) } else { nil }
        })
    case .object(let members)?:
      return Dictionary(
        uniqueKeysWithValues: members.compactMap { key, name in
          if let index = Int(key), case .string(let name) = name { (index, name) } else { nil }
        })
    default:
      throw LabelError.unclear(
        path, "the file has no 'names'", advice: "Name the classes in their order: --classes a,b")
    }
  }
}

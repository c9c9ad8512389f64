import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia

/// A file of stored detections, read and checked.
final class StoredFile: Sendable {
  /// The largest file, also of all results files of a golden together.
  private static let bytesMax: Int64 = 64 << 20
  /// The most results files of a golden: a million frames.
  private static let chunksMax = 1_024

  let name: String
  let content: StoredContent
  /// SHA-256 by the path in the document.
  let digests: [String: String]

  private init(_ options: StoredOptions, _ paths: [(name: String, place: String)]) throws {
    name = options.file
    var left = Self.bytesMax
    let files = try paths.map { path in
      let bytes = try Self.read(path, bytesMax: left)
      left -= Int64(bytes.count)
      return (name: path.name, bytes: bytes)
    }
    digests = Dictionary(
      files.map { ($0.name, Sha256.digest(of: $0.bytes)) }, uniquingKeysWith: { $1 })
    var content = try Self.content(files, options)
    if !options.classNames.isEmpty { content.classNames = options.classNames }
    self.content = content
  }

  private static func read(
    _ path: (name: String, place: String), bytesMax: Int64
  ) throws -> [UInt8] {
    do {
      // A link is followed, because a person names the file.
      let data = try RegularFile.contents(path.place, links: .followed, bytesMax: bytesMax)
      if LargeFilePointer(data) != nil { throw StoredError.pointer(path.name) }
      return [UInt8](data)
    } catch let error as RegularFile.Refusal {
      throw StoredError.unreadable(path.name, cause: error.description)
    }
  }

  private static func content(
    _ files: [(name: String, bytes: [UInt8])], _ options: StoredOptions
  ) throws -> StoredContent {
    // Programs of Windows put a byte order mark before the text.
    let bytes = files[0].bytes
    let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
    let format: StoredFormat
    if options.format == .automatic {
      guard !text.allSatisfy(\.isWhiteSpace) else { throw StoredError.empty(options.file) }
      guard let found = StoredFormat.of(text) else {
        throw StoredError.unknownFormat(options.file)
      }
      format = found
    } else {
      format = options.format
    }
    let first = options.firstFrame
    try options.refuseUnused(format)
    switch format {
    case .mot:
      return try MOTText(file: options.file, firstFrame: first < 0 ? 1 : first).content(text)
    case .coco:
      var document = COCODocument(file: options.file, firstFrame: first < 0 ? nil : first)
      return try document.content(text)
    case .lines:
      var lines = ResultLineFile(file: options.file, sink: options.sink)
      return try lines.content(text)
    case .golden, .automatic:
      do {
        return try GoldenResults(sink: options.sink).content(files)
      } catch let error as ResultTextError {
        throw StoredError.results(error)
      }
    }
  }
}

extension StoredFile {
  /// Two files with equal keys are the same: equal options, and unchanged files.
  private struct Key: Hashable {
    var options: StoredOptions
    var places: [String]
    /// `nil` for a file that is not there.
    var files: [RegularFile.Facts?]
  }

  /// Shared, because a document is read several times.
  private static let files = SharedValues<Key, StoredFile>()

  /// The file of a node, with all results files of a golden.
  ///
  /// - Parameter place: Where a path of the document is read.
  /// - Throws: `StoredError`, `ResultTextError`, `OptionError`, and the errors of `place`.
  static func file(
    _ options: StoredOptions, at place: (String) throws -> String
  ) throws -> StoredFile {
    guard !options.file.isEmpty else {
      throw OptionError(key: "file", message: "must name a file of detections")
    }
    let paths = try paths(options.file, at: place)
    let key = Key(
      options: options, places: paths.map(\.place),
      files: paths.map { try? RegularFile.facts(of: $0.place, links: .followed) })
    return try files.value(of: key) { try StoredFile(options, paths) }
  }

  /// The file, and the results files of a golden that follow the first.
  private static func paths(
    _ file: String, at place: (String) throws -> String
  ) throws -> [(name: String, place: String)] {
    var paths = [(name: file, place: try place(file))]
    let first = ResultChunkText.name(0)
    guard file == first || file.hasSuffix("/\(first)") else { return paths }
    for index in 1..<chunksMax {
      let name = String(file.dropLast(first.count)) + ResultChunkText.name(index)
      let next = try place(name)
      guard FileManager.default.fileExists(atPath: next) else { break }
      paths.append((name, next))
    }
    return paths
  }
}

extension StoredOptions {
  /// Refuses an option that the format does not have, so that no one relies on it.
  fileprivate func refuseUnused(_ format: StoredFormat) throws {
    let isOfRun = format == .golden || format == .lines
    if isOfRun, firstFrame >= 0 {
      throw OptionError(key: "firstFrame", message: "is for MOT and COCO; results name each frame")
    }
    if !isOfRun, !sink.isEmpty {
      throw OptionError(key: "sink", message: "is for results of Retake")
    }
  }
}

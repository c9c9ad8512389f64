import Foundation
import RetakeCore
import RetakeSession

/// A bag with all of its files open, read as one.
package final class Bag {
  let name: String
  /// Of all files; a topic is the same if its name, type and encoding are.
  package private(set) var topics: [BagTopic] = []
  /// Losses that are known before the messages are read.
  private(set) var losses: [String]
  /// Says of the first file that lost its end that it was cut; nil if all end as they should.
  private(set) var cut: String?
  /// Of all files, expanded.
  private(set) var bytes: Int64 = 0

  private struct Part {
    var file: any BagFile
    /// The bag's number of each of the file's topics.
    var numbers: [Int]
  }
  private var parts: [Part] = []

  /// Each file keeps a descriptor.
  private static let openFilesMax = 500
  private static let messageBytesMax = 1 << 30

  /// - Parameters:
  ///   - scratch: A folder for files that must be expanded before they can be read.
  ///   - report: Called with the bytes that were expanded; throws to stop.
  /// - Throws: `BagError`, and the errors of `report`.
  package init(_ files: BagFiles, scratch: String, report: (Int64) throws -> Void = { _ in }) throws
  {
    name = files.name
    losses = files.losses
    guard files.entries.count <= Self.openFilesMax else {
      throw BagError.notBag(
        path: files.entries[0].path,
        cause: "the bag has \(counted(files.entries.count, "file")); at most "
          + "\(Self.openFilesMax) are read")
    }
    var failure: BagError?
    for entry in files.entries {
      do {
        try open(entry, scratch: scratch, report: report)
      } catch let error as BagError where files.entries.count > 1 {
        // The other files are still worth having.
        failure = failure ?? error
        let file = URL(fileURLWithPath: entry.path).lastPathComponent
        losses.append("\(file) is not read: \(error.lossText)")
      }
    }
    if parts.isEmpty, let failure { throw failure }
  }

  private func open(
    _ entry: BagFiles.Entry, scratch: String, report: (Int64) throws -> Void
  ) throws {
    var path = entry.path
    if entry.isCompressed {
      let name = URL(fileURLWithPath: entry.path).deletingPathExtension().lastPathComponent
      path = "\(scratch)/\(parts.count)-\(name)"
      let expansion = FileExpansion(source: entry.path, target: path)
      if let problem = try expansion.run(report: report) {
        losses.append(problem)
        cut = cut ?? problem
      }
    }
    if entry.storage == .sqlite, let whole = try SQLitePages.cut(path) {
      let copy = "\(scratch)/\(parts.count)-whole.db3"
      try FileExpansion(source: path, target: copy).copy(bytes: whole, report: report)
      path = copy
    }
    let file: any BagFile =
      switch entry.storage {
      case .sqlite: try SQLiteBag(path, origin: entry.path)
      case .mcap: try MCAPBag(path, origin: entry.path)
      case .ros1: try ROS1Bag(entry.path)
      case .images(let folder): ImageFolderBag(folder, path: entry.path)
      }
    bytes += file.bytes
    if cut == nil, path != entry.path && !entry.isCompressed || !file.isWhole {
      cut = "\(BagPlace(file: entry.path)) was cut: its end is missing"
    }
    let numbers = file.topics.map { topic in number(of: topic) }
    parts.append(Part(file: file, numbers: numbers))
  }

  private func number(of topic: BagTopic) -> Int {
    if let known = topics.firstIndex(where: { $0.identity == topic.identity }) {
      topics[known].count = topics[known].count.flatMap { sum in topic.count.map { sum + $0 } }
      if topics[known].schema.isEmpty {
        topics[known].schema = topic.schema
        topics[known].schemaEncoding = topic.schemaEncoding
      }
      return known
    }
    topics.append(topic)
    return topics.count - 1
  }

  /// Passes on all messages, file by file, expanded if they are compressed one by one.
  ///
  /// - Parameter report: Called now and then with the bytes that were read so far.
  /// - Throws: The errors of `body` and `report`, and `BagError` for a file that cannot be read.
  package func read(report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    var done: Int64 = 0
    for part in parts {
      try part.file.read(position: { try report(done + $0) }) { item in
        guard case .message(var message) = item else { return try body(item) }
        guard part.numbers.indices.contains(message.topic) else {
          return try body(
            .loss(.damaged(message.place, cause: "its topic is not in the file's summary")))
        }
        message.topic = part.numbers[message.topic]
        try body(try Self.expanded(message))
      }
      done += part.file.bytes
    }
  }

  /// rosbag2's compression of messages leaves no sign but metadata.yaml, which may be missing. The
  /// first bytes of zstd cannot begin a message in CDR.
  private static func expanded(_ message: BagMessage) throws -> BagItem {
    guard message.bytes.starts(with: ZstdStream.magic) else { return .message(message) }
    var message = message
    do {
      message.bytes = try ZstdStream.message(message.bytes, bytesMax: messageBytesMax)
      return .message(message)
    } catch let error as CompressionProblem {
      return .loss(.damaged(message.place, cause: "it cannot be decompressed: \(error.cause)"))
    }
  }
}

/// Expands a compressed file, as rosbag2 writes it with `--compression-mode file`.
struct FileExpansion {
  let source: String
  let target: String

  private static let pieceBytes = 1 << 20
  private static let roomBytes: Int64 = 64 << 20

  /// - Returns: the loss, if the compressed file is damaged; the data before the damage is kept.
  /// - Throws: `BagError`, or the errors of `report`.
  func run(report: (Int64) throws -> Void) throws -> String? {
    let (input, output) = try handles()
    defer { try? input.close() }
    defer { try? output.close() }
    do {
      return try expand(input, to: output, report: report)
    } catch let problem as CompressionProblem {
      return "\(name) cannot be expanded behind its first bytes: \(problem.cause)"
    }
  }

  /// Copies the beginning of the file.
  ///
  /// - Throws: `BagError`, `SessionError.noRoomForCopy`, or the errors of `report`.
  func copy(bytes: Int64, report: (Int64) throws -> Void) throws {
    try SessionBuilder.requireRoom(bytes, at: target)
    let (input, output) = try handles()
    defer { try? input.close() }
    defer { try? output.close() }
    var left = bytes
    while left > 0 {
      let piece = try input.read(upToCount: Int(min(left, Int64(Self.pieceBytes)))) ?? Data()
      guard !piece.isEmpty else { return }
      try output.write(contentsOf: piece)
      left -= Int64(piece.count)
      try report(bytes - left)
    }
  }

  private func handles() throws -> (input: FileHandle, output: FileHandle) {
    let input: FileHandle
    do {
      input = try RegularFile.handle(source, links: .followed)
    } catch let error as RegularFile.Refusal {
      throw BagError.unreadable(path: source, cause: error.causeText)
    }
    guard FileManager.default.createFile(atPath: target, contents: nil),
      let output = FileHandle(forWritingAtPath: target)
    else { throw BagError.unreadable(path: target, cause: POSIXError.last.systemText) }
    return (input, output)
  }

  private var name: String { URL(fileURLWithPath: source).lastPathComponent }

  private func expand(
    _ input: FileHandle, to output: FileHandle, report: (Int64) throws -> Void
  ) throws -> String? {
    let expander = try ZstdStream.Expander()
    var (written, hint): (Int64, Int) = (0, 1)
    var checked: Int64 = -Self.roomBytes
    while let piece = try input.read(upToCount: Self.pieceBytes), !piece.isEmpty {
      hint = try expander.expand(piece) { part in
        // A few bytes may expand to any size, so the disk is asked before each step.
        if written - checked >= Self.roomBytes {
          try SessionBuilder.requireRoom(2 * Self.roomBytes, at: target)
          checked = written
        }
        try output.write(contentsOf: part)
        written += Int64(part.count)
      }
      try report(written)
    }
    return hint == 0 ? nil : "\(name) is cut: its compressed bytes end too early"
  }
}

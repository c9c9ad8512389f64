import Foundation
import RetakeCore

/// Reads a file line by line, with one piece of it in memory.
final class TextLineReader {
  /// Bytes that are read at once.
  private static let pieceBytes = 1 << 20
  /// The most bytes of a line.
  private static let lineBytesMax = 1 << 20

  let file: String
  /// The number of the line that was read last, from 1.
  private(set) var number = 0
  private let handle: FileHandle
  private var piece = Data()
  private var position = 0

  init(_ url: URL) throws {
    file = url.path
    handle = try openToRead(url)
  }

  deinit {
    try? handle.close()
  }

  /// The next line without its line end; `nil` at the end of the file.
  ///
  /// - Throws: `GoldenError.line` for a last line without a line end, or for a line that is too
  ///   long.
  func next() throws -> Data? {
    while true {
      // A slice of Data keeps the indices of its base, so positions count from `startIndex`.
      if let end = piece[(piece.startIndex + position)...].firstIndex(of: 0x0a) {
        let line = piece[(piece.startIndex + position)..<end]
        position = end - piece.startIndex + 1
        number += 1
        return line
      }
      piece = Data(piece.dropFirst(position))
      position = 0
      let more = try io(URL(filePath: file), "read the file") {
        try handle.read(upToCount: Self.pieceBytes)
      }
      // The bound keeps a file without line ends from being read into memory as one line.
      if let more, !more.isEmpty, piece.count <= Self.lineBytesMax {
        piece += more
      } else if piece.isEmpty {
        return nil
      } else {
        number += 1
        throw damaged(piece, "a complete line that ends in LF")
      }
    }
  }

  func damaged(_ line: Data, _ expected: String) -> GoldenError {
    // At most 80 bytes: a damaged line may be as long as the bound, and messages are printed.
    .line(
      file: file, line: number, text: String(decoding: line.prefix(80), as: UTF8.self),
      expected: expected)
  }
}

/// Whether two files have the same bytes.
func areEqual(_ left: URL, _ right: URL) throws -> Bool {
  let (mine, theirs) = (try openToRead(left), try openToRead(right))
  defer {
    try? mine.close()
    try? theirs.close()
  }
  while true {
    let a = try io(left, "read the file") { try mine.read(upToCount: 1 << 20) ?? Data() }
    let b = try io(right, "read the file") { try theirs.read(upToCount: 1 << 20) ?? Data() }
    if a != b { return false }
    if a.isEmpty { return true }
  }
}

private func openToRead(_ url: URL) throws -> FileHandle {
  do {
    return try RegularFile.handle(url.path)
  } catch let error as RegularFile.Refusal {
    throw GoldenError(error, file: url.path)
  }
}

/// The largest file of a golden that is read into memory.
private let fileBytesMax: Int64 = 512 << 20

/// Reads a file into memory; throws `fileMissing` if it does not exist.
func contents(of url: URL, bytesMax: Int64 = fileBytesMax) throws -> Data {
  do {
    return try RegularFile.contents(url.path, bytesMax: bytesMax)
  } catch let error as RegularFile.Refusal {
    throw GoldenError(error, file: url.path)
  }
}

extension GoldenError {
  fileprivate init(_ refusal: RegularFile.Refusal, file: String) {
    switch refusal {
    case .missing: self = .fileMissing(file: file)
    default: self = .io(path: file, action: "read the file", cause: refusal.description)
    }
  }
}

/// Runs a file operation and names the file if it fails.
func io<Value>(
  _ url: URL, _ action: String, _ body: () throws -> Value
) throws -> Value {
  do {
    return try body()
  } catch {
    throw GoldenError.io(path: url.path, action: action, cause: error.systemText)
  }
}

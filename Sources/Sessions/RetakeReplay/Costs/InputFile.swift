import Foundation
import RetakeCore

/// A file that is read front to back.
struct InputFile {
  /// Why the file cannot be read, in words.
  struct Failure: Error {
    var cause: String
  }

  private let handle: FileHandle

  init(_ path: String) throws {
    do {
      // A person has named this file, so a link is followed as with any other program.
      handle = try RegularFile.handle(path, links: .followed)
    } catch let error as RegularFile.Refusal {
      throw Failure(cause: error.description)
    }
  }

  /// The next bytes, at most `count` of them; empty at the end.
  func read(upTo count: Int) throws -> [UInt8] {
    do {
      return [UInt8](try handle.read(upToCount: count) ?? Data())
    } catch {
      throw Failure(cause: error.systemText)
    }
  }

  func close() { try? handle.close() }
}
